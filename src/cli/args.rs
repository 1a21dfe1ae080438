//! The command line as types: flags, variables, commands. Owns names and help texts; must not act on them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, builder::FalseyValueParser};
use jiff::SignedDuration;

use crate::{
    config::{ColorWhen, duration},
    model::Time,
};

/// A terminal console for Cozystack ComputePlanes: what is stuck and why, and safe edits of node groups.
#[derive(Debug, Parser)]
#[command(name = "planedeck", version, about, max_term_width = 100, subcommand_help_heading = "Commands", disable_help_subcommand = true)]
pub struct Cli {
    /// Flags that every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do; without a command the screens open.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Flags of every command; each is also a variable `PLANEDECK_…` and, where it makes sense, a setting.
#[derive(Debug, Clone, Default, Args)]
pub struct Global {
    /// Kubeconfig file; without it KUBECONFIG, then ~/.kube/config
    #[arg(long, global = true, value_name = "PATH", env = "PLANEDECK_KUBECONFIG", help_heading = "Cluster")]
    pub kubeconfig: Option<PathBuf>,
    /// Kubeconfig context
    #[arg(long, global = true, value_name = "NAME", env = "PLANEDECK_CONTEXT", help_heading = "Cluster")]
    pub context: Option<String>,
    /// Namespace to look in; may be repeated
    #[arg(short, long, global = true, value_name = "NS", env = "PLANEDECK_NAMESPACE", value_delimiter = ',', help_heading = "Cluster")]
    pub namespace: Vec<String>,
    /// Look in all namespaces (needs cluster-wide list rights)
    #[arg(short = 'A', long, global = true, env = "PLANEDECK_ALL_NAMESPACES", value_parser = FalseyValueParser::new(), help_heading = "Cluster")]
    pub all_namespaces: bool,
    /// Act as this user
    #[arg(long = "as", global = true, value_name = "USER", env = "PLANEDECK_AS", help_heading = "Cluster")]
    pub as_user: Option<String>,
    /// Act as this group; may be repeated
    #[arg(
        long = "as-group",
        global = true,
        value_name = "GROUP",
        env = "PLANEDECK_AS_GROUP",
        value_delimiter = ',',
        help_heading = "Cluster"
    )]
    pub as_group: Vec<String>,
    /// Longest wait for one answer, e.g. 10s
    #[arg(long, global = true, value_name = "DURATION", env = "PLANEDECK_REQUEST_TIMEOUT", value_parser = duration, help_heading = "Cluster")]
    pub request_timeout: Option<SignedDuration>,
    /// Only get, list, watch and self-reviews leave this process; can't be lifted while it runs
    #[arg(long, global = true, env = "PLANEDECK_READ_ONLY", value_parser = FalseyValueParser::new(), help_heading = "Safety")]
    pub read_only: bool,
    /// Write every request that was asked for to this file
    #[arg(long, global = true, value_name = "FILE", env = "PLANEDECK_AUDIT_LOG", help_heading = "Safety")]
    pub audit_log: Option<PathBuf>,
    /// In read-only mode: start even though no audit log can be written
    #[arg(long, global = true, conflicts_with = "audit_log", env = "PLANEDECK_NO_AUDIT_LOG", value_parser = FalseyValueParser::new(), help_heading = "Safety")]
    pub no_audit_log: bool,
    /// Run on the embedded platform; no kubeconfig is read
    #[arg(long, global = true, value_name = "SCENARIO", num_args = 0..=1, require_equals = true, default_missing_value = "default", env = "PLANEDECK_DEMO", help_heading = "Source")]
    pub demo: Option<String>,
    /// Offline: objects from a file, a folder or - (YAML, JSON, Lists, a recording)
    #[arg(
        long,
        global = true,
        value_name = "PATH",
        visible_alias = "replay",
        conflicts_with = "demo",
        env = "PLANEDECK_FROM",
        help_heading = "Source"
    )]
    pub from: Option<PathBuf>,
    /// With --from: the dump holds everything there was, so absence is a fact
    #[arg(long, global = true, env = "PLANEDECK_COMPLETE", value_parser = FalseyValueParser::new(), help_heading = "Source")]
    pub complete: bool,
    /// With --from: the clock to judge by (default: the newest time in the dump)
    #[arg(long, global = true, value_name = "RFC3339", env = "PLANEDECK_NOW", value_parser = time, help_heading = "Source")]
    pub now: Option<Time>,
    /// Settings file
    #[arg(long, global = true, value_name = "PATH", env = "PLANEDECK_CONFIG", help_heading = "Looks")]
    pub config: Option<PathBuf>,
    /// ASCII only: signs and data
    #[arg(long, global = true, env = "PLANEDECK_ASCII", value_parser = FalseyValueParser::new(), help_heading = "Looks")]
    pub ascii: bool,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", value_enum, env = "PLANEDECK_COLOR", help_heading = "Looks")]
    pub color: Option<ColorWhen>,
    /// Output format: table, wide, json, jsonl, yaml, csv or markdown, where it makes sense
    #[arg(short, long, global = true, value_name = "FORMAT", env = "PLANEDECK_OUTPUT", help_heading = "Looks")]
    pub output: Option<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List planes with state, version, pools, nodes, age and why
    Get(GetArgs),
    /// Say what is wrong, on which evidence, and what to do
    Explain(ExplainArgs),
    /// Say what a validation rule or a verdict means
    Rule(RuleArgs),
    /// Check a ComputePlane manifest or its nodeGroups by the platform's own rules
    Validate(ValidateArgs),
    /// Forecast what an edit will do, and show the patch
    Plan(PlanArgs),
    /// Plan, confirm, write, verify, and follow the rollout if asked
    Apply(ApplyArgs),
    /// Print a line for each change of a verdict
    Watch(WatchArgs),
    /// Show what this identity may see and do, and the credential boundary
    Access,
    /// Print the auditor's inventory
    Report,
    /// Write a redacted recording of what can be seen to the file named by -o (gzip when it ends in .gz)
    Record,
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print the man page
    Man,
}

/// `get`.
#[derive(Debug, Args)]
pub struct GetArgs {
    /// A plane, as NAMESPACE/NAME, NAMESPACE or NAME
    #[arg(value_name = "[NS/]NAME")]
    pub plane: Option<String>,
    /// Exit 1 also where a plane's state is unknown
    #[arg(long)]
    pub strict: bool,
}

/// `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A plane, as NAMESPACE/NAME, NAMESPACE or NAME
    #[arg(value_name = "[NS/]NAME")]
    pub plane: Option<String>,
    /// Exit 1 also where a plane's state is unknown
    #[arg(long)]
    pub strict: bool,
    /// Compare two dumps or recordings
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with_all = ["from", "demo"])]
    pub diff: Option<Vec<PathBuf>>,
}

/// `rule`.
#[derive(Debug, Args)]
pub struct RuleArgs {
    /// A rule id or a verdict name; without it all are listed
    pub id: Option<String>,
}

/// `validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// File with a ComputePlane, a nodeGroups map or the values around it; - for standard input
    #[arg(short, long, value_name = "FILE")]
    pub file: PathBuf,
    /// Layout of the platform: pools in their own releases (split) or not (presplit)
    #[arg(long, value_enum)]
    pub profile: Option<ProfileArg>,
}

/// `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// File with the wanted state; - for standard input
    #[arg(short, long, value_name = "AFTER")]
    pub file: PathBuf,
    /// File with the state before; without it the live plane
    #[arg(long, value_name = "BEFORE")]
    pub against: Option<PathBuf>,
    /// Layout of the platform
    #[arg(long, value_enum)]
    pub profile: Option<ProfileArg>,
}

/// `apply`.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// File with the wanted state; - for standard input
    #[arg(short, long, value_name = "AFTER")]
    pub file: PathBuf,
    /// Don't ask
    #[arg(long)]
    pub yes: bool,
    /// Follow the rollout at most this long
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub wait: Option<SignedDuration>,
    /// Layout of the platform
    #[arg(long, value_enum)]
    pub profile: Option<ProfileArg>,
}

/// `watch`.
#[derive(Debug, Args)]
pub struct WatchArgs {
    /// A plane, as NAMESPACE/NAME, NAMESPACE or NAME
    #[arg(value_name = "[NS/]NAME")]
    pub plane: Option<String>,
    /// End once every plane watched is in this state (or severity)
    #[arg(long, value_name = "STATE")]
    pub until: Option<String>,
    /// Give up after this long
    #[arg(long, value_name = "D", value_parser = duration)]
    pub timeout: Option<SignedDuration>,
}

/// `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell
    pub shell: clap_complete::Shell,
}

/// Layout of the platform's pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ProfileArg {
    /// Pools in their own releases.
    Split,
    /// Pools inside the cluster release.
    Presplit,
}

fn time(s: &str) -> Result<Time, String> {
    s.parse::<Time>().map_err(|_| format!("{s:?} is no RFC 3339 time; allowed: 2026-11-30T10:00:00Z"))
}
