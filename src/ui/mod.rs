//! (owner writes this line)
