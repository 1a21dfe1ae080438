//! Wrong usage and places that can't be reached: the code, and a sentence that names what was found and what is allowed.

use super::*;

#[test]
fn wrong_usage_ends_with_two() {
    for (args, says) in [
        (&["get", "--demo", "-o", "nonsense"][..], "table, wide, json, jsonl, yaml, csv, markdown"),
        (&["explain", "--demo", "-o", "xml"], "markdown"),
        (&["access", "--demo", "-o", "nonsense"], "json"),
        (&["report", "--demo", "-o", "table"], "json, jsonl, yaml, csv, markdown"),
        (&["watch", "--demo", "-o", "csv"], "jsonl"),
        (&["rule", "-o", "nonsense"], "nonsense"),
        (&["get", "--nonsense"], "--nonsense"),
        (&["nonsense"], "nonsense"),
        (&["get", "--demo=nonsense"], "nonsense"),
        (&["get", "--demo", "--from", "x"], "--from"),
        (&["get", "--demo", "--request-timeout", "soon"], "soon"),
        (&["get", "--demo", "--color", "sometimes"], "auto"),
        (&["validate"], "--file"),
        (&["get", "--from", ""], "--from"),
        (&["record", "--demo"], "-o FILE"),
        (&["get", "tenant-media/other", "--demo"], "computeplane"),
        (&["explain", "tenant-media/", "--demo"], "NAMESPACE/computeplane"),
    ] {
        let ran = run(args).ends(2);
        assert!(ran.out.is_empty(), "{args:?}: {ran:#?}");
        assert!(ran.err.contains(says), "{args:?}: {ran:#?}");
    }
}

#[test]
fn help_and_version_go_to_standard_output() {
    for args in [&["--help"][..], &["get", "--help"], &["--version"]] {
        let ran = run(args).ends(0);
        assert!(ran.out.contains("planedeck") && ran.err.is_empty(), "{ran:#?}");
    }
}

#[test]
fn without_a_kubeconfig_the_message_says_where_it_was_looked_for() {
    for command in ["get", "explain", "watch", "access", "report"] {
        let home = Home::new();
        let ran = home.run(&[command]).ends(2);
        assert!(ran.out.is_empty() && ran.err.contains(".kube/config") && ran.err.contains("--kubeconfig"), "{ran:#?}");
    }
    let ran = run(&["get", "--kubeconfig", "nowhere"]).ends(2);
    assert!(ran.out.is_empty() && ran.err.contains("nowhere"), "{ran:#?}");
}

fn kubeconfig(server: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\ncontexts: [{{name: here, context: {{cluster: c, user: u, namespace: tenant-a}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{server}'}}}}]\nusers: [{{name: u, user: {{token: very-secret-token}}}}]\n"
    )
}

#[test]
fn an_unreachable_server_ends_with_three() {
    let home = Home::new();
    // Bound, asked for its number, and closed again: nobody listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = home.file("config", kubeconfig(&format!("http://127.0.0.1:{port}")));
    for command in [&["get"][..], &["get", "tenant-a"], &["explain"], &["access"], &["report"], &["watch"], &["record", "-o", "r.json"]] {
        let ran = home.run(&[command, &["--kubeconfig", &config, "--request-timeout", "2s"]].concat()).ends(3);
        assert!(!ran.err.is_empty() && !format!("{ran:?}").contains("very-secret-token"), "{command:?}: {ran:#?}");
    }
    assert!(!home.path("r.json").exists(), "a recording of nothing");
    let ran = home.run(&["get", "--kubeconfig", &config, "--context", "ther"]).ends(2);
    assert!(ran.out.is_empty() && ran.err.contains("here"), "{ran:#?}");
}

#[test]
fn variables_say_what_flags_say() {
    let home = Home::new();
    let dump = home.file("d.yaml", plane("tenant-a") + &plane("tenant-b"));
    let json = |args: &[&str], env: &[(&str, &str)]| home.run_with(args, env, b"");
    let from = ("PLANEDECK_FROM", dump.as_str());
    for (env, args) in [
        (&[("PLANEDECK_OUTPUT", "json")][..], &["-o", "json"][..]),
        (&[("PLANEDECK_COMPLETE", "1")], &["--complete"]),
        (&[("PLANEDECK_COMPLETE", "false")], &[]),
        (&[("PLANEDECK_NOW", "2026-11-09T00:00:00Z")], &["--now", "2026-11-09T00:00:00Z"]),
        (&[("PLANEDECK_NAMESPACE", "tenant-b")], &["-n", "tenant-b"]),
        (&[("PLANEDECK_NAMESPACE", "tenant-b,tenant-c")], &["-n", "tenant-b", "-n", "tenant-c"]),
        (&[("PLANEDECK_ASCII", "yes")], &["--ascii"]),
        // Set to nothing is not set.
        (&[("PLANEDECK_NAMESPACE", ""), ("PLANEDECK_OUTPUT", "")], &[]),
    ] {
        let by_flag = json(&[&["get", "--from", &dump], args].concat(), &[]);
        let by_variable = json(&["get"], &[&[from], env].concat());
        assert_eq!(by_flag, by_variable, "{env:?}");
    }
    let ran = json(&["get", "-o", "json"], &[from, ("PLANEDECK_OUTPUT", "csv")]);
    assert_eq!(ran.json()["kind"], "PlaneList", "a flag is stronger than its variable");
    let ran = json(&["get"], &[("PLANEDECK_DEMO", "default")]).ends(1);
    assert!(ran.out.contains("tenant-media"));
    json(&["get"], &[from, ("PLANEDECK_OUTPUT", "nonsense")]).ends(2);
}
