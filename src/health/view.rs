//! What a layer's judge may look at: one plane's part of the world, the clock and the deadlines. Owns access, must not judge.

use std::sync::Arc;

use super::deadlines::Deadlines;
use crate::model::{
    Kind, Object, Time, World,
    world::{Read, ReadState},
};

/// One plane, seen at one moment.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Everything observed in the context.
    pub world: &'a World,
    /// The plane's namespace.
    pub namespace: &'a str,
    /// The clock to judge by.
    pub now: Time,
    /// Patience.
    pub deadlines: &'a Deadlines,
}

impl<'a> View<'a> {
    /// Objects of a kind in the plane's namespace.
    pub fn list(&self, kind: Kind) -> impl Iterator<Item = &'a Arc<Object>> + use<'a> {
        self.world.list(kind, self.namespace)
    }

    /// One object of the plane's namespace.
    pub fn get(&self, kind: Kind, name: &str) -> Option<&'a Arc<Object>> {
        self.world.get(kind, self.namespace, name)
    }

    /// How well a kind is known here (cluster-scoped kinds: anywhere).
    pub fn read(&self, kind: Kind) -> Read {
        self.world.read_in(kind, self.namespace)
    }

    /// True when absence of an object of this kind is a fact.
    pub fn complete(&self, kind: Kind) -> bool {
        self.read(kind).state == ReadState::Complete
    }

    /// Age of a moment; zero for moments in the future (clock skew).
    pub fn age(&self, since: Time) -> jiff::SignedDuration {
        self.now.duration_since(since).max(jiff::SignedDuration::ZERO)
    }
}
