//! Reading: encodings, lists, broken entries, names, addresses.

use proptest::prelude::*;

use super::*;
use crate::model::ProblemKind as K;

const GOOD: &str = "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: {server: 'https://a.b:6443'}}]\nusers: [{name: u, user: {token: t}}]\n";

fn load(text: impl AsRef<[u8]>) -> Result<Door, Problem> {
    let dir = TempDir::new().unwrap();
    Door::load(&with_file(&dir, text))
}

#[test]
fn files_in_any_usual_encoding_are_read() {
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(GOOD.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let json = serde_json::to_vec(&serde_yaml::from_str::<serde_json::Value>(GOOD).unwrap()).unwrap();
    let crlf = GOOD.replace('\n', "\r\n").into_bytes();
    let unknown = format!("{GOOD}preferences: {{colors: true}}\nextra: [1]\n").into_bytes();
    for bytes in [GOOD.as_bytes().to_vec(), [b"\xef\xbb\xbf", GOOD.as_bytes()].concat(), utf16, json, crlf, unknown] {
        let info = load(&bytes).unwrap().context(None).unwrap().info().clone();
        assert_eq!((info.name.as_str(), info.server.as_str(), info.user.as_str()), ("c", "a.b:6443", "u"));
    }
}

#[test]
fn files_that_are_none_say_file_field_found_and_allowed() {
    let table: [(&[u8], &str, &str); 8] = [
        (b"\xff\xfe\x00\xd8", "is not text", "UTF-8"),
        (b"\x80\x81", "is not text", "UTF-8"),
        (b"a: [", "is not YAML", "kubeconfig in YAML"),
        (b"- a\n- b\n", "found a list", "a mapping"),
        (b"just words", "found text", "a mapping"),
        (b"kind: Secret\napiVersion: v1\n", "kind: found \"Secret\"", "Config"),
        (b"apiVersion: v2\n", "apiVersion: found \"v2\"", "v1"),
        (b"current-context: [a]\n", "current-context: found a list", "text"),
    ];
    for (bytes, found, allowed) in table {
        let p = load(bytes).unwrap_err();
        assert_eq!(p.kind, K::BadInput);
        assert!(p.summary.contains(found) && p.summary.contains("/config: ") && p.hint.contains(allowed), "{p}");
    }
    let p = load(vec![b' '; (4 << 20) + 1]).unwrap_err();
    assert!(p.summary.contains("4 MiB"), "{p}");
}

#[test]
fn nulls_and_emptiness_are_no_errors() {
    for text in [
        "",
        "---\n",
        "null",
        "# only a comment\n",
        "contexts: null\nclusters: null\nusers: null\ncurrent-context: ''\n",
        "contexts: [null]\n",
    ] {
        let door = load(text).unwrap();
        assert!(door.contexts().is_empty());
        let p = door.context(None).unwrap_err();
        assert!(p.summary.contains("no current-context") && p.hint.contains("no contexts"), "{p}");
    }
}

#[test]
fn a_broken_entry_hides_no_good_one() {
    let text = format!(
        "{GOOD}---\n").replace("users: [", "users: [{name: bad, user: {token: 5}}, {name: 7}, {user: {}}, {name: d, user: {exec: {apiVersion: v9, command: x}}}, ")
        .replace("contexts: [", "contexts: [{name: b, context: {cluster: k, user: bad}}, {name: e, context: {cluster: gone, user: u}}, {name: f, context: {cluster: k, user: d}}, {name: g, context: []}, ");
    let door = load(text).unwrap();
    assert_eq!(door.contexts().len(), 5);
    assert!(door.context(Some("c")).is_ok());
    let table = [
        ("b", "users[0].user.token: found a number", "quotes"),
        ("e", "contexts[e].context.cluster: found \"gone\"", "one of: k"),
        ("f", "user.exec.apiVersion: found \"v9\"", "client.authentication.k8s.io/v1"),
        ("g", "contexts[3].context: found a list", "a mapping"),
    ];
    for (name, found, allowed) in table {
        let p = door.context(Some(name)).unwrap_err();
        assert!(p.summary.contains(found) && p.hint.contains(allowed), "{p}");
        let listed = door.contexts().into_iter().find(|c| c.name == name).unwrap();
        assert!(listed.notes.last().unwrap().contains(found), "{:?}", listed.notes);
    }
    assert!(door.notes().iter().any(|n| n.contains("users[1].name: found a number")), "{:?}", door.notes());
}

#[test]
fn an_unknown_context_names_those_that_exist() {
    let p = load(GOOD.replace("current-context: c", "current-context: nope")).unwrap().context(None).unwrap_err();
    assert!(p.summary.contains("current-context") && p.summary.contains("nope") && p.hint.contains("contexts: c"), "{p}");
    let dir = TempDir::new().unwrap();
    let options = Options { context: Some("x".into()), ..with_file(&dir, GOOD) };
    let p = Door::load(&options).unwrap().context(None).unwrap_err();
    assert!(p.summary.contains("--context"), "{p}");
}

#[test]
fn repeated_keys_and_names_are_read_and_said() {
    let door = load(format!("{GOOD}current-context: c\n")).unwrap();
    assert!(door.notes().iter().any(|n| n.contains("current-context stands there twice")), "{:?}", door.notes());
    let twice = GOOD.replace("clusters: [", "clusters: [{name: k, cluster: {server: 'https://first', server: 'https://last'}}, ");
    let door = load(twice).unwrap();
    assert_eq!(door.context(None).unwrap().info().server, "last:443");
    assert!(door.notes().iter().any(|n| n.contains("k is defined twice")), "{:?}", door.notes());
    assert!(door.notes().iter().any(|n| n.contains("server stands there twice")), "{:?}", door.notes());
}

#[test]
fn merge_keys_and_tags_are_followed() {
    let text = GOOD.replace("{server: 'https://a.b:6443'}", "{<<: &x {server: 'https://m.n'}, tls-server-name: !name z}");
    assert_eq!(load(text).unwrap().context(None).unwrap().info().server, "m.n:443");
}

fn list(dir: &TempDir, files: &[(&str, Option<&str>)]) -> Options {
    let paths = files.iter().map(|(name, text)| {
        let path = dir.path().join(name);
        if let Some(t) = text {
            std::fs::write(&path, t).unwrap();
        }
        path
    });
    let env = std::env::join_paths(std::iter::once(PathBuf::new()).chain(paths)).unwrap();
    Options { kubeconfig_env: Some(env), ..Options::default() }
}

#[test]
fn a_list_is_merged_first_wins_and_missing_files_are_skipped() {
    let dir = TempDir::new().unwrap();
    let second = GOOD.replace("a.b:6443", "other:1").replace("name: c,", "name: c2,").replace("current-context: c", "current-context: c2");
    let door = Door::load(&list(&dir, &[("none", None), ("one", Some(GOOD)), ("empty", Some("")), ("two", Some(&second))])).unwrap();
    assert_eq!(door.current(), Some("c"));
    let info = door.context(Some("c2")).unwrap().info().clone();
    assert_eq!(info.server, "a.b:6443");
    assert!(info.notes.iter().any(|n| n.contains("cluster k has another server in")), "{:?}", info.notes);
    assert!(info.notes.iter().any(|n| n.contains("none does not exist")), "{:?}", info.notes);
}

#[test]
fn a_broken_file_of_a_list_never_makes_us_guess_the_context() {
    let dir = TempDir::new().unwrap();
    let options = list(&dir, &[("broken", Some("a: [")), ("one", Some(GOOD))]);
    let door = Door::load(&options).unwrap();
    let p = door.context(None).unwrap_err();
    assert!(p.summary.contains("broken") && p.hint.contains("--context"), "{p}");
    assert!(door.context(Some("c")).is_ok());
    assert!(door.notes().iter().any(|n| n.contains("is not YAML")));
    assert!(Door::load(&list(&dir, &[("broken", Some("a: ["))])).unwrap_err().summary.contains("is not YAML"));
}

#[test]
fn the_default_the_flag_and_the_pods_own_account() {
    let dir = TempDir::new().unwrap();
    let home = Options { home: Some(dir.path().into()), ..Options::default() };
    let p = Door::load(&home).unwrap_err();
    assert!(p.summary.contains("no kubeconfig") && p.detail.contains(".kube/config") && p.hint.contains("--demo"), "{p}");
    let flag = Options { kubeconfig: Some(dir.path().join("gone")), ..home.clone() };
    assert!(Door::load(&flag).unwrap_err().summary.contains("no such file"));
    assert!(Door::load(&Options { kubeconfig: Some(dir.path().into()), ..home.clone() }).unwrap_err().summary.contains("folder"));

    let pod = dir.path().join("account");
    std::fs::create_dir(&pod).unwrap();
    for (name, text) in [("token", "t"), ("namespace", "tenant-a\n"), ("ca.crt", CERT)] {
        std::fs::write(pod.join(name), text).unwrap();
    }
    let env = [("KUBERNETES_SERVICE_HOST", "fd00::1"), ("KUBERNETES_SERVICE_PORT", "443")];
    let env = pick_variables(env.into_iter().chain([("PATH", "/x")]).map(|(k, v)| (k.to_string(), v.to_string())));
    assert_eq!(env.len(), 2);
    let in_pod = Options { service_account: Some(pod), env, ..home.clone() };
    let info = Door::load(&in_pod).unwrap().context(None).unwrap().info().clone();
    assert_eq!((info.server.as_str(), info.namespace.as_deref()), ("[fd00::1]:443", Some("tenant-a")));

    std::fs::create_dir(dir.path().join(".kube")).unwrap();
    std::fs::write(dir.path().join(".kube/config"), GOOD).unwrap();
    assert_eq!(Door::load(&in_pod).unwrap().current(), Some("c"));
}

#[test]
fn addresses_are_read_as_kubectl_reads_them() {
    let dir = TempDir::new().unwrap();
    let good = [
        ("server: 'https://a.b:6443/'", "a.b:6443"),
        ("server: 'HTTPS://a.b/k8s/clusters/c-1'", "a.b:443/k8s/clusters/c-1"),
        ("server: 'https://[fd00::1]:6443'", "[fd00::1]:6443"),
        ("server: 'a.b:6443', insecure-skip-tls-verify: yes", "a.b:6443"),
        ("server: 'http://127.0.0.1:8001'", "127.0.0.1:8001"),
    ];
    for (cluster, place) in good {
        assert_eq!(resolved(&dir, cluster, "token: t").unwrap().info().server, place);
    }
    let bad = [
        "",
        "server: ''",
        "server: 'ftp://a'",
        "server: 'https://'",
        "server: 'https://u:planted@a'",
        "server: 'https://a:99999'",
        "server: 'https://a/?x=1'",
    ];
    for cluster in bad {
        let p = resolved(&dir, cluster, "token: t").unwrap_err();
        assert!(
            p.kind == K::BadInput && p.summary.contains("clusters[k].cluster.server: found") && p.hint.contains("https://HOST"),
            "{cluster}: {p}"
        );
        assert!(!p.to_string().contains("planted"));
    }
}

#[test]
fn wrong_types_are_named() {
    let dir = TempDir::new().unwrap();
    let table = [
        ("insecure-skip-tls-verify: 'true'", "", "insecure-skip-tls-verify: found text"),
        ("proxy-url: 'proxy:3128'", "", "proxy-url: found an address"),
        ("", "as-groups: x", "as-groups: found text"),
        ("", "as-groups: [1]", "as-groups[0]: found a number"),
        ("", "exec: {command: x}", "exec.apiVersion: found nothing"),
        ("", "exec: {apiVersion: client.authentication.k8s.io/v1}", "exec.command: found nothing"),
        (
            "",
            "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Sometimes}",
            "interactiveMode: found \"Sometimes\"",
        ),
        ("", "as-uid: '5'", "user.as: found nothing"),
    ];
    for (cluster, user, found) in table {
        let p = resolved(&dir, &format!("server: 'https://a'{}{cluster}", if cluster.is_empty() { "" } else { ", " }), user).unwrap_err();
        assert!(p.summary.contains(found) && p.hint.contains("allowed"), "{p}");
    }
}

#[test]
fn a_user_that_is_not_there_is_not_logged_in() {
    for context in ["{cluster: k}", "{cluster: k, user: ghost}"] {
        let p = load(GOOD.replace("{cluster: k, user: u}", context)).unwrap().context(None).unwrap_err();
        assert!(p.kind == K::NotLoggedIn && p.summary.contains("not logged in") && !p.to_string().contains("permission"), "{p}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = super::super::files::parse(&bytes, std::path::Path::new("f"));
    }

    #[test]
    fn any_mangled_kubeconfig_is_survived(at in 0usize..GOOD.len(), cut in 0usize..30, put in "[ -~\n]{0,6}") {
        let mut text = GOOD.to_string();
        let end = (at + cut).min(text.len());
        text.replace_range(at..end, &put);
        if let Ok(door) = load(&text) {
            let _ = (door.notes(), door.contexts(), door.context(None));
        }
    }

    #[test]
    fn any_proxy_list_and_address_are_survived(list in ".{0,40}", host in ".{0,20}", url in ".{0,30}") {
        let _ = super::super::proxy::is_direct(&list, &host, 1);
        let _ = super::super::proxy::explicit(&url);
    }
}
