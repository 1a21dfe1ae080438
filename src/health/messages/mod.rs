//! What a controller's text says: its class, its decisive sentence, and what it points at (`status.md` 2.3 and 8.30).
//! Owns reading messages; must not decide which layer is broken.

mod cut;
mod point;
mod table;

#[cfg(test)]
mod tests;

pub use cut::{decisive, flat};
pub use point::{Pointer, Waited, pointer, waits};
pub use table::{Row, TABLE, classify, of_reason};

/// A failure in words: a wait list becomes its first objects, everything else its decisive sentence.
pub fn wording(text: &str) -> String {
    let waits = waits(text);
    if waits.is_empty() || text.contains("hooks failed") || text.contains("failed p") {
        return decisive(text);
    }
    let name = |w: &Waited| if w.namespace.is_empty() { w.name.clone() } else { format!("{}/{}", w.namespace, w.name) };
    let list = waits.iter().take(2).map(|w| format!("{} {} ({})", w.kind, name(w), w.status)).collect::<Vec<_>>().join(", ");
    let more = if waits.len() > 2 { format!(" and {} more", waits.len() - 2) } else { String::new() };
    let what = if text.contains("failed early") { "failed early because of" } else { "timed out waiting for" };
    format!("{what} {list}{more}")
}

/// The class name for a text that only waits for its children.
pub const CHILD_NOT_READY: &str = "ChildNotReady";
