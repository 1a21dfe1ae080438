//! Whether a condition may be believed at all (`status.md` 0.4 and 8). Owns the generation rules; must not judge what a condition says.

use crate::model::{Meta, projection::Condition, projection::release::Release};

/// What the generations of a HelmRelease tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// No condition speaks yet and no history exists.
    Never,
    /// The status is about an older spec: (generation of the spec, generation judged).
    Stale(i64, i64),
    /// The conditions are about the spec as it is, as far as generations can tell.
    Current,
}

/// Rules 2, 3 and 5. Suspension (rule 1) is another verdict and is asked before.
pub fn of(meta: &Meta, release: &Release, ready: Option<&Condition>) -> Freshness {
    let Some(ready) = ready else {
        return if release.history.is_empty() { Freshness::Never } else { Freshness::Current };
    };
    let Some(generation) = meta.generation.get() else { return Freshness::Current };
    let judged = ready.observed_generation.get().or(release.observed_generation.filter(|s| *s >= 0)).unwrap_or(generation);
    if judged < generation {
        return Freshness::Stale(generation, judged);
    }
    // Rule 5: a patch conflict can move Ready's generation alone; only an attempt about this generation proves a True.
    match release.observed_generation {
        Some(s) if s < generation && &*ready.status == "True" => match release.attempted_generation.get() {
            Some(a) if a >= generation => Freshness::Current,
            Some(a) => Freshness::Stale(generation, a.max(s)),
            None if s < 0 => Freshness::Current,
            None => Freshness::Stale(generation, s),
        },
        _ => Freshness::Current,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn case(generation: i64, r: i64, s: i64, a: i64, status: &str) -> Freshness {
        let release = Release::project(&json!({"status": {"observedGeneration": s, "lastAttemptedGeneration": a,
            "conditions": [{"type": "Ready", "status": status, "observedGeneration": r}]}}));
        of(&Meta { generation: Some(generation).into(), ..Meta::default() }, &release, release.condition("Ready"))
    }

    #[test]
    fn the_rules_of_the_reference() {
        assert_eq!(case(7, 5, 5, 5, "True"), Freshness::Stale(7, 5), "rule 3");
        assert_eq!(case(7, 5, 5, 7, "False"), Freshness::Stale(7, 5), "rule 3, attempt started");
        assert_eq!(case(2, 2, 1, 2, "False"), Freshness::Current, "rule 4");
        assert_eq!(case(2, 2, 1, 2, "True"), Freshness::Current, "rule 5, attempted");
        assert_eq!(case(2, 2, 1, 1, "True"), Freshness::Stale(2, 1), "rule 5, not attempted");
        assert_eq!(case(2, 2, 2, 2, "False"), Freshness::Current, "rule 6");
    }

    #[test]
    fn silence_is_never_unless_history_speaks() {
        let never = Release::project(&json!({"status": {"observedGeneration": -1}}));
        assert_eq!(of(&Meta::default(), &never, None), Freshness::Never);
    }
}
