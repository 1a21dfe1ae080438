//! When progress turns into a problem (`status.md` 2.1 rule 5). Values only; who waits for what is decided in the layers.

use jiff::SignedDuration;

/// Patience, one value a kind of waiting. All settable in the settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub struct Deadlines {
    pub control_plane_boot: SignedDuration,
    pub machine_provider_id: SignedDuration,
    pub machine_node: SignedDuration,
    pub scale_up: SignedDuration,
    pub deletion: SignedDuration,
    pub data_store: SignedDuration,
    pub addons: SignedDuration,
    pub routine_check: SignedDuration,
}

impl Default for Deadlines {
    fn default() -> Self {
        let m = SignedDuration::from_mins;
        Deadlines {
            control_plane_boot: m(10),
            machine_provider_id: m(10),
            machine_node: m(20),
            scale_up: m(30),
            deletion: m(10),
            data_store: m(5),
            addons: m(15),
            routine_check: m(2),
        }
    }
}
