//! L5 (merged from branch workers).
use super::Judgement;
use crate::{
    health::{build, view::View},
    model::{
        verdict::{Layer, PoolView, State},
    },
};
/// judge
pub fn judge(_view: &View<'_>) -> Vec<Judgement> {
    vec![build::verdict(Layer::Workers, State::Unknown, "x")]
}
/// views
pub fn pool_views(_view: &View<'_>) -> Vec<PoolView> {
    vec![]
}
