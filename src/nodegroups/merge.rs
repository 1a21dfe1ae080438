//! Three-way merge of `nodeGroups`, field by field. Owns which edits are independent and which conflict, and the choice between them.
//! Must not write; where nobody has chosen, the live value stands, so that an unresolved merge can't overwrite a colleague.

use serde::Serialize;
use serde_json::Value;

use super::{
    Groups,
    path::{FieldPath, same},
};

/// One field (or whole pool) that both sides changed, differently. `None` is absence: the pool or field was removed, or not there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conflict {
    /// Where.
    pub path: FieldPath,
    /// Value both started from.
    pub base: Option<Value>,
    /// My value.
    pub mine: Option<Value>,
    /// The live value.
    pub theirs: Option<Value>,
    /// What was chosen; `None` while open.
    #[serde(skip)]
    pub choice: Option<Choice>,
}

/// How a conflict is resolved.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// My value.
    Mine,
    /// The live value.
    Theirs,
    /// The value both started from.
    Base,
    /// Another value; `None` removes the field.
    Typed(Option<Value>),
}

/// A merge, possibly with conflicts still open.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    merged: Groups,
    conflicts: Vec<Conflict>,
}

impl Merge {
    /// Merges my map with the live one, both grown from `base`.
    pub fn new(base: &Groups, mine: &Groups, theirs: &Groups) -> Merge {
        let mut conflicts = Vec::new();
        let merged = level(&FieldPath::default(), Some(base), (mine, theirs), &mut conflicts);
        Merge { merged, conflicts }
    }

    /// All conflicts, also chosen ones, in the order of the live map.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    /// How many nobody has decided.
    pub fn open(&self) -> usize {
        self.conflicts.iter().filter(|c| c.choice.is_none()).count()
    }

    /// Decides one conflict by its number; a later choice replaces an earlier one. `false` if there is no such number.
    pub fn choose(&mut self, number: usize, choice: Choice) -> bool {
        let Some(conflict) = self.conflicts.get_mut(number) else { return false };
        let value = match &choice {
            Choice::Mine => conflict.mine.clone(),
            Choice::Theirs => conflict.theirs.clone(),
            Choice::Base => conflict.base.clone(),
            Choice::Typed(value) => value.clone(),
        };
        conflict.path.set(&mut self.merged, value);
        conflict.choice = Some(choice);
        true
    }

    /// The merged map as it stands, live values where a conflict is open: for showing, not for writing.
    pub fn preview(&self) -> &Groups {
        &self.merged
    }

    /// The merged map once every conflict is decided.
    pub fn result(&self) -> Option<&Groups> {
        (self.open() == 0).then_some(&self.merged)
    }
}

/// One level of members. Keys come in the live order, mine after them.
fn level(at: &FieldPath, base: Option<&Groups>, (mine, theirs): (&Groups, &Groups), conflicts: &mut Vec<Conflict>) -> Groups {
    let mut out = Groups::new();
    for key in theirs.keys().chain(mine.keys().filter(|k| !theirs.contains_key(*k))) {
        let old = base.and_then(|b| b.get(key));
        if let Some(value) = field(at.child(key), old, (mine.get(key), theirs.get(key)), conflicts) {
            out.insert(key.clone(), value);
        }
    }
    out
}

fn field(
    path: FieldPath,
    base: Option<&Value>,
    (mine, theirs): (Option<&Value>, Option<&Value>),
    conflicts: &mut Vec<Conflict>,
) -> Option<Value> {
    if equal(mine, theirs) || equal(mine, base) {
        return theirs.cloned();
    }
    if equal(theirs, base) {
        return mine.cloned();
    }
    if let (true, Some(Value::Object(m)), Some(Value::Object(t))) = (descends(&path, base), mine, theirs) {
        return Some(Value::Object(level(&path, base.and_then(Value::as_object), (m, t), conflicts)));
    }
    conflicts.push(Conflict { path, base: base.cloned(), mine: mine.cloned(), theirs: theirs.cloned(), choice: None });
    theirs.cloned()
}

/// Two people's edits below a struct are independent. Two different new pools of one name are not: a mixture would be nobody's pool.
fn descends(path: &FieldPath, base: Option<&Value>) -> bool {
    path.splits() && (path.keys().len() != 1 || base.is_some_and(Value::is_object))
}

fn equal(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
pub(crate) mod tests;
