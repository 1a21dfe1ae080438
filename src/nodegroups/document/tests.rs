//! Tests of reading documents: every way to give one, every way to get it wrong, with line and column.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn ids(bytes: &[u8]) -> Vec<Vec<&'static str>> {
    let of = |d: &Document| match &d.body {
        Body::Unreadable(p) => p.iter().map(|p| p.id).collect(),
        Body::Values(_) => vec![],
    };
    documents("t", bytes).iter().map(of).collect()
}

fn groups(bytes: &[u8]) -> Value {
    match documents("t", bytes).remove(0).body {
        Body::Values(v) => v.node_groups.unwrap_or_default(),
        b => panic!("{b:?}"),
    }
}

fn problem_of(bytes: &[u8]) -> TextProblem {
    match documents("t", bytes).remove(0).body {
        Body::Unreadable(mut p) => p.remove(0),
        b => panic!("{b:?}"),
    }
}

const WEB: &str = "web: {minReplicas: 1, instanceType: u1.medium}";

#[test]
fn every_way_to_give_groups_gives_the_same() {
    let want = json!({"web": {"minReplicas": 1, "instanceType": "u1.medium"}});
    let spec = format!(
        "apiVersion: apps.cozystack.io/v1alpha1\nkind: ComputePlane\nmetadata: {{name: computeplane}}\nspec:\n  nodeGroups:\n    {WEB}\n"
    );
    for text in [
        WEB.to_string(),
        format!("\u{feff}{WEB}\r\n"),
        format!("nodeGroups:\n  {WEB}\nother: 1\n"),
        spec.clone(),
        format!("# c\n---\n{spec}...\n"),
        format!("%YAML 1.1\n---\n{WEB}\n"),
        json!({"nodeGroups": want}).to_string(),
        json!({"kind": "List", "apiVersion": "v1", "items": [{"kind": "ComputePlane", "spec": {"nodeGroups": want}}]}).to_string(),
        json!([{"nodeGroups": want}]).to_string(),
        "{\n\t\"web\": {\"minReplicas\": 1, \"instanceType\": \"u1\\u002emedium\"}\n}".to_string(),
        "web: &w {minReplicas: 1}\nold: {<<: *w, instanceType: u1.medium}".to_string(),
    ] {
        let got = groups(text.as_bytes());
        if got.get("old").is_some() {
            assert_eq!(got["old"]["minReplicas"], 1, "{text}");
        } else {
            assert_eq!(got, want, "{text}");
        }
    }
}

#[test]
fn a_bad_document_hides_no_other() {
    let text = format!("{WEB}\n---\na: [\n---\n{WEB}\n---\na: 1\na: 2\n---\n\tx: 1\n");
    assert_eq!(ids(text.as_bytes()), vec![vec![], vec!["Y-SYNTAX"], vec![], vec!["Y-DUPKEY"], vec!["Y-SYNTAX"]]);
    let lines = format!("{}\nnot json: [\n{}\n{{\"a\":1,\"a\":2}}\n", json!({"nodeGroups": {}}), json!({"a": {}}));
    assert_eq!(ids(lines.as_bytes()), vec![vec![], vec!["Y-SYNTAX"], vec![], vec!["Y-DUPKEY"]]);
    assert_eq!(documents("f", lines.as_bytes())[1].source, "f#2");
}

#[test]
fn bad_text_is_named_with_line_and_column() {
    for (text, id, line) in [
        (&b"a: 1\nb: [1\n"[..], "Y-SYNTAX", 3),
        (b"a: 1\nb: x\xff\n", "Y-SYNTAX", 2),
        (b"a:\n  x: 1\n  y: \x07\n", "Y-SYNTAX", 3),
        (b"web: {a: 1}\nweb: {a: 1}\n", "Y-DUPKEY", 2),
        (b"{\n \"a\": 1,\n \"a\": 2}", "Y-DUPKEY", 3),
        (b"~: {a: 1}\n", "Y-KEY", 1),
        (b"? [a]\n: 1\n", "Y-KEY", 1),
        (b"x: 1\n---\n\n{\"a\": ]\n", "Y-SYNTAX", 4),
    ] {
        let docs = documents("t", text);
        let Body::Unreadable(p) = &docs.last().unwrap().body else { panic!("{}", String::from_utf8_lossy(text)) };
        assert_eq!(p[0].id, id, "{}", String::from_utf8_lossy(text));
        let near = p[0].line.is_some_and(|l| l.abs_diff(line) <= 1);
        assert!(near && p[0].column.is_some(), "{:?} for {}", p[0], String::from_utf8_lossy(text));
    }
}

#[test]
fn other_shapes_are_named_honestly() {
    for text in [
        "",
        "\n# only a comment\n",
        "---\n---\n",
        "5",
        "hello",
        "[]",
        "[1]",
        "kind: Deployment\nspec: {}",
        "kind: ComputePlane\nspec: 3",
        "kind: List\nitems: []",
    ] {
        assert_eq!(problem_of(text.as_bytes()).id, "Y-SHAPE", "{text:?}");
    }
    assert_eq!(groups(b"null"), Value::Null);
    assert_eq!(groups(b"nodeGroups: []"), json!([]));
}

#[test]
fn scalars_are_read_as_kubectl_reads_them() {
    assert_eq!(
        groups(b"web: {a: 0644, b: yes, c: 1_000, d: 0x1F, e: \"0644\", f: 'on', g: 1.5}"),
        json!({"web": {
        "a": 420, "b": true, "c": 1000, "d": 31, "e": "0644", "f": "on", "g": 1.5}})
    );
    assert_eq!(groups(b"on: {}\n1.5: {}\n7: {}\n1_000: {}\n"), json!({"true": {}, "1.5": {}, "7": {}, "1000": {}}));
    let notes = &documents("t", b"a: 1\nweb: {b: yes}")[0].notes;
    assert_eq!((notes[0].id, notes[0].line, notes[0].path.as_str()), ("G-YAML11", Some(2), "nodeGroups.web.b"));
}

#[test]
fn hostile_text_is_refused_and_comes_to_an_end() {
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n";
    for text in
        [bomb.to_string(), "[".repeat(100_000), "{a: ".repeat(50_000), "- ".repeat(20_000), "x".repeat(MAX_BYTES + 1), "? ".repeat(5_000)]
    {
        assert_eq!(problem_of(text.as_bytes()).id, "Y-SYNTAX", "{}", &text[..20]);
    }
}

proptest! {
    #[test]
    fn any_bytes_give_documents(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(!documents("t", &bytes).is_empty());
    }

    #[test]
    fn any_yaml_like_text_gives_documents(text in "[-a:{}\\[\\]&*?!|>'\"%@ \n\t,#0-9~]{0,120}") {
        prop_assert!(!documents("t", text.as_bytes()).is_empty());
    }
}
