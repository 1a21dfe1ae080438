//! The oracle: 120 inputs judged by the real charts, each judged here the same way.

use serde_json::{Value, json};

use super::{Context, validate};
use crate::nodegroups::{
    document::documents,
    finding::{Finding, Profile, Severity, Stage},
};

const ORACLE: &str = include_str!("../../../tests/data/oracle-nodegroups.jsonl");

/// The ids that a kind of refusal may be called by.
fn ids(kind: &str) -> &'static [&'static str] {
    let (_, what) = kind.split_once(": ").unwrap();
    match what {
        "duplicate-key" => &["Y-DUPKEY"],
        "null-key" => &["Y-KEY"],
        "ingress-role" => &["G-INGRESS"],
        "key-too-long" | "name-over-253" | "md-name-too-long" => &["G-KEYLEN"],
        "partial-resources" => &["Z-PARTIAL"],
        "instanceType-not-found" => &["Z-INSTTYPE"],
        "ephemeralStorage" => &["G-EPHEMERAL"],
        "duplicate-role" => &["R-DUP"],
        "role-label" => &["R-LABEL"],
        "name-collision" | "malformed-yaml" => &["G-CTRL"],
        "reserved-memory-sum" => &["E-SUM-MEM"],
        "reserved-cpu-sum" => &["E-SUM-CPU"],
        "kubelet-needs-cpu" => &["E-NOCPU"],
        "kubelet-needs-memory" => &["E-NOMEM"],
        "eviction-mixed" => &["E-MIXED"],
        "eviction-order-percent" => &["E-ORDER-PCT"],
        "eviction-order-absolute" => &["E-ORDER-ABS"],
        "gpu-name-type" => &["G-GPUYAML"],
        "maxReplicas-float-annotation" => &["A-HUGE"],
        "minReplicas-negative" => &["A-NEG"],
        "maxUnhealthy-range" | "maxUnhealthy-format" => &["H-MAXUNH"],
        "cpu-not-integer" | "cpu-not-number" => &["Z-CPUINT"],
        "podCpuLimit-zero" => &["Z-PODCPU-0LIM"],
        "podCpuRequest-above-limit" => &["Z-PODCPU-GT"],
        w if w.starts_with("podCpu") && w.ends_with("with-instanceType") => &["Z-PODCPU-IT"],
        w if w.starts_with("podCpu") && w.ends_with("-negative") => &["Z-PODCPU-NEG"],
        w if w.starts_with("podCpuRequest-zero") => &["Z-PODCPU-0REQ"],
        w if w.starts_with("nodeStartupTimeout-") => &["H-STARTUP"],
        w if w.starts_with("name-") => &["G-KEY"],
        w if w.ends_with("percent-not-number") => &["E-PCTNUM"],
        w if w.ends_with("percent-range") => &["E-PCTRANGE"],
        w if w.ends_with("-not-positive") => &["E-POS"],
        w if w.starts_with("eviction") && w.ends_with("-format") => &["E-ABSFMT"],
        w if w.ends_with("Memory-format") => &["E-MEMFMT"],
        w if w.ends_with("Cpu-format") => &["E-CPUFMT"],
        _ if kind.starts_with("child-schema") || kind.starts_with("pool-schema") => &["G-PASSTYPE"],
        w if w.ends_with("missing name") => &["G-GPUNAME"],
        w if w.contains(" missing ") || w.starts_with("missing ") || w.contains("group missing") => &["G-REQ"],
        w if w.ends_with(" pattern") || w.contains(" number not integer|string") => &["G-QTY"],
        w if w.contains(" not ") => &["G-TYPE"],
        w => panic!("kind {w:?} has no id"),
    }
}

fn stage(oracle: &str) -> Stage {
    match oracle {
        "yaml" => Stage::Write,
        s if s.starts_with("parent-") => Stage::Module,
        "child-apply" | "pool-apply" => Stage::Admission,
        s if s.starts_with("child-") => Stage::Cluster,
        s if s.starts_with("pool-") => Stage::Pool,
        s => panic!("stage {s}"),
    }
}

/// How the text stands as a value of `nodeGroups`, as the charts were fed.
fn wrapped(text: &str) -> String {
    format!("nodeGroups:\n{}\n", text.lines().map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n"))
}

#[test]
fn every_line_is_judged_as_the_charts_did() {
    let mut wrong = Vec::new();
    let mut lines = 0;
    for line in ORACLE.lines() {
        lines += 1;
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |k: &str| case[k].as_str().unwrap();
        let profile = if text("profile") == "split" { Profile::Split } else { Profile::Presplit };
        let context = Context { profile, ..Context::default() };
        let docs = documents("oracle", wrapped(text("nodeGroups")).as_bytes());
        assert_eq!(docs.len(), 1);
        let mut judged = vec![validate(&docs[0], &context)];
        if case.get("json").is_some() {
            let fed = json!({ "nodeGroups": case["json"] }).to_string();
            judged.push(validate(&documents("oracle", fed.as_bytes())[0], &context));
        }
        for found in judged {
            let errors: Vec<&Finding> =
                found.findings.iter().filter(|f| f.severity == Severity::Error && f.stage != Stage::Runtime).collect();
            let first = found.first().filter(|f| f.stage != Stage::Runtime);
            let id = text("id");
            if case["ok"] == true {
                if !errors.is_empty() {
                    wrong.push(format!("{id} accepted, but found {errors:?}\n  {}", text("nodeGroups")));
                }
                continue;
            }
            // Several schema errors come as one text in the schema's own order: any of them may stand first here.
            let (stage_name, kinds) = text("kind").split_once(": ").unwrap();
            let any: Vec<&str> = kinds.split(" + ").flat_map(|k| ids(&format!("{stage_name}: {k}"))).copied().collect();
            let want = (any, stage(text("stage")));
            match first {
                Some(f) if want.0.contains(&f.id) && f.stage == want.1 => {}
                f => wrong.push(format!("{id} {} wants {want:?}, found {f:?}\n  {}", text("kind"), text("nodeGroups"))),
            }
        }
    }
    assert_eq!(lines, 120);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
