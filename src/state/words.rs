//! Names, counts and ages as people read them on screen. Owns wording shared by screens; must not decide anything.

use jiff::SignedDuration;

use crate::model::{
    Time, age, text,
    verdict::{Layer, Plane, PoolView, Severity, State, Who},
    world::ReadState,
};

/// What stands where nothing is known.
pub const UNKNOWN: &str = "–";

/// A layer's number and name.
pub fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Tenant => "L0 Tenant",
        Layer::Module => "L1 Module release",
        Layer::Cluster => "L2 Cluster release",
        Layer::Pools => "L3 Pools",
        Layer::ControlPlane => "L4 Control plane",
        Layer::Workers => "L5 Workers",
        Layer::Addons => "L6 Addons",
    }
}

/// A severity in one word, as in the contract.
pub fn severity(s: Severity) -> &'static str {
    match s {
        Severity::Blocked => "blocked",
        Severity::Failing => "failing",
        Severity::Degraded => "degraded",
        Severity::Unknown => "unknown",
        Severity::Progressing => "progressing",
        Severity::Ready => "ready",
    }
}

/// Who can take a step.
pub fn who(w: Who) -> &'static str {
    match w {
        Who::Tenant => "tenant",
        Who::ParentTenant => "parent tenant's owner",
        Who::Platform => "platform operator",
        Who::Anyone => "anyone",
    }
}

/// Why a source says nothing.
pub fn read_state(r: ReadState) -> &'static str {
    match r {
        ReadState::Complete => "read",
        ReadState::Forbidden => "forbidden",
        ReadState::AbsentApi => "not served here",
        ReadState::UnsupportedVersion => "version not supported",
        ReadState::Unreadable => "unreadable",
        ReadState::NotRead => "not read yet",
        ReadState::Stale => "stale",
    }
}

/// A count, or the sign for unknown.
pub fn count(n: Option<i64>) -> String {
    n.map_or(UNKNOWN.to_string(), |n| n.to_string())
}

/// An age that changes at most once a minute, so that a screen at rest is drawn once a minute.
pub fn ago(since: Time, now: Time) -> String {
    let d = now.duration_since(since);
    match d.as_secs() {
        ..60 => "<1m".to_string(),
        60..120 => "1m".to_string(),
        _ => age::short(d),
    }
}

/// When the label of [`ago`] changes next.
pub fn next_change(since: Time, now: Time) -> Option<Time> {
    let secs = now.duration_since(since).as_secs();
    let unit = match secs {
        ..7_200 => 60,
        7_200..172_800 => 3_600,
        _ => 86_400,
    };
    let next = if secs < 0 { 60 } else { (secs / unit + 1) * unit };
    since.checked_add(SignedDuration::from_secs(next)).ok()
}

/// The state of a plane in words; a Ready that isn't fully known says so.
pub fn state(plane: &Plane) -> String {
    let seen = match plane.visible_state {
        Some(State::Ready) => "Ready as far as you may see".to_string(),
        Some(other) => format!("{} as far as you may see", other.words()),
        None => plane.state.words(),
    };
    if plane.inferred { format!("{seen} (inferred)") } else { seen }
}

/// `3/3 (1-8)`: ready of wanted, and the limits.
pub fn nodes(pool: &PoolView) -> String {
    let have = match (pool.ready, pool.desired) {
        (None, None) => UNKNOWN.to_string(),
        (r, d) => format!("{}/{}", count(r), count(d)),
    };
    match (pool.min, pool.max) {
        (None, None) => have,
        (min, max) => format!("{have} ({}-{})", count(min), count(max)),
    }
}

/// The nodes of all pools together.
pub fn all_nodes(plane: &Plane) -> (i64, String) {
    let sum = |f: fn(&PoolView) -> Option<i64>| plane.pools.iter().map(f).try_fold(0i64, |a, b| b.map(|b| a.saturating_add(b)));
    if plane.pools.is_empty() {
        return (-1, UNKNOWN.to_string());
    }
    let all = PoolView {
        name: String::new(),
        state: State::Unknown,
        min: sum(|p| p.min),
        max: sum(|p| p.max),
        desired: sum(|p| p.desired),
        ready: sum(|p| p.ready),
        machines: None,
        instance_type: None,
    };
    (all.ready.unwrap_or(-1), nodes(&all))
}

/// `v1.33 2/2`: version and replicas of the control plane.
pub fn control_plane(plane: &Plane) -> String {
    let c = &plane.control_plane;
    let version = c.version.as_deref().map(text::line);
    match (version, c.ready, c.desired) {
        (None, None, None) => UNKNOWN.to_string(),
        (v, None, None) => v.unwrap_or_default(),
        (v, r, d) => format!("{} {}/{}", v.unwrap_or(UNKNOWN.to_string()), count(r), count(d)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_change_when_next_change_says() {
        let t = Time::UNIX_EPOCH;
        for secs in [0, 1, 59, 60, 119, 120, 7_199, 7_200, 10_000, 172_799, 172_800, 999_999] {
            let now = t + SignedDuration::from_secs(secs);
            let next = next_change(t, now).unwrap();
            let just_before = next - SignedDuration::from_secs(1);
            assert_eq!(ago(t, now), ago(t, just_before), "{secs}");
            assert_ne!(ago(t, now), ago(t, next), "{secs}");
        }
    }
}
