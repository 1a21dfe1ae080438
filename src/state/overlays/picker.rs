//! A list to choose from with a text field above it: contexts, namespaces (any subset, any name typed), and the palette over everything.
//! Owns matching and marks; must not do what was chosen.

use std::collections::BTreeSet;

use crate::{
    keys::{Action, Chord},
    model::text,
    state::{cursor::Cursor, field::TextField, filter::score},
};

/// Longest name of a namespace (a DNS label).
const LABEL: usize = 63;

/// What a picker is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Purpose {
    Contexts,
    Namespaces,
    Palette,
    InstanceTypes,
}

impl Purpose {
    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Purpose::Contexts => "Cluster",
            Purpose::Namespaces => "Namespaces",
            Purpose::Palette => "Go to or do",
            Purpose::InstanceTypes => "Instance type",
        }
    }
}

/// What an entry stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Choice {
    Action(Action),
    Plane(String),
    Namespace(String),
    AllNamespaces,
    Context(String),
    InstanceType(String),
}

/// One entry, safe to paint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it stands for.
    pub choice: Choice,
    /// The words.
    pub label: String,
    /// More about it, dim.
    pub hint: String,
}

impl Item {
    /// An entry.
    pub fn new(choice: Choice, label: impl AsRef<str>, hint: impl AsRef<str>) -> Item {
        Item { choice, label: text::line(label.as_ref()), hint: text::line(hint.as_ref()) }
    }
}

/// A list to choose from.
#[derive(Debug, Clone)]
pub struct Picker {
    /// What for.
    pub purpose: Purpose,
    /// What is typed.
    pub field: TextField,
    /// Entries that fit, best first.
    pub shown: Vec<Item>,
    /// Marked entries (namespaces only).
    pub marked: BTreeSet<Choice>,
    /// Selection.
    pub cursor: Cursor,
    /// Lines on screen.
    pub height: usize,
    items: Vec<Item>,
    before: BTreeSet<Choice>,
}

impl Picker {
    /// A picker over entries; `marked` are chosen already.
    pub fn new(purpose: Purpose, items: Vec<Item>, marked: BTreeSet<Choice>) -> Picker {
        let mut picker = Picker {
            purpose,
            field: TextField::default(),
            shown: Vec::new(),
            before: marked.clone(),
            marked,
            cursor: Cursor::default(),
            height: 1,
            items,
        };
        picker.find();
        picker
    }

    /// The selected entry.
    pub fn selected(&self) -> Option<&Item> {
        self.shown.get(self.cursor.index())
    }

    /// A key for the field.
    pub fn press(&mut self, chord: &Chord) {
        if self.field.press(chord) {
            self.find();
            self.top();
        }
    }

    /// Text pasted into the field.
    pub fn paste(&mut self, s: &str) {
        self.field.insert(s);
        self.find();
        self.top();
    }

    /// Moves the cursor.
    pub fn go(&mut self, by: isize) {
        let keys: Vec<String> = self.shown.iter().map(key).collect();
        self.cursor.go(by, keys.len(), self.height, |i| keys.get(i).cloned());
    }

    /// Marks or unmarks the selected entry. The whole cluster and single namespaces exclude each other.
    pub fn toggle(&mut self) {
        let Some(choice) = self.selected().map(|i| i.choice.clone()) else { return };
        if self.purpose != Purpose::Namespaces {
            return;
        }
        if !self.marked.remove(&choice) {
            if choice == Choice::AllNamespaces {
                self.marked.clear();
            } else {
                self.marked.remove(&Choice::AllNamespaces);
            }
            self.marked.insert(choice);
        }
        self.go(1);
    }

    /// What Enter takes: the marks, or the selected entry when nothing was marked by hand or a name was typed.
    pub fn taken(&self) -> Vec<Choice> {
        let selected = self.selected().map(|i| i.choice.clone());
        if self.purpose == Purpose::Namespaces && self.marked != self.before && !self.marked.is_empty() {
            return self.marked.iter().cloned().collect();
        }
        selected.into_iter().collect()
    }

    /// Fits the list to the lines on screen.
    pub fn refresh(&mut self, height: usize) {
        self.height = height.max(1);
        let keys: Vec<String> = self.shown.iter().map(key).collect();
        self.cursor.sync(keys.len(), self.height, |i| keys.get(i).cloned(), |k| keys.iter().position(|x| x == k));
    }

    fn top(&mut self) {
        self.cursor = Cursor::default();
        self.refresh(self.height);
    }

    fn find(&mut self) {
        let wanted = self.field.text().trim().to_string();
        let mut fit: Vec<(u32, &Item)> = match wanted.is_empty() {
            true => self.items.iter().map(|i| (0, i)).collect(),
            false => self.items.iter().filter_map(|i| Some((score(&wanted, &format!("{} {}", i.label, i.hint))?, i))).collect(),
        };
        // Stable: entries of one score stay in their order.
        fit.sort_by_key(|(s, _)| std::cmp::Reverse(*s));
        self.shown = fit.into_iter().map(|(_, i)| i.clone()).collect();
        let known = self.items.iter().any(|i| i.choice == Choice::Namespace(wanted.clone()));
        if self.purpose == Purpose::Namespaces && is_label(&wanted) && !known {
            self.shown.push(Item::new(Choice::Namespace(wanted.clone()), &wanted, "look there, though no list names it"));
        }
        let offered = self.items.iter().any(|i| i.choice == Choice::InstanceType(wanted.clone()));
        if self.purpose == Purpose::InstanceTypes && !wanted.is_empty() && !offered {
            self.shown.push(Item::new(Choice::InstanceType(wanted.clone()), &wanted, "as typed, though it isn't on the list"));
        }
    }
}

fn key(item: &Item) -> String {
    format!("{:?}", item.choice)
}

/// True for what can be a namespace's name.
fn is_label(s: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !s.is_empty() && s.len() <= LABEL && s.chars().all(inner) && !s.starts_with('-') && !s.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<Item> {
        let mut items = vec![Item::new(Choice::AllNamespaces, "all namespaces", "")];
        items.extend(list.iter().map(|n| Item::new(Choice::Namespace(n.to_string()), n, "")));
        items
    }

    fn ns(n: &str) -> Choice {
        Choice::Namespace(n.to_string())
    }

    #[test]
    fn any_subset_or_one_or_a_typed_name() {
        let before = BTreeSet::from([ns("a")]);
        let mut p = Picker::new(Purpose::Namespaces, names(&["a", "b", "c"]), before.clone());
        p.refresh(10);
        p.go(2);
        assert_eq!(p.taken(), [ns("b")], "without a mark, what the cursor is on");
        p.toggle();
        assert_eq!(p.taken(), [ns("a"), ns("b")]);
        let mut p = Picker::new(Purpose::Namespaces, names(&["a"]), before.clone());
        p.paste("tenant-new");
        assert_eq!(p.taken(), [ns("tenant-new")]);
        let mut p = Picker::new(Purpose::Namespaces, names(&["a"]), before.clone());
        p.paste("Not a name");
        assert_eq!(p.taken(), []);
    }

    #[test]
    fn the_whole_cluster_excludes_single_ones() {
        let mut p = Picker::new(Purpose::Namespaces, names(&["a"]), BTreeSet::from([ns("a")]));
        p.refresh(10);
        p.toggle();
        assert_eq!(p.marked, BTreeSet::from([Choice::AllNamespaces]));
        p.toggle();
        assert_eq!(p.marked, BTreeSet::from([ns("a")]));
    }
}
