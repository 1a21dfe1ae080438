//! What lies over a screen: help, and lists to choose from. The front one sees the keys first.

pub mod help;
pub mod picker;

/// An overlay on the stack.
#[derive(Debug)]
pub enum Overlay {
    /// What the keys do.
    Help(help::Help),
    /// Contexts, namespaces, or the palette.
    Picker(Box<picker::Picker>),
}
