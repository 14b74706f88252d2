//! The network's events, as the engine carries them: 64 bits.

/// What an event is about. Numbers are below 2^28.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    /// A radio's turn may have come.
    Access(u32),
    /// A SIFS is over at a radio.
    Sifs(u32),
    /// A radio's ACK or CTS is overdue.
    Timeout(u32),
    /// A reservation by RTS may be void at a radio.
    NavReset(u32),
    /// A transmission ends at its sender.
    End(u32),
    /// A transmission reaches the sender's n-th neighbour.
    Reach(u32, u32),
    /// A transmission ends at the sender's n-th neighbour.
    Leave(u32, u32),
}

const BITS: u32 = 28;
const MASK: u64 = (1 << BITS) - 1;

impl From<Token> for u64 {
    #[inline]
    fn from(token: Token) -> Self {
        let (kind, a, b) = match token {
            Token::Access(radio) => (0, radio, 0),
            Token::Sifs(radio) => (1, radio, 0),
            Token::Timeout(radio) => (2, radio, 0),
            Token::NavReset(radio) => (3, radio, 0),
            Token::End(transmission) => (4, transmission, 0),
            Token::Reach(transmission, neighbour) => (5, transmission, neighbour),
            Token::Leave(transmission, neighbour) => (6, transmission, neighbour),
        };
        kind << (2 * BITS) | Self::from(a) << BITS | Self::from(b)
    }
}

impl From<u64> for Token {
    #[inline]
    fn from(bits: u64) -> Self {
        let (a, b) = ((bits >> BITS & MASK) as u32, (bits & MASK) as u32);
        match bits >> (2 * BITS) {
            0 => Self::Access(a),
            1 => Self::Sifs(a),
            2 => Self::Timeout(a),
            3 => Self::NavReset(a),
            4 => Self::End(a),
            5 => Self::Reach(a, b),
            _ => Self::Leave(a, b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_the_engine() {
        let largest = (1 << BITS) - 1;
        for token in [
            Token::Access(7),
            Token::Sifs(largest),
            Token::Timeout(0),
            Token::NavReset(3),
            Token::End(12),
            Token::Reach(largest, 5),
            Token::Leave(9, largest),
        ] {
            assert_eq!(Token::from(u64::from(token)), token);
        }
    }
}
