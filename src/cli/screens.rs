//! No command: the screens. Owns putting the pieces together; everything else is elsewhere.

use std::sync::Arc;

use super::{exit::Exit, offline, settle::Effective};
use crate::{
    config::ColorWhen,
    keys::Keymap,
    model::{Problem, ProblemKind, Time, World, context::ContextInfo},
    runtime::{
        connect::Connector,
        console::{self, Start},
        say, terminal,
    },
    state::{Judge, Settings, State},
    ui::{theme::Theme, themes::BUILT_IN},
};

/// Opens the screens and runs until somebody leaves.
///
/// # Errors
/// No usable terminal, kubeconfig or audit log.
pub fn run(e: &Effective) -> Result<Exit, Problem> {
    if let Some(why) = terminal::unusable() {
        return Err(Problem::new(ProblemKind::BadInput, why));
    }
    let (connector, recorded) = origin(e)?;
    let connector = Arc::new(connector);
    for note in connector.notes() {
        say(&format!("note: {note}"));
    }
    let judge = Judge::engine();
    let settings = Settings { ascii: e.global.ascii, read_only: e.global.read_only, deadlines: e.settings.deadlines };
    let (keymap, problems) = Keymap::new(&e.settings.keys);
    for p in problems {
        say(&format!("warning: {}", p.text()));
    }
    let start = Start {
        connector: Arc::clone(&connector),
        state: State::new(judge, settings, keymap, Time::now()),
        theme: theme(e),
        context: e.global.context.clone(),
        namespaces: e.global.namespace.clone(),
        all: e.global.all_namespaces,
        mouse: e.settings.mouse,
        recorded,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|e| Problem::new(ProblemKind::BadInput, format!("no runtime: {e}")))?;
    let ended = runtime.block_on(console::run(start));
    runtime.shutdown_background();
    connector.trail().close();
    match ended {
        Ok(0) => Ok(Exit::Ok),
        Ok(code) => Ok(Exit::Signal(code)),
        Err(e) => Err(Problem::new(ProblemKind::BadInput, format!("the terminal: {e}"))),
    }
}

/// A cluster, the embedded platform, or a recording with its world and time.
fn origin(e: &Effective) -> Result<(Connector, Option<(World, Time)>), Problem> {
    let Some(path) = &e.global.from else { return Ok((e.connector()?, None)) };
    let dump = offline::open(path, e.global.complete)?;
    dump.notes.iter().for_each(|n| say(&format!("note: {n}")));
    let at = e.global.now.or(dump.newest).unwrap_or_else(Time::now);
    let name = dump.context.clone().unwrap_or_else(|| path.display().to_string());
    let info = ContextInfo { name, server: "recording".into(), read_only: true, ..ContextInfo::default() };
    Ok((Connector::recorded(info), Some((dump.world, at))))
}

/// Colours by flag, NO_COLOR and settings. Without colour nothing that sets one may be written: a bare reset would take the highlight with it.
fn theme(e: &Effective) -> Theme {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) || std::env::var("TERM").is_ok_and(|t| t == "dumb");
    let colored = match e.global.color.unwrap_or_default() {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => !no_color && e.settings.theme.as_deref() != Some("mono"),
    };
    crossterm::style::force_color_output(true);
    let theme = if colored { chosen(e.settings.theme.as_deref().unwrap_or("terminal")) } else { Theme::mono() };
    theme.with_ascii(e.global.ascii)
}

/// The theme of the settings: a built-in name or a file. A mistake is told and never stops the console.
fn chosen(name: &str) -> Theme {
    if let Some(theme) = Theme::named(name) {
        return theme;
    }
    let shown = crate::model::text::line(name);
    if !name.contains('/') && !name.ends_with(".yaml") {
        let names = BUILT_IN.map(|(n, _)| n).join(", ");
        say(&format!("warning: theme: {shown:?} isn't known; allowed are terminal, {names}, or the path of a theme file"));
        return Theme::ansi();
    }
    match std::fs::read_to_string(name) {
        Ok(text) => {
            let (theme, mistakes) = Theme::read(&text);
            mistakes.iter().for_each(|m| say(&format!("warning: theme {shown}: {m}")));
            theme
        }
        Err(why) => {
            say(&format!("warning: theme {shown}: {why}"));
            Theme::ansi()
        }
    }
}
