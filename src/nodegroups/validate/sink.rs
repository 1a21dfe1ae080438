//! Collecting findings and putting them in the platform's order (3.6, "Order of the first error"). Must not know any rule's condition.

use super::{
    super::{
        document::TextProblem,
        finding::{Finding, Profile, Severity, Stage},
    },
    table,
};

/// When the platform comes to a check, within one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The API or kubectl.
    Write,
    /// The module's schema.
    ParentSchema,
    /// The module's templates.
    ParentRender,
    /// Applying the pool releases (split).
    ParentApply,
    /// The schema of the cluster's or pool's release.
    ChildSchema,
    /// Its templates.
    Render,
    /// The post-renderer, which parses what was rendered.
    Post,
    /// Applying what was rendered; the step is the kind's place in the order of installing.
    Apply,
    /// Never refused.
    Late,
}

/// A finding under construction.
#[derive(Debug, Clone)]
pub struct Hit {
    id: &'static str,
    path: String,
    message: String,
    value: Option<String>,
    fix: Option<String>,
    severity: Option<Severity>,
    stage: Option<Stage>,
    phase: Option<Phase>,
    group: usize,
    step: usize,
    assumed: bool,
}

impl Hit {
    /// A finding of a rule at a path.
    pub fn new(id: &'static str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Hit {
            id,
            path: path.into(),
            message: message.into(),
            value: None,
            fix: None,
            severity: None,
            stage: None,
            phase: None,
            group: 0,
            step: 0,
            assumed: false,
        }
    }
    /// What stands there.
    pub fn value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(value.into());
        self
    }
    /// What to do, instead of the rule's own words.
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
    /// Another severity than the rule's.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }
    /// Another stage than the rule's.
    pub fn stage(mut self, stage: Stage) -> Self {
        self.stage = Some(stage);
        self
    }
    /// When the platform comes to it.
    pub fn at(mut self, phase: Phase, group: usize, step: usize) -> Self {
        (self.phase, self.group, self.step) = (Some(phase), group, step);
        self
    }
    /// Rests on the bundled instance types.
    pub fn assumed(mut self, assumed: bool) -> Self {
        self.assumed = assumed;
        self
    }
}

type Rank = (usize, usize, usize, usize);

/// The findings of one document so far.
#[derive(Debug)]
pub struct Sink {
    profile: Profile,
    found: Vec<(Rank, Finding)>,
}

impl Sink {
    /// An empty one.
    pub fn new(profile: Profile) -> Self {
        Sink { profile, found: Vec::new() }
    }

    /// True for the layout with a release for each pool.
    pub fn split(&self) -> bool {
        self.profile == Profile::Split
    }

    /// Takes a finding.
    pub fn push(&mut self, hit: Hit) {
        let rule = table::rule(hit.id);
        let default = rule.map_or(Stage::Runtime, |r| if self.profile == Profile::Split { r.split } else { r.presplit });
        let stage = hit.stage.unwrap_or(default);
        let phase = hit.phase.unwrap_or(match stage {
            Stage::Write => Phase::Write,
            Stage::Module => Phase::ParentRender,
            Stage::Cluster | Stage::Pool => Phase::Render,
            Stage::Admission => Phase::Apply,
            Stage::Runtime => Phase::Late,
        });
        let phase = if stage == Stage::Runtime { Phase::Late } else { phase };
        let finding = Finding {
            id: hit.id,
            severity: hit.severity.or(rule.map(|r| r.severity)).unwrap_or(Severity::Error),
            stage,
            path: hit.path,
            value: hit.value,
            message: hit.message,
            fix: hit.fix.unwrap_or_else(|| rule.map_or_else(String::new, |r| r.fix.to_string())),
            first: false,
            assumed: hit.assumed,
            line: None,
            column: None,
        };
        self.found.push((self.rank(phase, hit.group, hit.step), finding));
    }

    /// Takes what is wrong with the text itself.
    pub fn text(&mut self, problem: &TextProblem) {
        self.push(Hit::new(problem.id, problem.path.clone(), problem.message.clone()));
        if let Some((_, f)) = self.found.last_mut() {
            (f.line, f.column, f.value) = (problem.line, problem.column, problem.value.clone());
        }
    }

    /// Pools of a split platform fail one by one; before the split a phase fails for all.
    fn rank(&self, phase: Phase, group: usize, step: usize) -> Rank {
        match (phase, self.profile) {
            (Phase::Write, _) => (0, 0, 0, step),
            (Phase::ParentSchema, _) => (1, group, 0, step),
            (Phase::ParentRender, _) => (2, step, group, 0),
            (Phase::ParentApply, _) => (3, group, 0, step),
            (Phase::Late, _) => (9, group, 0, step),
            (Phase::ChildSchema, Profile::Split) => (4, group, 0, step),
            (Phase::Render, Profile::Split) => (4, group, 1, step),
            (Phase::Post, Profile::Split) => (4, group, 2, step),
            (Phase::Apply, Profile::Split) => (4, group, 3, step),
            (Phase::ChildSchema, Profile::Presplit) => (4, group, 0, step),
            (Phase::Render, Profile::Presplit) => (5, group, 0, step),
            (Phase::Post, Profile::Presplit) => (6, group, 0, step),
            (Phase::Apply, Profile::Presplit) => (7, step, group, 0),
        }
    }

    /// Everything, errors first, in the platform's order; the first error is marked.
    pub fn finish(self) -> Vec<Finding> {
        let mut found = self.found;
        found.sort_by(|(ra, a), (rb, b)| (a.severity, ra, &a.path, a.id, &a.message).cmp(&(b.severity, rb, &b.path, b.id, &b.message)));
        let mut findings: Vec<Finding> = found.into_iter().map(|(_, f)| f).collect();
        findings.dedup();
        if let Some(first) = findings.first_mut().filter(|f| f.severity == Severity::Error) {
            first.first = true;
        }
        findings
    }
}
