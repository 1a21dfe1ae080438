//! No command: the screens. Owns putting the pieces together; everything else is elsewhere.

use std::sync::Arc;

use super::{exit::Exit, settle::Effective};
use crate::{
    config::ColorWhen,
    keys::Keymap,
    model::{Problem, ProblemKind, Time},
    runtime::{
        console::{self, Start},
        say, terminal,
    },
    state::{Judge, Settings, State},
    ui::theme::Theme,
};

/// Opens the screens and runs until somebody leaves.
///
/// # Errors
/// No usable terminal, kubeconfig or audit log.
pub fn run(e: &Effective) -> Result<Exit, Problem> {
    if e.global.from.is_some() {
        return Err(Problem::new(ProblemKind::BadInput, "the screens need a cluster or --demo")
            .hint("on a dump use `planedeck explain --from …` or `get`"));
    }
    if let Some(why) = terminal::unusable() {
        return Err(Problem::new(ProblemKind::BadInput, why));
    }
    let connector = Arc::new(e.connector()?);
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

/// Colours by flag, NO_COLOR and settings. Without colour nothing that sets one may be written: a bare reset would take the highlight with it.
fn theme(e: &Effective) -> Theme {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) || std::env::var("TERM").is_ok_and(|t| t == "dumb");
    let colored = match e.global.color.unwrap_or_default() {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => !no_color && e.settings.theme.as_deref() != Some("mono"),
    };
    crossterm::style::force_color_output(true);
    let theme = if colored { Theme::ansi() } else { Theme::mono() };
    theme.with_ascii(e.global.ascii)
}
