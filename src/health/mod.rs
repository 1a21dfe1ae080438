//! (owner writes this line)

pub mod deadlines;
pub mod layers;
pub mod view;
