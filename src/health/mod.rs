//! (owner writes this line)

pub mod catalog;
pub mod deadlines;
pub mod layers;
pub mod view;
