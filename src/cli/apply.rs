//! `apply`: plan, confirm, write, verify, and follow the rollout if asked. Owns the dialogue and the exit rule; planning, patching, settling and
//! following are the node groups' own logic.

use std::{
    io::{BufRead as _, IsTerminal as _},
    time::Duration,
};

use serde_json::Value;
use tokio::time::Instant;

use super::{
    args::ApplyArgs,
    exit::Exit,
    facts::Input,
    output::{Format, Out},
    plan::{self, PlanDocument},
    plan_command::{Live, read_live},
    run::note,
    settle::Effective,
};
use crate::{
    cluster::write::{Outcome as Written, READ_BACK},
    model::{Problem, ProblemKind, Time, text},
    nodegroups::{
        Groups,
        finding::Profile,
        patch,
        rollout::{Outcome, Progress, Rollout, StepState},
        settled::{self, Settled},
    },
    state::observe,
};

/// Applies a document to the live plane.
///
/// # Errors
/// What can't be read, reached or written.
pub async fn run(args: &ApplyArgs, e: &Effective, out: &mut Out) -> Result<Exit, Problem> {
    let format = Format::choose(e.global.output.as_deref(), plan::FORMATS)?;
    if e.global.read_only {
        return Err(locked("read-only mode: nothing is written in this process"));
    }
    let after = Input::read(&args.file)?;
    let live = read_live(e, &after).await?;
    if live.seen.online.as_ref().is_some_and(|o| o.link.session.info().read_only) {
        return Err(locked("read-only mode: the settings lock this context"));
    }
    let document = live.plan(args.profile, &after)?;
    plan::print(out, format, &document);
    if plan::refused(&document) {
        note("refused by a finding: nothing was written");
        return Ok(Exit::Bad);
    }
    if document.patch.is_empty() {
        note("nothing to write: the plane already reads like this");
        return Ok(Exit::Ok);
    }
    if !args.yes && !confirmed(&live, &document)? {
        note("not confirmed: nothing was written");
        return Ok(Exit::Bad);
    }
    write(args, live, &after, &document).await
}

fn locked(why: &str) -> Problem {
    Problem::new(ProblemKind::Invalid, why).hint("`planedeck plan` shows what would happen")
}

/// Asks on the terminal. Where machines are destroyed, only the plane's namespace and name typed in full confirm.
fn confirmed(live: &Live, document: &PlanDocument<Value>) -> Result<bool, Problem> {
    if !std::io::stdin().is_terminal() {
        return Err(
            Problem::new(ProblemKind::BadInput, "standard input is no terminal, so nobody can confirm").hint("--yes writes without asking")
        );
    }
    let context = live.seen.online.as_ref().map(|o| o.link.session.info().clone()).unwrap_or_default();
    let full = format!("{}/{}", live.plane.namespace, live.plane.name);
    let destroyed = document.pools.iter().any(|p| {
        p.machines.recreated.is_none_or(|n| n > 0)
            && matches!(p.change, crate::nodegroups::forecast::Change::Roll | crate::nodegroups::forecast::Change::Remove)
    });
    let wanted = if destroyed { full.as_str() } else { "yes" };
    note(&format!("write this to {full} in context {} ({})?", context.name, context.server));
    note(&format!("type {wanted} to confirm:"));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.map_err(|e| Problem::new(ProblemKind::BadInput, format!("standard input: {e}")))?;
    Ok(answer.trim() == wanted)
}

async fn write(args: &ApplyArgs, mut live: Live, after: &Input, document: &PlanDocument<Value>) -> Result<Exit, Problem> {
    let before = live.groups();
    let desired = patch::writable(&before, &after.groups);
    let baseline = observe::observe(&live.seen.world, &live.plane.namespace, document.profile, live.seen.now);
    let Some(online) = &live.seen.online else { return Ok(Exit::NoAccess) };
    let ops = serde_json::to_value(&document.patch).unwrap_or_default();
    let at = Time::now();
    let outcome = online.link.session.write(&live.plane, &ops, &READ_BACK).await;
    match outcome {
        Written::Written(reads) => {
            // The watch may still show the values from before the write: what was read back is newer.
            if let Some(object) = reads.last().and_then(crate::model::Object::from_value) {
                live.seen.world.apply(object);
            }
            let reads: Vec<Groups> = reads.iter().map(groups).collect();
            if !told(settled::settle(settled::Written { before: &before, desired: &desired }, &reads.iter().collect::<Vec<_>>())) {
                return Ok(Exit::Conflict);
            }
        }
        Written::Conflict(_, p) => {
            note(&format!("{}: {p}", live.plane.namespace));
            note("the live plane moved: nothing was written; plan again on what is there now");
            return Ok(Exit::Conflict);
        }
        Written::Refused(p) => {
            note(&format!("refused by the server: {p}"));
            return Ok(if matches!(p.kind, ProblemKind::Forbidden | ProblemKind::Unauthorized | ProblemKind::NotLoggedIn) {
                Exit::NoAccess
            } else {
                Exit::Bad
            });
        }
        Written::Unknown(now, p) => {
            let landed = now.as_deref().map(groups).is_some_and(|g| {
                matches!(
                    settled::settle(settled::Written { before: &before, desired: &desired }, &[&g]),
                    Settled::Verified | Settled::VerifiedBesides(_)
                )
            });
            note(&format!("no answer to the write: {p}"));
            if !landed {
                note("reading back doesn't show it; it may or may not have been written: look before you write again");
                return Ok(Exit::NoAccess);
            }
            note("reading back shows that it was written");
        }
    }
    note("written and verified");
    let Some(wait) = args.wait.and_then(|d| Duration::try_from(d).ok()) else { return Ok(Exit::Ok) };
    let rollout = Rollout::new(observe::edit(&baseline, before, desired, &document.pools, at));
    follow(&mut live, rollout, document.profile, wait).await
}

fn groups(object: &Value) -> Groups {
    object.pointer("/spec/nodeGroups").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Says how the write settled; true when these values stand.
fn told(settled: Settled) -> bool {
    let list = |d: &[settled::Deviation]| d.iter().map(|d| d.path.dotted()).collect::<Vec<_>>().join(", ");
    match settled {
        Settled::Verified => true,
        Settled::VerifiedBesides(others) => {
            note(&format!("somebody else changed other fields meanwhile: {}", list(&others)));
            true
        }
        Settled::OverwroteTheirs(theirs) => {
            note(&format!("somebody else's edit was lost under this write: {}", list(&theirs)));
            true
        }
        Settled::Dropped(fields) => {
            note(&format!("the server dropped fields of this write: {}", list(&fields)));
            false
        }
        Settled::Lost(fields) => {
            note(&format!("this write was lost to somebody else's: {}", list(&fields)));
            false
        }
        Settled::Unsettled => {
            note("the write was answered, but reading back doesn't show it yet");
            false
        }
    }
}

/// Follows until it has landed, failed, was superseded, or the time is over.
async fn follow(live: &mut Live, mut rollout: Rollout, layout: Profile, wait: Duration) -> Result<Exit, Problem> {
    let Some(online) = live.seen.online.as_mut() else { return Ok(Exit::NoAccess) };
    let end = (!wait.is_zero()).then(|| Instant::now() + wait);
    let mut shown = String::new();
    loop {
        let seen = observe::observe(&live.seen.world, &live.plane.namespace, layout, Time::now());
        let progress = rollout.observe(&seen);
        show(&progress, &mut shown);
        match &progress.outcome {
            Outcome::Landed => {
                note("landed: these values are what runs");
                return Ok(Exit::Ok);
            }
            Outcome::Superseded(paths) => {
                let list = paths.iter().map(|p| p.dotted()).collect::<Vec<_>>().join(", ");
                note(&format!("superseded: somebody else's values stand in {list}"));
                return Ok(Exit::Bad);
            }
            Outcome::Stopped { step, pool, text, .. } => {
                let place = pool.as_ref().map(|p| format!(" (pool {p})")).unwrap_or_default();
                note(&format!("stopped at {}{place}: {}", word(step), text::line(text)));
                return Ok(Exit::Bad);
            }
            Outcome::Following | Outcome::LandedAsFarAsVisible(_) => {}
        }
        // A second look at least every two seconds: some stages are told by time alone.
        let next = Instant::now() + Duration::from_secs(2);
        let until = end.map_or(next, |e| e.min(next));
        if let Ok(Some(feed)) = tokio::time::timeout_at(until, online.feeds.recv()).await {
            live.seen.world.fold(&feed.source, feed.event, Time::now());
            while let Ok(feed) = online.feeds.try_recv() {
                live.seen.world.fold(&feed.source, feed.event, Time::now());
            }
        }
        if end.is_some_and(|e| Instant::now() >= e) {
            if let Outcome::LandedAsFarAsVisible(hidden) = &progress.outcome {
                let list = hidden.iter().map(word).collect::<Vec<_>>().join(", ");
                note(&format!("landed as far as may be seen; not visible: {list}"));
            }
            note(&format!("not landed within {} s", wait.as_secs()));
            return Ok(Exit::Bad);
        }
    }
}

fn word(v: impl serde::Serialize) -> String {
    serde_json::to_value(v).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default()
}

/// One line a step, printed when it changed.
fn show(progress: &Progress, shown: &mut String) {
    let line = |s: &crate::nodegroups::rollout::Step| {
        let state = match s.state {
            StepState::Done => "done",
            other => return format!("{}: {} {}/{} {}", word(s.kind), word(other), s.done, s.total, text::line(&s.text)),
        };
        format!("{}: {state}", word(s.kind))
    };
    let now = progress.steps.iter().map(line).collect::<Vec<_>>().join("; ");
    if now != *shown {
        note(&now);
        *shown = now;
    }
}
