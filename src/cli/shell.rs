//! `completions` and `man`: text made from the argument types. Must not do anything else.

use clap::CommandFactory as _;

use super::{args::Cli, output::Out};

/// Prints completions for a shell.
pub fn completions(out: &mut Out, shell: clap_complete::Shell) {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "planedeck", &mut text);
    out.raw(&String::from_utf8_lossy(&text));
}

/// Prints the man page, the pages of all subcommands after the main one.
pub fn man(out: &mut Out) {
    let mut text = Vec::new();
    let mut command = Cli::command();
    command.build();
    let subcommands = command.get_subcommands().cloned().collect::<Vec<_>>();
    let pages = std::iter::once(command).chain(subcommands);
    for page in pages {
        if clap_mangen::Man::new(page).render(&mut text).is_err() {
            break;
        }
    }
    out.raw(&String::from_utf8_lossy(&text));
}
