//! Help for where one is, generated from the registry of actions.

use crate::{
    keys::{Context, Group, Keymap},
    state::doc::{Doc, Role, Scroll, span},
};

/// The help overlay.
#[derive(Debug)]
pub struct Help {
    /// What it is about.
    pub context: Context,
    /// The text.
    pub doc: Doc,
    /// Where one is in it.
    pub scroll: Scroll,
}

impl Help {
    /// Help for a context.
    pub fn new(context: Context) -> Help {
        Help { context, doc: Doc::default(), scroll: Scroll::default() }
    }

    /// Writes it for a width.
    pub fn refresh(&mut self, keymap: &Keymap, width: u16, height: usize) {
        self.doc = text(keymap, self.context, width);
        self.scroll.fit(self.doc.lines.len(), height);
    }
}

/// Every action that has a key here, by group.
pub fn text(keymap: &Keymap, context: Context, width: u16) -> Doc {
    let mut doc = Doc::new(width);
    doc.line(vec![span(Role::Strong, format!(" Keys: {}", context.name()))]);
    let available = keymap.available(context);
    for group in Group::ALL {
        let rows: Vec<_> = available.iter().filter(|i| i.group == group).collect();
        if rows.is_empty() {
            continue;
        }
        doc.blank();
        doc.line(vec![span(Role::Heading, format!(" {}", group.title()))]);
        for info in rows {
            let keys: Vec<String> = keymap.chords(context, info.action).iter().map(ToString::to_string).collect();
            doc.wrapped(vec![span(Role::Key, format!("   {:<20} ", keys.join(" ")))], Role::Normal, info.doc);
        }
    }
    doc.blank();
    doc.wrapped(
        vec![span(Role::Normal, " ")],
        Role::Dim,
        "`esc` closes this. Keys can be changed in the settings under `keys:`, by the names in the palette.",
    );
    doc
}
