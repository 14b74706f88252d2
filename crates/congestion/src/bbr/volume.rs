//! Volumes.

/// A real volume in octets; what is not a number or below zero is 0.
pub(super) fn octets(volume: f64) -> u32 {
    // `as` saturates.
    volume as u32
}
