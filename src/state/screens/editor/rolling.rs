//! An edit on its way through the platform, as a text. Owns the following and its wording; judging a stage is the node groups' own logic.

use crate::{
    model::{Time, text, verdict::Severity},
    nodegroups::{
        finding::Profile,
        rollout::{Outcome, Progress, Rollout, StepKind, StepState},
    },
    state::{
        doc::{Doc, Role, Scroll, span},
        geometry::Geometry,
        observe,
        store::Sphere,
        words,
    },
};

/// A rollout being followed.
#[derive(Debug)]
pub struct Rolling {
    /// The follower.
    pub rollout: Rollout,
    /// The last look.
    pub progress: Option<Progress>,
    /// The text.
    pub doc: Doc,
    /// Where one is in it.
    pub scroll: Scroll,
    namespace: String,
    layout: Profile,
    /// When it ended.
    ended: Option<Time>,
}

impl Rolling {
    /// Starts to follow.
    pub fn new(rollout: Rollout, namespace: &str, layout: Profile) -> Rolling {
        Rolling {
            rollout,
            progress: None,
            doc: Doc::default(),
            scroll: Scroll::default(),
            namespace: namespace.to_string(),
            layout,
            ended: None,
        }
    }

    /// True while time alone can change what is shown.
    pub fn is_moving(&self) -> bool {
        self.ended.is_none()
    }

    /// Looks again.
    pub fn refresh(&mut self, sphere: Option<&Sphere>, now: Time, g: Geometry) {
        if let Some(s) = sphere {
            let progress = self.rollout.observe(&observe::observe(&s.world, &self.namespace, self.layout, now));
            let over = matches!(progress.outcome, Outcome::Landed | Outcome::Superseded(_));
            self.ended = if over { self.ended.or(Some(now)) } else { None };
            self.progress = Some(progress);
        }
        self.doc = self.text(now, g.width);
        self.scroll.fit(self.doc.lines.len(), g.text());
    }

    fn text(&self, now: Time, width: u16) -> Doc {
        let mut doc = Doc::new(width);
        let Some(progress) = &self.progress else { return doc };
        let until = self.ended.unwrap_or(now);
        let (role, says) = outcome(&progress.outcome);
        doc.wrapped(vec![span(Role::Normal, " ")], role, &says);
        doc.line(vec![span(Role::Dim, format!(" {} since the write", words::ago(self.rollout.edit().at, until)))]);
        doc.blank();
        for step in &progress.steps {
            let (sign, role) = sign(step.state);
            let count = if step.total > 0 { format!("{}/{}", step.done, step.total) } else { String::new() };
            let head = vec![
                span(role, format!(" {sign:<13}")),
                span(Role::Strong, format!("{:<10}", name(step.kind))),
                span(Role::Normal, format!("{count:<7}")),
            ];
            doc.wrapped(head, Role::Dim, &text::block(&step.text));
        }
        doc.blank();
        let failed = matches!(progress.outcome, Outcome::Stopped { .. } | Outcome::Superseded(_));
        let says = if failed {
            "p opens the values from before this edit as a draft; nothing is written until its own review"
        } else {
            "esc leaves; the platform goes on by itself. p opens the values from before this edit as a draft"
        };
        doc.wrapped(vec![span(Role::Accent, " → ")], Role::Normal, says);
        doc
    }
}

fn outcome(o: &Outcome) -> (Role, String) {
    match o {
        Outcome::Following => (Role::Sev(Severity::Progressing), "◔ following: not landed yet".to_string()),
        Outcome::Landed => (Role::Sev(Severity::Ready), "✔ landed: these values are what runs".to_string()),
        Outcome::LandedAsFarAsVisible(hidden) => {
            let list = hidden.iter().map(|k| name(*k)).collect::<Vec<_>>().join(", ");
            (Role::Sev(Severity::Unknown), format!("✔ landed as far as may be seen; not visible: {list}"))
        }
        Outcome::Stopped { step, pool, text, later_edit } => {
            let place = pool.as_ref().map(|p| format!(" (pool {p})")).unwrap_or_default();
            let later = if *later_edit { "; somebody changed other fields after this edit, so it may be theirs" } else { "" };
            (Role::Sev(Severity::Failing), format!("✖ stopped at {}{place}: {text}{later}", name(*step)))
        }
        Outcome::Superseded(paths) => {
            let list = paths.iter().map(|p| p.dotted()).collect::<Vec<_>>().join(", ");
            (Role::Sev(Severity::Degraded), format!("▲ superseded: somebody else's values stand in {list}"))
        }
    }
}

fn sign(s: StepState) -> (&'static str, Role) {
    match s {
        StepState::Waiting => ("◌ waiting", Role::Dim),
        StepState::Running => ("◔ running", Role::Sev(Severity::Progressing)),
        StepState::Done => ("✔ done", Role::Sev(Severity::Ready)),
        StepState::Failed => ("✖ failed", Role::Sev(Severity::Failing)),
        StepState::NotVisible => ("○ not visible", Role::Sev(Severity::Unknown)),
    }
}

fn name(k: StepKind) -> &'static str {
    match k {
        StepKind::Accepted => "accepted",
        StepKind::Module => "module",
        StepKind::Pools => "pools",
        StepKind::Machines => "machines",
        StepKind::Nodes => "nodes",
    }
}
