//! What the handshake carries, sealed: what a site offers and what the hub answers.

use ropewalk_bonding::{MAX_PATHS, PathConfig};

/// Version of the sealed part. A hub that does not know a site's version says so in its sealed
/// answer.
pub const INNER_VERSION: u8 = 3;

const HAS_AES: u8 = 1;
const YIELDS: u8 = 2;
const IS_FRESH: u8 = 2;

/// An offer has at least this many octets, so that no answer is longer than its question.
const LEAST: usize = 96;
/// The longest name of a path, in octets.
const LONGEST_NAME: usize = 32;
/// What a name of a path has to be.
pub const NAME: &str = "a name of 1 to 32 octets without control characters";

/// May a path have this name? No end reads an offer with another one.
pub fn name_is_good(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && !name.contains(char::is_control)
}

/// Identifies a bond. A new process begins a new bond, and so does a path more or less.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Generation {
    /// Drawn when the site's process begins.
    pub instance: u64,
    /// Counts changes of the paths.
    pub number: u32,
}

/// What a site wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The bond that it asks for.
    pub generation: Generation,
    /// Its CPU has instructions for AES.
    pub has_aes: bool,
    /// Another instance with its key took its place. It wants the place back only if that instance
    /// is silent.
    pub yields: bool,
    /// The paths: names and ranks of cost.
    pub paths: Vec<PathConfig>,
}

/// What the hub says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// A session begins.
    Accepted {
        /// AES-256-GCM seals it, else ChaCha20-Poly1305.
        is_aes: bool,
        /// The hub's end of the bond is new; the site's has to be, too.
        is_fresh: bool,
    },
    /// No session begins.
    Refused(Refused),
}

/// Why a hub refuses a site that it knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    /// Its sealed part has another version.
    #[error("the hub speaks version {0} of the sealed protocol, this gateway version {INNER_VERSION}")]
    Version(u8),
    /// Another instance with the same key is alive, and this one yields to it.
    #[error("another gateway with the same key is in use at the hub")]
    InUse,
    /// The hub cannot make a bond of these paths.
    #[error("the hub's scheduler cannot use these paths: each needs a cost of its own")]
    Paths,
}

/// Why a payload is no offer or answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// Another version, whatever else it says.
    Version(u8),
    /// It ends too early, or a field has an impossible value.
    Malformed,
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Unreadable> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Unreadable::Malformed)?;
        self.0 = rest;
        Ok(*head)
    }

    fn u8(&mut self) -> Result<u8, Unreadable> {
        Ok(self.take::<1>()?[0])
    }

    fn text(&mut self) -> Result<String, Unreadable> {
        let len = usize::from(self.u8()?);
        let (text, rest) = self.0.split_at_checked(len).ok_or(Unreadable::Malformed)?;
        self.0 = rest;
        let text = std::str::from_utf8(text).map_err(|_| Unreadable::Malformed)?;
        if name_is_good(text) { Ok(text.to_owned()) } else { Err(Unreadable::Malformed) }
    }
}

impl Offer {
    /// As octets.
    pub fn encode(&self) -> Vec<u8> {
        let flags = (u8::from(self.has_aes) * HAS_AES) | (u8::from(self.yields) * YIELDS);
        let mut octets = vec![INNER_VERSION, flags];
        octets.extend_from_slice(&self.generation.instance.to_be_bytes());
        octets.extend_from_slice(&self.generation.number.to_be_bytes());
        octets.push(self.paths.len() as u8);
        for path in &self.paths {
            octets.push(u8::from(path.cost.is_some()));
            octets.extend_from_slice(&path.cost.unwrap_or(0).to_be_bytes());
            octets.push(path.name.len() as u8);
            octets.extend_from_slice(path.name.as_bytes());
        }
        octets.resize(octets.len().max(LEAST), 0);
        octets
    }

    /// From octets. What follows the paths is padding.
    ///
    /// # Errors
    /// [`Unreadable`]
    pub fn decode(octets: &[u8]) -> Result<Self, Unreadable> {
        let mut reader = Reader(octets);
        let version = reader.u8()?;
        if version != INNER_VERSION {
            return Err(Unreadable::Version(version));
        }
        let flags = reader.u8()?;
        let instance = u64::from_be_bytes(reader.take()?);
        let number = u32::from_be_bytes(reader.take()?);
        let count = usize::from(reader.u8()?);
        if !(1..=MAX_PATHS).contains(&count) {
            return Err(Unreadable::Malformed);
        }
        let mut paths = Vec::with_capacity(count);
        for _ in 0..count {
            let has_cost = reader.u8()? != 0;
            let cost = u32::from_be_bytes(reader.take()?);
            paths.push(PathConfig::new(reader.text()?, has_cost.then_some(cost)));
        }
        Ok(Self {
            generation: Generation { instance, number },
            has_aes: flags & HAS_AES != 0,
            yields: flags & YIELDS != 0,
            paths,
        })
    }
}

impl Answer {
    /// As octets.
    pub fn encode(self) -> [u8; 3] {
        match self {
            Self::Accepted { is_aes, is_fresh } => {
                [INNER_VERSION, 0, (u8::from(is_aes) * HAS_AES) | (u8::from(is_fresh) * IS_FRESH)]
            }
            Self::Refused(Refused::Version(version)) => [version, 1, 0],
            Self::Refused(Refused::InUse) => [INNER_VERSION, 2, 0],
            Self::Refused(Refused::Paths) => [INNER_VERSION, 3, 0],
        }
    }

    /// From octets.
    ///
    /// # Errors
    /// [`Unreadable`]
    pub fn decode(octets: &[u8]) -> Result<Self, Unreadable> {
        let mut reader = Reader(octets);
        let (version, status, flags) = (reader.u8()?, reader.u8()?, reader.u8()?);
        if version != INNER_VERSION || status == 1 {
            return Ok(Self::Refused(Refused::Version(version)));
        }
        match status {
            0 => Ok(Self::Accepted { is_aes: flags & HAS_AES != 0, is_fresh: flags & IS_FRESH != 0 }),
            2 => Ok(Self::Refused(Refused::InUse)),
            3 => Ok(Self::Refused(Refused::Paths)),
            _ => Err(Unreadable::Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn offer() -> Offer {
        let paths = vec![PathConfig::new("dsl", Some(1)), PathConfig::new("lte", None)];
        let generation = Generation { instance: 7, number: 3 };
        Offer { generation, has_aes: true, yields: false, paths }
    }

    #[test]
    fn offers_and_answers_are_read_as_written() {
        assert_eq!(Offer::decode(&offer().encode()), Ok(offer()));
        let answers = [
            Answer::Accepted { is_aes: true, is_fresh: false },
            Answer::Accepted { is_aes: false, is_fresh: true },
            Answer::Refused(Refused::Version(9)),
            Answer::Refused(Refused::InUse),
            Answer::Refused(Refused::Paths),
        ];
        for answer in answers {
            assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
        }
    }

    #[test]
    fn another_version_is_told_whatever_it_says() {
        let other = INNER_VERSION + 1;
        assert_eq!(Offer::decode(&[other]), Err(Unreadable::Version(other)));
        assert_eq!(Answer::decode(&[other, 0, 0]), Ok(Answer::Refused(Refused::Version(other))));
    }

    #[test]
    fn an_offer_that_is_cut_is_refused() {
        let octets = offer().encode();
        for len in 0..29 {
            assert!(Offer::decode(&octets[..len]).is_err(), "{len} octets");
        }
    }

    proptest! {
        #[test]
        fn no_octets_make_it_panic(octets in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Answer::decode(&octets);
            if let Ok(offer) = Offer::decode(&octets) {
                prop_assert_eq!(Offer::decode(&offer.encode()), Ok(offer));
            }
        }
    }
}
