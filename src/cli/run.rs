//! From parsed arguments to an exit code: settles flags, brings the world together, hands it to the command. Owns dispatch only.

use std::{
    io::Write as _,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use super::{
    access,
    args::{Cli, Command, ExplainArgs, GetArgs, WatchArgs},
    exit::Exit,
    explain,
    gather::{self, Seen},
    get,
    output::{Format, Out},
    plane_name::Asked,
    planes::{self, Planes},
    record, report, rule,
    settle::{Effective, settle},
    shell, watch,
};
use crate::model::{Problem, ProblemKind, text};

/// Whether standard error is held to ASCII: it is one for the process, and so is its rule.
static ASCII: AtomicBool = AtomicBool::new(false);

/// Runs a command line to its end.
pub fn run(cli: Cli) -> Exit {
    let effective = settle(cli.global);
    ASCII.store(effective.global.ascii, Ordering::Relaxed);
    effective.warnings.iter().for_each(|w| note(&format!("warning: {w}")));
    let mut out = Out::new(effective.global.ascii);
    let result = match cli.command {
        None => super::screens::run(&effective),
        Some(command) => dispatch(command, &effective, &mut out),
    };
    result.unwrap_or_else(|problem| {
        note(&format!("error: {problem}"));
        Exit::of(&problem)
    })
}

/// A line for people, on standard error.
pub fn note(line: &str) {
    let safe = text::block(line);
    let safe = if ASCII.load(Ordering::Relaxed) { text::ascii(&safe) } else { safe };
    // Standard error may be a pipe that nobody reads any more: that is no reason to end differently.
    let _ = writeln!(std::io::stderr(), "{safe}");
}

fn dispatch(command: Command, e: &Effective, out: &mut Out) -> Result<Exit, Problem> {
    match command {
        Command::Get(args) => live(get(args, e, out)),
        Command::Explain(args) => live(explain(args, e, out)),
        Command::Watch(args) => live(follow(args, e, out)),
        Command::Access => live(show_access(e, out)),
        Command::Report => live(show_report(e, out)),
        Command::Record => live(take_recording(e)),
        Command::Validate(args) => super::validate::run(&args, e, out),
        Command::Plan(args) => live(super::plan_command::plan(&args, e, out)),
        Command::Apply(args) => live(super::apply::run(&args, e, out)),
        Command::Rule(args) => {
            let format = Format::choose(e.global.output.as_deref(), rule::FORMATS)?;
            match args.id {
                Some(id) => rule::print(out, format, &rule::find(&id)?),
                None => rule::list(out, format),
            }
            Ok(Exit::Ok)
        }
        Command::Completions(args) => {
            shell::completions(out, args.shell);
            Ok(Exit::Ok)
        }
        Command::Man => {
            shell::man(out);
            Ok(Exit::Ok)
        }
    }
}

/// Runs async work to its end on a runtime of its own.
fn live(work: impl Future<Output = Result<Exit, Problem>>) -> Result<Exit, Problem> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|e| Problem::new(ProblemKind::BadInput, format!("no runtime: {e}")))?;
    let result = runtime.block_on(work);
    // A login plugin or a resolver that hangs in a thread must not hold the answer back.
    runtime.shutdown_background();
    result
}

async fn seen(e: &Effective, asked: &Asked) -> Result<Seen, Problem> {
    let open = match asked {
        Asked::Namespace(ns) => Some(ns.as_str()),
        _ => None,
    };
    let seen = gather::gather(e, open).await?;
    seen.notes.iter().for_each(|n| note(&format!("note: {n}")));
    Ok(seen)
}

fn chosen(e: &Effective, asked: &Asked, seen: &Seen) -> Result<Planes, Problem> {
    let narrow = match &seen.online {
        Some(online) if !online.all => &online.namespaces,
        _ => &e.global.namespace,
    };
    // Only what the user named may be told as not enabled; namespaces that were merely found are silent when empty.
    let named = &e.global.namespace;
    let mut planes = planes::choose(seen, asked, narrow, &e.settings.deadlines)?;
    if *asked == Asked::All && seen.online.is_some() {
        planes.planes.retain(|p| p.state != crate::model::verdict::State::NotEnabled || named.contains(&p.namespace));
    }
    Ok(planes)
}

fn explain_nothing(seen: &Seen) {
    let all_forbidden = seen.world.reads().filter(|(_, _, r)| r.problem.is_some()).take(3);
    for (kind, scope, read) in all_forbidden {
        let place = match scope {
            crate::model::Scope::All => "the whole cluster".to_string(),
            crate::model::Scope::Namespace(ns) => format!("namespace {ns}"),
        };
        if let Some(p) = &read.problem {
            note(&format!("{} in {place}: {p}", kind.resource()));
        }
    }
}

fn ended(seen: &Seen, planes: &Planes, strict: bool) -> Exit {
    if !seen.anything_readable() {
        note("nothing that tells of a plane could be read");
        explain_nothing(seen);
        return Exit::NoAccess;
    }
    get::exit(&planes.planes, strict)
}

async fn get(args: GetArgs, e: &Effective, out: &mut Out) -> Result<Exit, Problem> {
    let format = Format::choose(e.global.output.as_deref(), get::FORMATS)?;
    let asked = Asked::read(args.plane.as_deref())?;
    let seen = seen(e, &asked).await?;
    let planes = chosen(e, &asked, &seen)?;
    get::print(out, format, &planes.planes, planes.one, seen.now);
    if planes.planes.is_empty() && matches!(format, Format::Table | Format::Wide) {
        note("no ComputePlane here: the owner of the parent tenant switches it on with computeplane: true");
    }
    Ok(ended(&seen, &planes, args.strict))
}

async fn explain(args: ExplainArgs, e: &Effective, out: &mut Out) -> Result<Exit, Problem> {
    let format = Format::choose(e.global.output.as_deref(), explain::FORMATS)?;
    if let Some([old, new]) = args.diff.as_deref() {
        let (old, new) = (explain::judged(old, e)?, explain::judged(new, e)?);
        explain::print_diff(out, format, &explain::diff(&old.planes, &new.planes));
        // The exit tells how things are now, also where nothing changed.
        return Ok(if new.readable { get::exit(&new.planes, args.strict) } else { Exit::NoAccess });
    }
    let asked = Asked::read(args.plane.as_deref())?;
    let seen = seen(e, &asked).await?;
    let planes = chosen(e, &asked, &seen)?;
    explain::print(out, format, &planes.planes, planes.one);
    Ok(ended(&seen, &planes, args.strict))
}

async fn follow(args: WatchArgs, e: &Effective, out: &mut Out) -> Result<Exit, Problem> {
    let format = Format::choose(e.global.output.as_deref(), watch::FORMATS)?;
    let until = args.until.as_deref().map(watch::Until::read).transpose()?;
    let asked = Asked::read(args.plane.as_deref())?;
    let only = match &asked {
        Asked::Namespace(ns) => Some(ns.clone()),
        _ => None,
    };
    let timeout = args.timeout.and_then(|d| std::time::Duration::try_from(d).ok()).filter(|d| !d.is_zero());
    let seen = seen(e, &asked).await?;
    if !seen.anything_readable() {
        return Ok(ended(&seen, &Planes { planes: Vec::new(), one: false }, false));
    }
    let watcher = watch::Watcher { only, until, timeout, deadlines: &e.settings.deadlines, format };
    Ok(watcher.run(out, seen).await)
}

/// Commands that ask a server don't work on dumps.
fn needs_cluster(e: &Effective, command: &str) -> Result<(), Problem> {
    match e.global.from {
        Some(_) => Err(Problem::new(ProblemKind::BadInput, format!("{command} asks a server; it can't work on a dump (--from)"))),
        None => Ok(()),
    }
}

async fn show_access(e: &Effective, out: &mut Out) -> Result<Exit, Problem> {
    needs_cluster(e, "access")?;
    let format = Format::choose(e.global.output.as_deref(), access::FORMATS)?;
    let connector = e.connector()?;
    let link = connector.open(e.global.context.as_deref(), crate::cluster::door::Login::Interactive).await.map_err(Problem::from)?;
    let found = link.session.namespaces(&e.global.namespace).await;
    if found.names.is_empty() {
        let why = found.problem.unwrap_or_else(|| Problem::new(ProblemKind::NotFound, "no namespace is known"));
        return Err(why.hint("name one with -n"));
    }
    let access = link.session.access(&found.names).await;
    access::print(out, format, &access);
    let answered = access.namespaces.iter().any(|n| n.rules.iter().any(|r| r.allowed.is_some()));
    if !answered && access.identity.is_none() {
        note(&format!("error: no question was answered: {}", access.boundary.how));
    }
    Ok(access::exit(&access))
}

async fn show_report(e: &Effective, out: &mut Out) -> Result<Exit, Problem> {
    let format = Format::choose(e.global.output.as_deref(), report::FORMATS)?;
    let path = e.audit_path();
    let tampered = path.as_deref().and_then(report::Log::tampered);
    let seen = match &tampered {
        None => seen(e, &Asked::All).await?,
        // The report is what tells of the tampering: it can't be kept from running by it.
        Some(log) => {
            note(&format!("{}: the chain is broken, so the requests of this report are not added to it; it lists them itself", log.path));
            seen(&e.without_log(), &Asked::All).await?
        }
    };
    let planes = chosen(e, &Asked::All, &seen)?.planes;
    let mut report = match &seen.online {
        None => report::Report::offline(seen.context.clone(), seen.now, planes),
        Some(online) => online_report(&seen, online, planes).await,
    };
    let broken = seen.online.as_ref().and_then(|o| o.connector.trail().broken());
    let there = |p: &std::path::PathBuf| seen.online.is_some() || p.exists();
    report.audit_log = tampered.or_else(|| path.filter(there).map(|p| report::Log::verify(&p, broken)));
    report::print(out, format, &report);
    let broken = report.audit_log.as_ref().is_some_and(|l| l.problem.is_some());
    Ok(match broken {
        true => Exit::Bad,
        // The report says that much for every plane; the code is for scripts.
        false if !seen.anything_readable() => {
            explain_nothing(&seen);
            Exit::NoAccess
        }
        false => Exit::Ok,
    })
}

async fn online_report(seen: &Seen, online: &gather::Online, planes: Vec<crate::model::verdict::Plane>) -> report::Report {
    let names = if online.all { planes.iter().map(|p| p.namespace.clone()).collect() } else { online.namespaces.clone() };
    let session = &online.link.session;
    let access = session.access(&names).await;
    report::Report {
        kind: "Report",
        taken_at: seen.now,
        console: console(),
        context: session.info().clone(),
        server_version: session.server_version().await.ok(),
        namespaces: names,
        planes,
        access: Some(access),
        requests: report::requests(online.connector.trail()),
        audit_log: None,
    }
}

/// Name and version of this console.
pub fn console() -> String {
    format!("planedeck {}", env!("CARGO_PKG_VERSION"))
}

async fn take_recording(e: &Effective) -> Result<Exit, Problem> {
    needs_cluster(e, "record")?;
    let Some(file) = e.global.output.as_deref() else {
        return Err(Problem::new(ProblemKind::BadInput, "record needs a file: -o FILE"));
    };
    record::writable(Path::new(file))?;
    let seen = seen(e, &Asked::All).await?;
    let Some(online) = seen.online.as_ref().filter(|_| seen.anything_readable()) else {
        // A recording of nothing must not replace one of something.
        note("nothing that tells of a plane could be read; no recording was written");
        explain_nothing(&seen);
        return Ok(Exit::NoAccess);
    };
    let recording = record::take(online).await;
    record::write(Path::new(file), &recording)?;
    let refused = recording.reads.iter().filter(|r| r.problem.is_some()).count();
    note(&format!(
        "{file}: {} objects at {}, {refused} of {} sources could not be read",
        recording.objects.len(),
        recording.taken_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        recording.reads.len()
    ));
    Ok(Exit::Ok)
}
