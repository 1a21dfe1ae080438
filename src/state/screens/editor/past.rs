//! The past of one field: its values along the draft's undo steps. Owns the walk through them; each step of it is a change like any other,
//! so that undo of the whole draft takes it back too.

use serde_json::Value;

use super::Editor;
use crate::nodegroups::path::FieldPath;

/// A walk through the values of one field.
#[derive(Debug)]
pub struct Walk {
    path: FieldPath,
    values: Vec<Option<Value>>,
    at: usize,
}

impl Editor {
    /// One value back in a field's past (or forth again); false when there is none.
    pub fn walk(&mut self, path: &FieldPath, back: bool) -> bool {
        let mut walk = match self.walk.take() {
            Some(w) if w.path == *path => w,
            _ => self.begin(path),
        };
        let next = if back { walk.at.checked_sub(1) } else { Some(walk.at + 1) };
        let Some((at, value)) = next.and_then(|n| walk.values.get(n).map(|v| (n, v.clone()))) else {
            self.walk = Some(walk);
            return false;
        };
        walk.at = at;
        let mut to = self.mine.clone();
        path.set(&mut to, value);
        self.change(to);
        self.walk = Some(walk);
        true
    }

    fn begin(&self, path: &FieldPath) -> Walk {
        let states = self.undo.iter().map(|(_, mine)| mine).chain([&self.mine]);
        let mut values: Vec<Option<Value>> = states.map(|m| path.get(m).cloned()).collect();
        values.dedup();
        Walk { path: path.clone(), at: values.len().saturating_sub(1), values }
    }
}
