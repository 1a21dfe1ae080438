//! What a watch can say. Produced by `cluster`, folded into [`super::World`] by `state`.

use super::{Object, Problem, world::Source};

/// One thing a watch of (kind, scope) reported.
#[derive(Debug, Clone, PartialEq)]
pub enum FeedEvent {
    /// A complete list: whatever of this kind and scope isn't in it is gone. Replaces the scope at one stroke.
    Listed(Vec<Object>),
    /// Added or changed.
    Applied(Box<Object>),
    /// Deleted: namespace and name.
    Deleted(String, String),
    /// The stream was heard from (bookmark, clean re-watch): data is fresh as of now.
    Alive,
    /// The source failed; rows stay and are marked stale. The watch goes on trying by itself.
    Lost(Problem),
}

/// A feed event with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Feed {
    /// Number of the subscription set that asked for it; older numbers are dropped.
    pub generation: u64,
    /// Kubeconfig context it came from (the store is keyed by it).
    pub context: std::sync::Arc<str>,
    /// The source watched.
    pub source: Source,
    /// What happened.
    pub event: FeedEvent,
}

/// A wish to follow one source, narrowed as the design asks (section 5, "Watches").
pub type Subscription = Source;
