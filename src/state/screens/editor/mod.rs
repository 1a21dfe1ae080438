//! The node-group editor: a draft of `nodeGroups` with its past, judged anew after every key. Owns the draft; what keys do is in [`act`], the
//! way to the cluster in [`review`] and [`rolling`]. Sends nothing itself.

pub mod act;
pub mod form;
pub mod past;
pub mod review;
pub mod rolling;
pub mod text;
pub mod view;
pub mod write;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{
    keys::Context,
    model::{Kind, ObjectRef, Time, projection::cozystack::App},
    nodegroups::{
        Groups,
        draft::{Draft, FileKind, PlaneKey, VERSION, file_name},
        finding::{Finding, Profile, Severity},
        forecast::{self, Facts, Forecast, QuotaFact},
        instance_types::Offer,
        path,
        validate::{self, validate_groups},
    },
    state::{facts, field::TextField, geometry::Geometry, store::Sphere},
};
use form::Row;

/// Steps that can be undone.
const PAST: usize = 500;

/// Which side has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum Pane {
    #[default]
    Pools,
    Fields,
}

/// What a text being typed is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Purpose {
    Field,
    Add,
    Clone,
    Rename,
}

/// A text being typed.
#[derive(Debug, Clone)]
pub struct Input {
    /// What for.
    pub purpose: Purpose,
    /// The text.
    pub field: TextField,
    /// The draft before the first key of it.
    before: Groups,
}

/// How far the edit is.
#[derive(Debug)]
pub enum Stage {
    /// Being edited.
    Form,
    /// Shown as YAML.
    Yaml(Box<text::Shown>),
    /// The plane is read again.
    Reading,
    /// Compared with what is live.
    Review(Box<review::Review>),
    /// The patch is on its way; it is never sent twice.
    Writing(Box<write::Sent>),
    /// Written and followed.
    Rolling(Box<rolling::Rolling>),
}

/// What is known beside the draft.
#[derive(Debug, Default)]
pub struct Known {
    /// Layout of the platform.
    pub layout: Profile,
    /// Instance types on offer.
    pub offer: Offer,
    /// Machines by pool.
    pub machines: BTreeMap<String, u32>,
    /// Quotas.
    pub quotas: Vec<QuotaFact>,
    /// What the rules may know.
    pub context: validate::Context,
}

/// The editor of one plane.
#[derive(Debug)]
pub struct Editor {
    /// The plane, with the place it lives in.
    pub key: PlaneKey,
    /// The plane.
    pub object: ObjectRef,
    /// `nodeGroups` as read when the edit began.
    pub base: Groups,
    /// `nodeGroups` as edited.
    pub mine: Groups,
    /// Which side has the keys.
    pub pane: Pane,
    /// Pool under the cursor.
    pub pool: usize,
    /// Row under the cursor.
    pub row: usize,
    /// A text being typed.
    pub input: Option<Input>,
    /// How far it is.
    pub stage: Stage,
    /// Findings of the draft.
    pub findings: Vec<Finding>,
    /// What the draft would do to the base.
    pub forecast: Forecast,
    /// What is painted.
    pub view: view::View,
    /// A draft that was found, but not opened.
    pub offer: Option<Draft>,
    /// Why nothing can be saved, if so.
    pub lock: Option<String>,
    /// The server said that this identity may not write; its reason.
    pub refused: Option<String>,
    /// Number of the request that is waited for.
    pub request: u64,
    /// The text that the person's own editor has.
    pub outside: Option<String>,
    /// A text that couldn't be taken, with what is wrong on top.
    pub rejected: Option<String>,
    /// Surroundings.
    pub known: Known,
    undo: Vec<(Groups, Groups)>,
    redo: Vec<(Groups, Groups)>,
    walk: Option<past::Walk>,
    created: Time,
    /// What the file holds; `None` when there is none.
    saved: Option<Groups>,
    judged: Option<Groups>,
    /// A file of that name exists that can't be read: it is kept, not overwritten.
    unreadable: bool,
}

impl Editor {
    /// Opens a plane as it was read last; `None` when it wasn't.
    pub fn open(sphere: &Sphere, namespace: &str, (context, server): (&str, &str), now: Time) -> Option<Editor> {
        let o = sphere.world.list(Kind::ComputePlane, namespace).next()?;
        let base = App::of(o).map(|a| a.groups()).unwrap_or_default();
        let key = PlaneKey {
            context: context.to_string(),
            server: server.to_string(),
            namespace: namespace.to_string(),
            uid: o.meta.uid.to_string(),
        };
        let object = ObjectRef { kind: Kind::ComputePlane, namespace: namespace.to_string(), name: o.meta.name.to_string() };
        Some(Editor {
            key,
            object,
            mine: base.clone(),
            saved: None,
            base,
            pane: Pane::default(),
            pool: 0,
            row: 0,
            input: None,
            stage: Stage::Form,
            findings: Vec::new(),
            forecast: Forecast::default(),
            view: view::View::default(),
            offer: None,
            lock: None,
            refused: None,
            request: 0,
            outside: None,
            rejected: None,
            known: Known::default(),
            undo: Vec::new(),
            redo: Vec::new(),
            walk: None,
            created: now,
            judged: None,
            unreadable: false,
        })
    }

    /// Where keys are pressed.
    pub fn context(&self) -> Context {
        match &self.stage {
            Stage::Form | Stage::Reading => Context::Editor,
            Stage::Yaml(_) => Context::Text,
            Stage::Review(_) | Stage::Writing(_) => Context::Review,
            Stage::Rolling(_) => Context::Rollout,
        }
    }

    /// True while a text has the keys.
    pub fn is_typing(&self) -> bool {
        match &self.stage {
            Stage::Form => self.input.is_some(),
            Stage::Review(r) => r.confirm.is_some(),
            _ => false,
        }
    }

    /// The text that has the keys.
    pub fn field_mut(&mut self) -> Option<&mut TextField> {
        match &mut self.stage {
            Stage::Form => self.input.as_mut().map(|i| &mut i.field),
            Stage::Review(r) => r.confirm.as_mut(),
            _ => None,
        }
    }

    /// Name of the pool under the cursor.
    pub fn pool_name(&self) -> Option<&str> {
        self.mine.keys().nth(self.pool).map(String::as_str)
    }

    /// Rows of the pool under the cursor.
    pub fn rows(&self) -> Vec<Row> {
        self.mine.values().nth(self.pool).map(form::rows).unwrap_or_default()
    }

    /// Fields that differ from the base.
    pub fn changes(&self) -> usize {
        path::differences(&self.base, &self.mine).len()
    }

    /// Name of the draft's file.
    pub fn file(&self) -> String {
        file_name(FileKind::Draft, &self.key)
    }

    /// Name of the file of a text that couldn't be taken.
    pub fn text_file(&self) -> String {
        file_name(FileKind::Text, &self.key)
    }

    /// Replaces the draft as one step that can be undone.
    pub fn change(&mut self, to: Groups) {
        let base = self.base.clone();
        self.change_with(base, to);
    }

    /// The same with another base: which values are mine changes with it, so both go into one step.
    pub fn change_with(&mut self, base: Groups, to: Groups) {
        if to == self.mine && base == self.base {
            return;
        }
        let was = (std::mem::replace(&mut self.base, base), std::mem::replace(&mut self.mine, to));
        self.remember(was);
    }

    fn remember(&mut self, was: (Groups, Groups)) {
        self.undo.push(was);
        let surplus = self.undo.len().saturating_sub(PAST);
        self.undo.drain(..surplus);
        self.redo.clear();
        self.walk = None;
        self.judged = None;
    }

    /// Takes the last step back; false when there is none.
    pub fn undo(&mut self) -> bool {
        let Some((base, mine)) = self.undo.pop() else { return false };
        let was = (std::mem::replace(&mut self.base, base), std::mem::replace(&mut self.mine, mine));
        self.redo.push(was);
        self.walk = None;
        self.judged = None;
        true
    }

    /// Takes the last undo back; false when there is none.
    pub fn redo(&mut self) -> bool {
        let Some((base, mine)) = self.redo.pop() else { return false };
        let was = (std::mem::replace(&mut self.base, base), std::mem::replace(&mut self.mine, mine));
        self.undo.push(was);
        self.walk = None;
        self.judged = None;
        true
    }

    /// The plane holds these values now: the draft is done.
    pub fn settle_on(&mut self, live: Groups) {
        self.base.clone_from(&live);
        self.mine = live;
        self.undo.clear();
        self.redo.clear();
        self.judged = None;
    }

    /// A draft's file was read. An editor that wasn't touched opens it; undo goes back to what is live.
    pub fn loaded(&mut self, bytes: &[u8]) -> Result<Option<Time>, String> {
        let draft = match Draft::from_bytes(bytes) {
            Ok(d) if d.plane == self.key => d,
            Ok(_) => return self.keep_file("the draft file belongs to another plane".to_string()),
            Err(e) => return self.keep_file(e.to_string()),
        };
        let at = draft.updated;
        if self.mine != self.base || self.input.is_some() || !matches!(self.stage, Stage::Form) {
            self.offer = Some(draft);
        } else {
            self.take(draft);
        }
        Ok(Some(at))
    }

    fn keep_file(&mut self, why: String) -> Result<Option<Time>, String> {
        self.unreadable = true;
        Err(why)
    }

    /// Opens a draft: its base too, so that what changed on the cluster meanwhile is merged, not overwritten.
    pub fn take(&mut self, draft: Draft) {
        self.created = draft.created;
        self.saved = Some(draft.mine.clone());
        self.change_with(draft.base, draft.mine);
    }

    /// What is to be done about the draft's file, if anything: its new content, or `None` to delete it.
    ///
    /// # Errors
    /// Says why it can't be kept.
    pub fn unsaved(&mut self, now: Time) -> Result<Option<Option<Vec<u8>>>, String> {
        let untouched = self.mine == self.base;
        let kept = if untouched { self.saved.is_none() } else { self.saved.as_ref() == Some(&self.mine) };
        if self.unreadable || kept {
            return Ok(None);
        }
        self.saved = (!untouched).then(|| self.mine.clone());
        if untouched {
            return Ok(Some(None));
        }
        let draft = Draft {
            version: VERSION,
            plane: self.key.clone(),
            base: self.base.clone(),
            mine: self.mine.clone(),
            created: self.created,
            updated: now,
        };
        draft.to_bytes().map(|b| Some(Some(b))).map_err(|e| e.to_string())
    }

    /// Brings findings, forecast and text up to date.
    pub fn refresh(&mut self, sphere: Option<&Sphere>, now: Time, g: Geometry) {
        if self.mine.is_empty() {
            self.pane = Pane::Pools;
        }
        self.pool = self.pool.min(self.mine.len().saturating_sub(1));
        self.row = self.row.min(self.rows().len().saturating_sub(1));
        self.know(sphere);
        self.judge();
        match &mut self.stage {
            Stage::Rolling(r) => r.refresh(sphere, now, g),
            Stage::Review(r) => r.refresh(&self.key, g),
            Stage::Yaml(s) => s.refresh(&self.mine, &self.findings, g),
            _ => {}
        }
        self.view = view::make(self, g);
    }

    /// Options and machines come late and change rarely: collected anew each time they are needed, never assumed.
    fn know(&mut self, sphere: Option<&Sphere>) {
        let Some(s) = sphere else { return };
        let ns = self.key.namespace.clone();
        let layout = facts::seen_layout(&s.world, &ns).unwrap_or_default();
        let previous = facts::stored(&s.world, &ns).unwrap_or_else(|| self.base.clone());
        let context = facts::context(layout, Some((&s.world, &ns)), Some(previous));
        let machines = s.planes.get(ns.as_str()).map(|j| facts::machines(&j.plane.pools)).unwrap_or_default();
        let quotas = facts::quotas(&s.world, &ns);
        let moved = context.offer != self.known.offer
            || layout != self.known.layout
            || machines != self.known.machines
            || context.previous != self.known.context.previous
            || context.gpus != self.known.context.gpus
            || quotas != self.known.quotas;
        if moved {
            self.judged = None;
        }
        self.known = Known { layout, offer: context.offer.clone(), machines, quotas, context };
    }

    fn judge(&mut self) {
        if self.judged.as_ref() == Some(&self.mine) {
            return;
        }
        let (findings, forecast) = self.known.judge(&self.base, &self.mine);
        (self.findings, self.forecast) = (findings, forecast);
        self.judged = Some(self.mine.clone());
    }

    /// Errors and warnings of a pool.
    pub fn counts(&self, pool: &str) -> (usize, usize) {
        let root = view::place(&[pool.to_string()]);
        let mut counts = (0, 0);
        for f in self.findings.iter().filter(|f| view::within(&f.path, &root)) {
            match f.severity {
                Severity::Error => counts.0 += 1,
                Severity::Warning => counts.1 += 1,
                Severity::Info => {}
            }
        }
        counts
    }
}

impl Known {
    /// Findings of `after` and what it does to `before`; a notice of the comparison that a finding says too is left out.
    pub fn judge(&self, before: &Groups, after: &Groups) -> (Vec<Finding>, Forecast) {
        let findings = validate_groups(after, &self.context).findings;
        let known = Facts { layout: self.layout, machines: &self.machines, size: &facts::size, quotas: &self.quotas };
        let mut forecast = forecast::forecast(before, after, &known);
        forecast.notices.retain(|n| !findings.iter().any(|f| f.id == n.id && f.path == n.path));
        (findings, forecast)
    }
}

/// Node groups of a served object.
pub fn groups(object: &Value) -> Groups {
    object.pointer("/spec/nodeGroups").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Where a screen's plane is, as the lists name it.
pub fn namespace(editor: &Editor) -> Arc<str> {
    Arc::from(editor.key.namespace.as_str())
}
