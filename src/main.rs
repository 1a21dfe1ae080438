//! The binary: arguments in, exit code out.

use clap::Parser as _;
use planedeck::cli::{args::Cli, run::run};

fn main() -> std::process::ExitCode {
    // Reports of panics and errors stay on one line and never hold values from a kubeconfig.
    let _ = color_eyre::install();
    std::process::ExitCode::from(run(Cli::parse()).code())
}
