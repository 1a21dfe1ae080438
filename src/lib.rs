//! planedeck: a terminal console for Cozystack ComputePlanes.
//!
//! This page is the map of the house. Folders are layers; an import may point down only, and `tests/architecture.rs` fails when one points up.
//!
//! | folder | owns | must not |
//! |---|---|---|
//! | [`cli`] | one file per subcommand, output formats, exit codes | judge or decide anything itself |
//! | [`runtime`] | the select loop, effects, the terminal, the clock | hold screen logic |
//! | [`ui`] | paints [`state`]; theme, widgets | change state, name `cluster` or `runtime` |
//! | [`state`] | `State`, `Msg`, `Action`, `Effect`; pure updates | do I/O, name tokio, kube, crossterm, ratatui |
//! | [`keys`] | chords, keymap, the action registry | know screens' contents |
//! | [`nodegroups`] | the platform's rules for `nodeGroups`: validation, forecast, merge, patch | do I/O |
//! | [`health`] | signals to verdicts, with evidence and next steps | do I/O, read a clock |
//! | [`model`] | typed projections, names, quantities, coverage, problems | know any other folder |
//! | [`cluster`] | kubeconfig, login, guard, watches, writes; the only user of kube | name `state` or `ui` |
//! | [`demo`] | an embedded platform behind the same client | be known by anything above the request level |
//! | [`config`] | settings file, environment, folders | hold defaults that live elsewhere |

pub mod cli;
pub mod cluster;
pub mod config;
pub mod demo;
pub mod health;
pub mod keys;
pub mod model;
pub mod nodegroups;
pub mod runtime;
pub mod state;
pub mod ui;
