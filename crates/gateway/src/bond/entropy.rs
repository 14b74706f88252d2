//! Where random octets come from.

/// Fills a slice with random octets that nobody can foresee.
pub type Entropy = Box<dyn FnMut(&mut [u8])>;

/// Draws `N` random octets.
pub(super) fn draw<const N: usize>(entropy: &mut Entropy) -> [u8; N] {
    let mut octets = [0; N];
    entropy(&mut octets);
    octets
}
