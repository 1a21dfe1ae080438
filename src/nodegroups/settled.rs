//! Did the write hold? Compares what was written with what is read back at 50 ms and at 1 s. Owns that judgement; must not read.
//!
//! A test in a patch is no lock on this platform: two racing patches can both be answered 200 and one of them is lost. Reads can also be a
//! few milliseconds stale, so one early read that still shows the old values proves nothing.

use serde::Serialize;
use serde_json::Value;

use super::{
    Groups,
    path::{self, FieldPath},
};

/// A field that doesn't hold what was meant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Deviation {
    /// Field or pool.
    pub path: FieldPath,
    /// What it held before the write; `None` is absence.
    pub before: Option<Value>,
    /// What was written.
    pub written: Option<Value>,
    /// What reads back.
    pub read: Option<Value>,
}

/// The outcome of a write.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// Every written value reads back, and nothing else moved.
    Verified,
    /// Every written value reads back; somebody else changed other fields meanwhile (their values are in `read`).
    VerifiedBesides(Vec<Deviation>),
    /// Some written fields are missing while others hold: the server dropped them.
    Dropped(Vec<Deviation>),
    /// Written fields hold other values: this write was lost, wholly or in these fields, to somebody else's.
    Lost(Vec<Deviation>),
    /// My write holds, but undid an edit that the first read still showed: theirs was lost. `written` is what stands there now.
    OverwroteTheirs(Vec<Deviation>),
    /// The last read is older than the write, or there is none: read again.
    Unsettled,
}

/// What was written and what it replaced.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// Node groups as read just before the write.
    pub before: &'a Groups,
    /// Node groups as meant after it.
    pub desired: &'a Groups,
}

/// Judges the reads after a write, oldest first. The last one counts; earlier ones only show edits that came and went.
pub fn settle(written: Written<'_>, reads: &[&Groups]) -> Settled {
    let Some((last, earlier)) = reads.split_last() else { return Settled::Unsettled };
    let mine = path::differences(written.before, written.desired);
    let deviation = |path: &FieldPath, read: &Groups| Deviation {
        path: path.clone(),
        before: path.get(written.before).cloned(),
        written: path.get(written.desired).cloned(),
        read: path.get(read).cloned(),
    };
    let off: Vec<FieldPath> = mine.iter().map(|d| &d.path).filter(|p| !holds(p, written.desired, last)).cloned().collect();
    if !off.is_empty() {
        let list: Vec<Deviation> = off.iter().map(|p| deviation(p, last)).collect();
        let untouched = list.iter().all(|d| agree(d.read.as_ref(), d.before.as_ref()));
        let all = off.len() == mine.len();
        return match () {
            // All of it as before and no sign of it in any read: a stale cache looks like this, and so does a loss.
            () if untouched && all && reads.len() == 1 => Settled::Unsettled,
            () if !all && list.iter().all(|d| d.read.is_none() && d.written.is_some()) => Settled::Dropped(list),
            () => Settled::Lost(list),
        };
    }
    // Defaults shown in a pool that this write added are nobody's edit.
    let filled = |d: &path::Difference| d.old.is_none() && d.path.keys().len() > 1 && !written.before.contains_key(d.path.pool());
    let besides: Vec<path::Difference> = path::differences(written.desired, last).into_iter().filter(|d| !filled(d)).collect();
    if !besides.is_empty() {
        return Settled::VerifiedBesides(besides.iter().map(|d| deviation(&d.path, last)).collect());
    }
    let undone =
        earlier.iter().flat_map(|read| foreign(written, &mine, read)).map(|(path, read)| deviation(&path, read)).collect::<Vec<_>>();
    if undone.is_empty() { Settled::Verified } else { Settled::OverwroteTheirs(undone) }
}

/// Edits in an early read that are neither mine nor the state before: somebody else's, seen for a moment.
fn foreign<'a>(written: Written<'_>, mine: &[path::Difference], read: &'a Groups) -> Vec<(FieldPath, &'a Groups)> {
    let ours = |p: &FieldPath| mine.iter().any(|d| d.path == *p) && (holds(p, written.desired, read) || holds(p, written.before, read));
    path::differences(written.before, read).into_iter().filter(|d| !ours(&d.path)).map(|d| (d.path, read)).collect()
}

fn holds(path: &FieldPath, wanted: &Groups, read: &Groups) -> bool {
    agree(path.get(wanted), path.get(read))
}

fn agree(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => covers(a, b),
        (Some(a), Some(b)) => path::same(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// A written group reads back with defaults that weren't written; what was written must be there, more may be.
fn covers(wanted: &Groups, read: &Groups) -> bool {
    wanted.iter().all(|(key, value)| read.get(key).is_some_and(|r| path::same(value, r)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(v: Value) -> Groups {
        v.as_object().cloned().unwrap()
    }

    fn judge(before: Value, desired: Value, reads: &[Value]) -> Settled {
        let reads: Vec<Groups> = reads.iter().cloned().map(map).collect();
        let (before, desired) = (map(before), map(desired));
        settle(Written { before: &before, desired: &desired }, &reads.iter().collect::<Vec<_>>())
    }

    fn paths(list: &[Deviation]) -> Vec<String> {
        list.iter().map(|d| d.path.dotted()).collect()
    }

    #[test]
    fn a_write_that_reads_back_is_verified_with_defaults_added_to_a_new_pool() {
        let desired = json!({"web": {"max": 4}, "db": {"min": 1}});
        let read = json!({"web": {"max": 4}, "db": {"min": 1, "diskSize": "20Gi"}});
        assert_eq!(judge(json!({"web": {"max": 3}}), desired.clone(), &[json!({"web": {"max": 3}}), desired.clone()]), Settled::Verified);
        assert_eq!(judge(json!({"web": {"max": 3}}), desired, &[read]), Settled::Verified);
    }

    #[test]
    fn one_old_read_proves_nothing_two_prove_a_loss() {
        let (before, desired) = (json!({"web": {"max": 3}}), json!({"web": {"max": 4}}));
        assert_eq!(judge(before.clone(), desired.clone(), std::slice::from_ref(&before)), Settled::Unsettled);
        assert_eq!(judge(before.clone(), desired.clone(), &[]), Settled::Unsettled);
        let Settled::Lost(lost) = judge(before.clone(), desired.clone(), &[desired, before.clone()]) else { panic!() };
        assert_eq!(lost[0].read, Some(json!(3)));
    }

    #[test]
    fn another_value_is_a_loss_even_in_one_read() {
        let found = judge(json!({"web": {"max": 3}}), json!({"web": {"max": 4}}), &[json!({"web": {"max": 9}})]);
        let Settled::Lost(lost) = found else { panic!("{found:?}") };
        assert_eq!((paths(&lost), lost[0].read.clone()), (vec!["nodeGroups.web.max".to_string()], Some(json!(9))));
    }

    #[test]
    fn a_field_that_alone_is_missing_was_dropped() {
        let found = judge(json!({"web": {"max": 3}}), json!({"web": {"max": 4, "x": 1}}), &[json!({"web": {"max": 4}})]);
        let Settled::Dropped(dropped) = found else { panic!("{found:?}") };
        assert_eq!(paths(&dropped), ["nodeGroups.web.x"]);
    }

    #[test]
    fn their_edit_that_vanished_under_mine_is_told() {
        let (before, desired) = (json!({"web": {"max": 3, "min": 1}}), json!({"web": {"max": 4, "min": 1}}));
        let theirs = json!({"web": {"max": 3, "min": 2}});
        let found = judge(before.clone(), desired.clone(), &[theirs, desired.clone()]);
        let Settled::OverwroteTheirs(list) = found else { panic!("{found:?}") };
        assert_eq!(paths(&list), ["nodeGroups.web.min"]);
        let beside = judge(before, desired, &[json!({"web": {"max": 4, "min": 2}})]);
        assert!(matches!(beside, Settled::VerifiedBesides(_)));
    }
}
