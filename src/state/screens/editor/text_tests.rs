//! The draft as a text, the past of one field, and the keys around them.

use serde_json::{Value, json};

use super::{Console, start};
use crate::state::{Effect, Msg, screens::editor::Stage};

impl Console {
    /// The text that the person's own editor was given last.
    fn given(&self) -> String {
        self.effects.iter().rev().find_map(|e| if let Effect::EditText { text, .. } = e { Some(text.clone()) } else { None }).unwrap()
    }

    /// What that editor leaves behind.
    fn leaves(&mut self, text: &str) {
        let request = self.state.counters.request;
        self.send(Msg::Edited { request, result: Ok(text.as_bytes().to_vec()) });
    }

    fn saved(&self, ending: &str) -> Option<Option<Vec<u8>>> {
        self.effects.iter().rev().find_map(|e| match e {
            Effect::SaveDraft(name, b) if name.ends_with(ending) => Some(b.clone()),
            _ => None,
        })
    }
}

#[test]
fn the_draft_as_a_text_comes_back_whole_and_is_one_step() {
    let mut c = Console::new(&start(), false);
    c.keys("E");
    let given = c.given();
    assert!(given.starts_with("# ") && given.contains("\nnodeGroups:\n  web:\n"), "{given}");
    c.leaves(&given);
    assert!(c.notice().contains("nothing was changed"), "{}", c.notice());
    c.keys("E");
    c.leaves(&format!("{given}# a remark\n"));
    assert_eq!(Value::Object(c.editor().mine.clone()), start(), "unknown fields and all");
    c.keys("E");
    c.leaves(&given.replace("maxReplicas: 3", "maxReplicas: 4"));
    assert_eq!(c.editor().mine["web"]["maxReplicas"], 4);
    assert!(c.saved(".json").flatten().is_some(), "kept on disk like any change");
    c.keys("u");
    assert_eq!(Value::Object(c.editor().mine.clone()), start());
}

#[test]
fn a_text_that_can_not_be_taken_is_kept_with_what_is_wrong_on_top() {
    let mut c = Console::new(&start(), false);
    for (bad, why) in [
        ("nodeGroups:\n  web: {a: 1, a: 2}\n", "Y-DUPKEY"),
        ("nodeGroups: {web: [\n", "Y-SYNTAX"),
        ("nodeGroups: 7\n", "has to be a map"),
        ("kind: ComputePlane\nspec: {}\n", "no nodeGroups"),
        ("nodeGroups: {}\n---\nnodeGroups: {}\n", "one document"),
        ("\t- \u{0}", "Y-"),
    ] {
        c.keys("E");
        c.leaves(bad);
        assert_eq!(Value::Object(c.editor().mine.clone()), start(), "{bad}");
        assert!(c.notice().contains("not taken") && c.notice().contains(why), "{bad}: {}", c.notice());
        c.keys("E");
        let again = c.given();
        assert!(again.starts_with("#! not taken: ") && again.ends_with(bad), "{again}");
        assert_eq!(again.matches("#! not taken").count(), again.lines().filter(|l| l.starts_with("#!")).count());
        c.leaves("");
        assert_eq!(c.saved(".yaml").flatten().map(|b| String::from_utf8(b).unwrap()), Some(again), "and on disk");
    }
    // A later console opens it again; a text that is taken ends it.
    let kept = c.saved(".yaml").flatten().unwrap();
    let mut later = Console::new(&start(), false);
    let name = later.editor().text_file();
    later.send(Msg::DraftLoaded { name, result: Ok(Some(kept.clone())) });
    assert!(later.notice().contains("`E` opens it"));
    later.keys("E");
    assert_eq!(later.given().as_bytes(), kept);
    later.leaves("nodeGroups: {}");
    assert_eq!(later.saved(".yaml"), Some(None), "nothing is left to keep");
    assert!(later.editor().mine.is_empty());
    // An answer that nobody waits for changes nothing.
    later.leaves("nodeGroups: {x: {}}");
    assert!(later.editor().mine.is_empty());
}

#[test]
fn the_draft_is_shown_as_yaml() {
    let mut c = Console::new(&start(), false);
    c.keys("v");
    assert!(c.text().contains(" nodeGroups:\n   web:\n     minReplicas: 1\n") && c.text().contains("       b: 1\n"), "{}", c.text());
    c.keys("j pagedown esc");
    assert!(matches!(c.editor().stage, Stage::Form));
}

#[test]
fn one_field_goes_back_and_forth_and_the_others_stay() {
    let mut c = Console::new(&start(), false);
    c.keys("tab + j + + k +");
    let web = |c: &Console| (c.editor().mine["web"]["minReplicas"].clone(), c.editor().mine["web"]["maxReplicas"].clone());
    assert_eq!(web(&c), (json!(3), json!(5)));
    c.keys("z");
    assert_eq!(web(&c), (json!(2), json!(5)));
    c.keys("z");
    assert_eq!(web(&c), (json!(1), json!(5)));
    c.keys("z");
    assert_eq!(web(&c), (json!(1), json!(5)), "that was the first");
    c.keys("Z Z Z");
    assert_eq!(web(&c), (json!(3), json!(5)));
    c.keys("u u u u u u u u");
    assert_eq!(Value::Object(c.editor().mine.clone()), start(), "each step of the walk is a step of the draft");
}

#[test]
fn the_old_spelling_is_one_key_away() {
    let mut c = Console::new(&start(), false);
    c.keys("tab j j j enter ctrl-u");
    c.types("20480Mi");
    c.keys("enter + K");
    assert_eq!(c.editor().mine["web"]["diskSize"], "20481Mi", "a value that means something else stays");
    c.keys("- K");
    assert_eq!(Value::Object(c.editor().mine.clone()), start());
}

#[test]
fn saving_takes_the_field_that_is_being_typed() {
    let mut c = Console::new(&start(), false);
    c.keys("tab j enter ctrl-u");
    c.types("2");
    c.keys("ctrl-s");
    c.answer_fetch(&start());
    assert!(matches!(c.editor().stage, Stage::Review(_)));
    assert!(c.text().contains("maxReplicas: 3 → 2"), "{}", c.text());
}

#[test]
fn a_review_of_nothing_says_only_that() {
    let mut c = Console::new(&start(), false);
    c.keys("ctrl-s");
    c.answer_fetch(&start());
    assert!(c.text().contains("nothing to write") && !c.text().contains("Patch") && !c.text().contains("Changes"), "{}", c.text());
}

#[test]
fn editing_as_text_gives_up_the_review_that_was_asked_for() {
    let mut c = Console::new(&start(), false);
    c.keys("ctrl-s");
    assert!(matches!(c.editor().stage, Stage::Reading));
    c.keys("E");
    c.leaves("");
    assert!(matches!(c.editor().stage, Stage::Form), "nobody waits for an answer that would not be taken");
}
