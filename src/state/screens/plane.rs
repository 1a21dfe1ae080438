//! One plane: its tabs and where one is in each. Must not judge.

use std::sync::Arc;

use super::{machines, objects, overview};
use crate::{
    keys::Context,
    model::Time,
    state::{
        doc::{Doc, Role, Scroll, span},
        geometry::Geometry,
        store::Sphere,
        table::{Sort, Table},
        timeline,
    },
};

/// A tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum Tab {
    #[default]
    Overview,
    Pools,
    Machines,
    Events,
    Timeline,
    Yaml,
}

impl Tab {
    /// All, in order.
    pub const ALL: [Tab; 6] = [Tab::Overview, Tab::Pools, Tab::Machines, Tab::Events, Tab::Timeline, Tab::Yaml];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Tab::Overview => "Overview",
            Tab::Pools => "Pools",
            Tab::Machines => "Machines",
            Tab::Events => "Events",
            Tab::Timeline => "Timeline",
            Tab::Yaml => "YAML",
        }
    }

    /// The tab beside this one, going round.
    pub fn beside(self, forward: bool) -> Tab {
        let at = Tab::ALL.iter().position(|t| *t == self).unwrap_or(0);
        let next = (at + if forward { 1 } else { Tab::ALL.len() - 1 }) % Tab::ALL.len();
        Tab::ALL.get(next).copied().unwrap_or_default()
    }
}

/// The screen of one plane.
#[derive(Debug)]
pub struct PlaneScreen {
    /// Its namespace.
    pub namespace: Arc<str>,
    /// The tab shown.
    pub tab: Tab,
    /// All evidence is unfolded.
    pub why: bool,
    /// The overview's text.
    pub doc: Doc,
    /// Where one is in it.
    pub scroll: Scroll,
    /// The lists of the tabs.
    pub pools: Table,
    /// Machines.
    pub machines: Table,
    /// Events.
    pub events: Table,
    /// Timeline.
    pub timeline: Table,
    /// Objects and YAML.
    pub objects: objects::Objects,
    /// The plane's name, once known.
    pub name: String,
}

impl PlaneScreen {
    /// The screen of a namespace's plane.
    pub fn new(namespace: Arc<str>, why: bool) -> PlaneScreen {
        let first = Sort::default();
        PlaneScreen {
            namespace,
            tab: Tab::default(),
            why,
            doc: Doc::default(),
            scroll: Scroll::default(),
            pools: Table::new(machines::POOL_COLUMNS, first),
            machines: Table::new(machines::MACHINE_COLUMNS, first),
            events: Table::new(machines::EVENT_COLUMNS, first),
            timeline: Table::new(timeline::COLUMNS, first),
            objects: objects::Objects::default(),
            name: String::new(),
        }
    }

    /// The list in front, if the tab shows one.
    pub fn table(&mut self) -> Option<&mut Table> {
        match self.tab {
            Tab::Overview => None,
            Tab::Pools => Some(&mut self.pools),
            Tab::Machines => Some(&mut self.machines),
            Tab::Events => Some(&mut self.events),
            Tab::Timeline => Some(&mut self.timeline),
            Tab::Yaml => self.objects.opened.is_none().then_some(&mut self.objects.table),
        }
    }

    /// The same, for reading.
    pub fn table_ref(&self) -> Option<&Table> {
        match self.tab {
            Tab::Overview => None,
            Tab::Pools => Some(&self.pools),
            Tab::Machines => Some(&self.machines),
            Tab::Events => Some(&self.events),
            Tab::Timeline => Some(&self.timeline),
            Tab::Yaml => self.objects.opened.is_none().then_some(&self.objects.table),
        }
    }

    /// Where keys are pressed.
    pub fn context(&self) -> Context {
        match self.tab {
            Tab::Overview => Context::Overview,
            Tab::Pools => Context::Pools,
            Tab::Machines => Context::Machines,
            Tab::Events => Context::Events,
            Tab::Timeline => Context::Timeline,
            Tab::Yaml if self.objects.opened.is_some() => Context::Yaml,
            Tab::Yaml => Context::Objects,
        }
    }

    /// Makes the tab in front again.
    pub fn refresh(&mut self, sphere: Option<&Sphere>, now: Time, g: Geometry) {
        let ns = self.namespace.clone();
        let plane = sphere.and_then(|s| s.plane(&ns));
        let world = sphere.map(|s| &s.world);
        let of_world = world.map_or(0, |w| w.revision() + 1);
        if let Some(p) = plane {
            self.name = p.name.clone();
        }
        match self.tab {
            Tab::Overview => {
                self.doc = match plane {
                    Some(p) => overview::doc(p, self.why, now, g.width),
                    None => gone(g.width),
                };
                self.scroll.fit(self.doc.lines.len(), g.text());
            }
            Tab::Pools => {
                let revision = sphere.map_or(0, |s| s.revision + 1);
                self.pools.refresh(revision, g.list(), || plane.map(|p| machines::pools(p)).unwrap_or_default());
            }
            Tab::Machines => self.machines.refresh(of_world, g.list(), || world.map(|w| machines::machines(w, &ns)).unwrap_or_default()),
            Tab::Events => self.events.refresh(of_world, g.list(), || world.map(|w| machines::events(w, &ns)).unwrap_or_default()),
            Tab::Timeline => {
                let seen: Vec<_> = sphere.and_then(|s| s.log.get(&ns)).into_iter().flatten().cloned().collect();
                let revision = of_world.saturating_add(sphere.map_or(0, |s| s.revision));
                let told = || world.map(|w| timeline::before(w, &ns)).unwrap_or_default();
                self.timeline.refresh(revision, g.list(), || timeline::rows(&seen, told()));
            }
            Tab::Yaml => {
                self.objects.table.refresh(of_world, g.list(), || world.map(|w| objects::rows(w, &ns)).unwrap_or_default());
                if let Some(o) = &mut self.objects.opened {
                    o.scroll.fit(o.lines().len(), g.list());
                }
            }
        }
    }
}

fn gone(width: u16) -> Doc {
    let mut doc = Doc::new(width);
    doc.blank();
    doc.wrapped(vec![span(Role::Normal, " ")], Role::Strong, "Nothing is known of this plane now");
    doc.blank();
    doc.wrapped(vec![span(Role::Normal, " ")], Role::Normal, "It was deleted, or nothing of it has been read yet.");
    doc.wrapped(vec![span(Role::Accent, " → ")], Role::Normal, "`esc` goes back to the list; the timeline keeps what was seen");
    doc
}
