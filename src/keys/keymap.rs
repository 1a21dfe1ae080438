//! Which chord means what where: the defaults of the table, changed by the user's settings. Owns look-up and the report of what can't be used;
//! must not know where settings come from.

use std::collections::BTreeMap;

use super::{ACTIONS, Action, ActionInfo, Chord, Context};

/// Something in the user's key settings that can't be used. The rest is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyProblem {
    /// No action has this name; with the nearest one that exists.
    UnknownAction(String, Option<&'static str>),
    /// Not a chord: action and why.
    BadChord(String, String),
    /// Two actions want one chord in one context: chord, context, who keeps it, who loses it.
    Conflict(Chord, Context, Action, Action),
    /// `ctrl-c` always quits.
    Reserved(String),
}

impl KeyProblem {
    /// One line, naming setting, what was found and what is allowed.
    pub fn text(&self) -> String {
        match self {
            KeyProblem::UnknownAction(name, near) => {
                let near = near.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
                format!("keys.{name}: no such action{near}")
            }
            KeyProblem::BadChord(action, why) => format!("keys.{action}: {why}"),
            KeyProblem::Conflict(chord, context, kept, lost) => {
                let (kept, lost) = (id(*kept), id(*lost));
                format!("keys: {chord} ({}) is wanted by {kept} and {lost}; {kept} keeps it", context.name())
            }
            KeyProblem::Reserved(action) => format!("keys.{action}: ctrl-c always leaves and can't mean anything else"),
        }
    }
}

fn id(action: Action) -> &'static str {
    action.info().map_or("", |i| i.id)
}

/// Bindings in force.
#[derive(Debug, Clone, Default)]
pub struct Keymap {
    bindings: BTreeMap<(Context, Chord), Action>,
    /// The footers, made once: they are painted with every frame.
    footers: BTreeMap<Context, Vec<(String, &'static str)>>,
}

impl Keymap {
    /// The defaults with the user's changes: for each action named, its keys replace the default ones in all its contexts.
    /// An empty list of keys takes the action off the keyboard; the palette still has it.
    pub fn new(overrides: &[(String, Vec<String>)]) -> (Keymap, Vec<KeyProblem>) {
        let (mut wanted, mut problems) = (BTreeMap::<Action, Vec<Chord>>::new(), Vec::new());
        for (name, keys) in overrides {
            match Action::by_id(name) {
                Some(action) => {
                    let chords = chords(name, action, keys, &mut problems);
                    wanted.insert(action, chords);
                }
                None => problems.push(KeyProblem::UnknownAction(name.clone(), nearest(name))),
            }
        }
        let mut map = Keymap::default();
        // The user's own wishes first: a default that stands in their way gives way, and that is said.
        for info in ACTIONS.iter().filter(|i| wanted.contains_key(&i.action)) {
            let chords = wanted.get(&info.action).cloned().unwrap_or_default();
            for (context, _) in info.keys {
                chords.iter().for_each(|c| map.bind(*context, *c, info.action, &mut problems));
            }
        }
        for info in ACTIONS {
            let replaced = wanted.contains_key(&info.action);
            for (context, keys) in info.keys {
                for chord in keys.iter().filter_map(|k| k.parse::<Chord>().ok()) {
                    if !replaced || (info.action == Action::Quit && chord == Chord::ctrl('c')) {
                        map.bind(*context, chord, info.action, &mut problems);
                    }
                }
            }
        }
        map.footers = Context::ALL.iter().map(|c| (*c, map.make_footer(*c))).collect();
        (map, problems)
    }

    fn bind(&mut self, context: Context, chord: Chord, action: Action, problems: &mut Vec<KeyProblem>) {
        match self.bindings.get(&(context, chord)) {
            Some(kept) if *kept != action => problems.push(KeyProblem::Conflict(chord, context, *kept, action)),
            _ => {
                self.bindings.insert((context, chord), action);
            }
        }
    }

    /// What a chord means in a context; a press on a non-Latin layout also counts as its base key.
    pub fn lookup(&self, context: Context, chord: &Chord) -> Option<Action> {
        let as_typed = chord.plain();
        let find = |c: Chord| context.chain().iter().find_map(|ctx| self.bindings.get(&(*ctx, c)).copied());
        find(as_typed).or_else(|| chord.on_base_layout().and_then(find))
    }

    /// The chords that reach an action in a context, in table order of defaults, shortest first.
    pub fn chords(&self, context: Context, action: Action) -> Vec<Chord> {
        let mut found: Vec<Chord> = Vec::new();
        for ctx in context.chain() {
            for ((c, chord), a) in &self.bindings {
                let reachable = c == ctx && *a == action && self.lookup(context, chord) == Some(action);
                if reachable && !found.contains(chord) {
                    found.push(*chord);
                }
            }
        }
        found.sort_by_key(|c| (default_place(action, c), c.to_string().len()));
        found
    }

    /// Actions that can be reached in a context, with their rows, in table order.
    pub fn available(&self, context: Context) -> Vec<&'static ActionInfo> {
        ACTIONS.iter().filter(|i| !self.chords(context, i.action).is_empty()).collect()
    }

    /// The footer of a context: (key, word), most important first.
    pub fn footer(&self, context: Context) -> &[(String, &'static str)] {
        self.footers.get(&context).map(Vec::as_slice).unwrap_or_default()
    }

    fn make_footer(&self, context: Context) -> Vec<(String, &'static str)> {
        let mut rows: Vec<_> = self.available(context).into_iter().filter(|i| i.footer > 0).collect();
        rows.sort_by_key(|i| i.footer);
        rows.iter().filter_map(|i| Some((self.chords(context, i.action).first()?.to_string(), i.short))).collect()
    }
}

fn default_place(action: Action, chord: &Chord) -> usize {
    let keys = action.info().map(|i| i.keys).unwrap_or_default();
    keys.iter().flat_map(|(_, k)| k.iter()).position(|k| k.parse::<Chord>().ok() == Some(*chord)).unwrap_or(usize::MAX)
}

fn chords(name: &str, action: Action, keys: &[String], problems: &mut Vec<KeyProblem>) -> Vec<Chord> {
    let mut out = Vec::new();
    for key in keys {
        match key.parse::<Chord>() {
            Ok(c) if c == Chord::ctrl('c') && action != Action::Quit => problems.push(KeyProblem::Reserved(name.to_string())),
            Ok(c) => out.push(c),
            Err(why) => problems.push(KeyProblem::BadChord(name.to_string(), why)),
        }
    }
    out
}

fn nearest(name: &str) -> Option<&'static str> {
    let scored = ACTIONS.iter().map(|a| (strsim::jaro_winkler(a.id, name), a.id));
    scored.filter(|(s, _)| *s > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, id)| id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyName;

    fn keys(pairs: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
        pairs.iter().map(|(a, k)| (a.to_string(), k.iter().map(|s| s.to_string()).collect())).collect()
    }

    #[test]
    fn the_table_is_sound() {
        let (map, problems) = Keymap::new(&[]);
        assert_eq!(problems, []);
        for info in ACTIONS {
            assert_eq!(Action::by_id(info.id), Some(info.action), "names are unique");
            assert!(!info.keys.is_empty() && !info.doc.is_empty());
            for (ctx, chords) in info.keys {
                for c in *chords {
                    let chord: Chord = c.parse().unwrap();
                    assert_eq!(map.lookup(*ctx, &chord), Some(info.action), "{} {c}", info.id);
                }
            }
        }
    }

    #[test]
    fn quit_help_and_back_are_reachable_everywhere() {
        let (map, _) = Keymap::new(&keys(&[("quit", &["Q"])]));
        for ctx in Context::ALL {
            assert_eq!(map.lookup(*ctx, &Chord::ctrl('c')), Some(Action::Quit), "{ctx:?}");
            assert_eq!(map.lookup(*ctx, &Chord::key(KeyName::F(1))), Some(Action::Help), "{ctx:?}");
            assert_eq!(map.lookup(*ctx, &Chord::key(KeyName::Esc)), Some(Action::Back), "{ctx:?}");
        }
        assert_eq!(map.lookup(Context::Planes, &Chord::char('q')), None);
        assert_eq!(map.lookup(Context::Planes, &Chord::char('Q')), Some(Action::Quit));
    }

    #[test]
    fn overrides_win_and_trouble_is_told() {
        let (map, problems) = Keymap::new(&keys(&[("down", &["s"]), ("dwon", &["x"]), ("up", &["hello", "ctrl-c"])]));
        assert_eq!(map.lookup(Context::Planes, &Chord::char('s')), Some(Action::Down));
        assert_eq!(map.lookup(Context::Planes, &Chord::char('j')), None);
        let texts: Vec<String> = problems.iter().map(KeyProblem::text).collect();
        let all = texts.join("\n");
        assert!(all.contains("dwon: no such action; did you mean down?"), "{all}");
        assert!(all.contains("\"hello\" is no key"), "{all}");
        assert!(all.contains("s (lists) is wanted by down and sort; down keeps it"), "{all}");
        assert!(all.contains("ctrl-c always leaves"), "{all}");
    }

    #[test]
    fn special_contexts_shadow_general_ones() {
        let (map, _) = Keymap::new(&[]);
        assert_eq!(map.lookup(Context::Yaml, &Chord::char('n')), Some(Action::FindNext));
        assert_eq!(map.lookup(Context::Pools, &Chord::char('n')), Some(Action::Namespaces));
        assert_eq!(map.lookup(Context::Field, &Chord::char('q')), None, "letters are text there");
    }

    #[test]
    fn non_latin_layouts_use_the_base_key() {
        let (map, _) = Keymap::new(&[]);
        assert_eq!(map.lookup(Context::Planes, &Chord::char('й').with_base(Some('q'))), Some(Action::Quit));
    }
}
