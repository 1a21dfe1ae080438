//! L4 (merged from branch workers).
use super::Judgement;
use crate::{
    health::{build, view::View},
    model::verdict::{ControlPlaneView, Layer, State},
};
/// judge
pub fn judge(_view: &View<'_>) -> Vec<Judgement> {
    vec![build::verdict(Layer::ControlPlane, State::Unknown, "x")]
}
/// summary
pub fn summary(_view: &View<'_>) -> ControlPlaneView {
    ControlPlaneView::default()
}
