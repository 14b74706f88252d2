//! Where random octets come from.

use crate::session::message::NAME_BITS;

/// Fills a slice with random octets that nobody can foresee.
pub type Entropy = Box<dyn FnMut(&mut [u8])>;

/// Draws `N` random octets.
pub(super) fn draw<const N: usize>(entropy: &mut Entropy) -> [u8; N] {
    let mut octets = [0; N];
    entropy(&mut octets);
    octets
}

/// Draws how this end names a session: a name that is not taken. Most have to be free.
pub(super) fn draw_name(entropy: &mut Entropy, is_taken: impl Fn(u32) -> bool) -> u32 {
    loop {
        let name = u32::from_be_bytes(draw(entropy)) >> (u32::BITS - NAME_BITS);
        if !is_taken(name) {
            return name;
        }
    }
}
