//! What keys mean: chords in a notation of our own, the one table of actions, and the keymap with the user's changes.
//! Help, footer and palette are generated from it. Must not know what any screen contains.

mod chord;
mod keymap;
mod table;

pub use chord::{Chord, KeyName, Mods};
pub use keymap::{KeyProblem, Keymap};
pub use table::{ACTIONS, Action, ActionInfo, Context, Group};
