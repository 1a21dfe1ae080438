//! Instance types: the bundled stock list, and what this cluster offers. Owns names and sizes; must not judge a pool.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

/// The stock list of common-instancetypes, in a table: name, vCPU, memory, dedicated CPU.
const CSV: &str = include_str!("../../assets/instance-types.csv");

/// One stock instance type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceType {
    /// Name: `u1.medium`.
    pub name: &'static str,
    /// Guest CPUs.
    pub vcpu: u32,
    /// Guest memory as the platform spells it: `4Gi`.
    pub memory: &'static str,
    /// CPUs are pinned.
    pub dedicated: bool,
}

static STOCK: LazyLock<BTreeMap<&'static str, InstanceType>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let mut cells = line.split(',').map(str::trim);
        let (name, vcpu, memory, dedicated) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
        Some((name, InstanceType { name, vcpu: vcpu.parse().ok()?, memory, dedicated: dedicated == "true" }))
    };
    CSV.lines().skip(1).filter_map(row).collect()
});

/// A stock type by name.
pub fn stock(name: &str) -> Option<&'static InstanceType> {
    STOCK.get(name)
}

/// All stock types, by name.
pub fn all() -> impl Iterator<Item = &'static InstanceType> {
    STOCK.values()
}

/// What counts as offered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Offer {
    /// The stock list: an assumption, used without a cluster.
    #[default]
    Bundled,
    /// The names this cluster offers. A stock name keeps its stock size (an assumption), any other has none that a tenant may read.
    Live(BTreeSet<String>),
}

impl Offer {
    /// True when names are an assumption.
    pub fn assumed(&self) -> bool {
        matches!(self, Offer::Bundled)
    }

    /// Whether the type exists.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Offer::Bundled => STOCK.contains_key(name),
            Offer::Live(names) => names.contains(name),
        }
    }

    /// The offered names, sorted.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Offer::Bundled => STOCK.keys().copied().collect(),
            Offer::Live(names) => names.iter().map(String::as_str).collect(),
        }
    }

    /// CPU and memory of an offered type, where known. Always the stock size: `Live` brings no sizes.
    pub fn size(&self, name: &str) -> Option<(u32, &'static str)> {
        stock(name).filter(|_| self.has(name)).map(|t| (t.vcpu, t.memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stock_list_is_complete() {
        assert_eq!(all().count(), 69);
        assert_eq!(stock("u1.medium").map(|t| (t.vcpu, t.memory, t.dedicated)), Some((1, "4Gi", false)));
        let live = Offer::Live(["own.small".to_string()].into());
        assert!(live.has("own.small") && live.size("own.small").is_none() && !live.has("u1.medium"));
    }
}
