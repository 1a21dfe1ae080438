//! What changed between two judgements of one plane, in words. Pure comparison; must not judge.

use crate::model::verdict::Plane;

/// The changes from `old` to `new`, one sentence each; empty when nothing that matters changed.
pub fn diff(old: &Plane, new: &Plane) -> Vec<String> {
    let mut out = Vec::new();
    if (old.state, old.visible_state) != (new.state, new.visible_state) {
        out.push(format!("state: {} → {}", shown(old), shown(new)));
    } else if old.cause != new.cause {
        out.push(format!("cause: {} → {}", old.cause, new.cause));
    }
    for v in &new.layers {
        let before = old.layers.iter().find(|o| o.layer == v.layer);
        let name = super::engine::name(v.layer);
        match before {
            Some(o) if o.state != v.state => out.push(format!("{name}: {} → {}: {}", o.state, v.state, v.cause)),
            None => out.push(format!("{name}: {}: {}", v.state, v.cause)),
            _ => {}
        }
    }
    for p in &new.pools {
        match old.pools.iter().find(|o| o.name == p.name) {
            None => out.push(format!("pool {}: new, {}", p.name, p.state)),
            Some(o) if o.state != p.state => out.push(format!("pool {}: {} → {}", p.name, o.state, p.state)),
            Some(o) if (o.desired, o.ready, o.machines) != (p.desired, p.ready, p.machines) => {
                out.push(format!("pool {}: {} → {}", p.name, counts(o.ready, o.desired), counts(p.ready, p.desired)));
            }
            Some(_) => {}
        }
    }
    out.extend(old.pools.iter().filter(|o| !new.pools.iter().any(|p| p.name == o.name)).map(|o| format!("pool {}: gone", o.name)));
    let (a, b) = (&old.control_plane, &new.control_plane);
    if a.version != b.version {
        let v = |v: &Option<String>| v.clone().unwrap_or_else(|| "unknown".to_string());
        out.push(format!("control plane: {} → {}", v(&a.version), v(&b.version)));
    }
    if (a.ready, a.desired) != (b.ready, b.desired) {
        out.push(format!("control plane: {} → {}", counts(a.ready, a.desired), counts(b.ready, b.desired)));
    }
    if old.coverage != new.coverage {
        out.push(format!("coverage: {} → {} of 7 layers visible", old.coverage.visible.len(), new.coverage.visible.len()));
    }
    out
}

fn shown(p: &Plane) -> String {
    match p.visible_state {
        Some(v) => format!("{} ({v} as far as visible)", p.state),
        None => p.state.to_string(),
    }
}

fn counts(ready: Option<i64>, desired: Option<i64>) -> String {
    let n = |n: Option<i64>| n.map_or("?".to_string(), |n| n.to_string());
    format!("{}/{} ready", n(ready), n(desired))
}
