//! (owner writes this line)

/// One key press in a notation of our own (`ctrl-a`, `enter`, `G`), free of crossterm.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Chord {}
