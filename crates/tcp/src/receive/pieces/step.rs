//! What both kinds of lists share: when pieces are one, and the count of their steps.

use ropewalk_wire::Payload;

/// Do the octets of `next` follow those of `piece` in the stream that they carry?
pub(super) fn continues(piece: Payload, next: Payload) -> bool {
    piece.offset + u64::from(piece.len) == next.offset && piece.len < u32::MAX / 2 - next.len
}

/// Notes steps, for the test that counts them: turns of loops, and elements of lists that move. Look-ups in trees and sorted
/// lists are O(log n) by themselves.
pub(super) fn count(steps: usize) {
    #[cfg(test)]
    STEPS.with(|all| all.set(all.get() + steps));
    #[cfg(not(test))]
    let _ = steps;
}

#[cfg(test)]
thread_local! {
    /// What [`count`] has noted in this test.
    pub(super) static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
