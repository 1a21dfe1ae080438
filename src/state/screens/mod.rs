//! The screens' own states. One file a screen; each makes its rows and texts from what is known and never changes that.

pub mod access;
pub mod editor;
pub mod machines;
pub mod objects;
pub mod overview;
pub mod plane;
pub mod planes;
pub mod requests;

/// A screen on the stack.
#[derive(Debug)]
pub enum Screen {
    /// The list of planes: always the lowest.
    Planes(planes::Planes),
    /// One plane.
    Plane(Box<plane::PlaneScreen>),
    /// What this identity may do.
    Access(Box<access::AccessScreen>),
    /// The node-group editor of one plane.
    Editor(Box<editor::Editor>),
    /// The audit trail.
    Requests(requests::Requests),
}
