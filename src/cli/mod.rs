//! The command line: one file a subcommand. Owns dispatch; must not judge or decide anything itself.

pub mod args;
pub mod exit;
pub mod get;
pub mod offline;
pub mod output;
pub mod plane_name;
pub mod shell;
pub mod validate;
