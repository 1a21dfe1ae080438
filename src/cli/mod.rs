//! The command line: one file a subcommand. Owns dispatch; must not judge or decide anything itself.

pub mod access;
pub mod apply;
pub mod args;
pub mod exit;
pub mod explain;
pub mod facts;
pub mod gather;
pub mod get;
pub mod offline;
pub mod output;
pub mod plan;
pub mod plan_command;
pub mod plane_name;
pub mod planes;
pub mod record;
pub mod report;
pub mod rule;
pub mod run;
pub mod screens;
pub mod settle;
pub mod shell;
pub mod validate;
pub mod watch;
