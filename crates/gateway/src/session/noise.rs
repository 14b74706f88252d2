//! The handshake: Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s. Random octets are an argument.

use snow::params::{CipherChoice, DHChoice, HashChoice, NoiseParams};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, HandshakeState};
use std::sync::LazyLock;
use zeroize::Zeroizing;

/// The pattern and its primitives.
const PATTERN: &str = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
/// What both ends mix in first: the protocol and its version.
const PROLOGUE: &[u8] = b"ropewalk-gateway 1";
/// The position of the shared key in the pattern: `psk2`.
const PSK_AT: u8 = 2;
const KEY: usize = 32;

static PARAMS: LazyLock<NoiseParams> =
    LazyLock::new(|| PATTERN.parse().expect("the pattern is one that snow knows"));

/// A message is not authentic: it was made with another key, or it was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAuthentic;

/// The two keys of a session.
pub struct Split {
    /// From the site to the hub.
    pub to_hub: Zeroizing<[u8; KEY]>,
    /// From the hub to the site.
    pub to_site: Zeroizing<[u8; KEY]>,
}

/// A source of random octets that were drawn before.
struct Drawn(Zeroizing<[u8; KEY]>);

impl Random for Drawn {
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), snow::Error> {
        let drawn = self.0.get(..out.len()).ok_or(snow::Error::Rng)?;
        out.copy_from_slice(drawn);
        Ok(())
    }
}

/// The default primitives, with given random octets.
struct Resolver([u8; KEY]);

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Drawn(Zeroizing::new(self.0))))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        DefaultResolver.resolve_cipher(choice)
    }
}

/// The public key of a private one.
pub fn public(secret: &[u8; KEY]) -> [u8; KEY] {
    let mut dh = DefaultResolver.resolve_dh(&DHChoice::Curve25519).expect("it has this curve");
    dh.set(secret);
    dh.pubkey().try_into().expect("32 octets")
}

fn builder<'a>(secret: &'a [u8; KEY], drawn: [u8; KEY]) -> Builder<'a> {
    let builder = Builder::with_resolver(PARAMS.clone(), Box::new(Resolver(drawn)));
    let builder = builder.local_private_key(secret).and_then(|builder| builder.prologue(PROLOGUE));
    builder.expect("each is set once")
}

fn split(state: &mut HandshakeState) -> Split {
    let (to_hub, to_site) = state.dangerously_get_raw_split();
    Split { to_hub: Zeroizing::new(to_hub), to_site: Zeroizing::new(to_site) }
}

/// A site's handshake that waits for its answer.
pub struct Asked(HandshakeState);

/// The keys of a handshake, as the site has them.
#[derive(Clone, Copy)]
pub struct Parties<'a> {
    /// The site's private key.
    pub site: &'a [u8; KEY],
    /// The hub's public key.
    pub hub: &'a [u8; KEY],
    /// The key that both share.
    pub psk: &'a [u8; KEY],
}

/// Makes a site's first message. `drawn` are random octets for the ephemeral key.
pub fn ask(parties: Parties<'_>, drawn: [u8; KEY], payload: &[u8]) -> (Asked, Vec<u8>) {
    let state = builder(parties.site, drawn)
        .remote_public_key(parties.hub)
        .and_then(|builder| builder.psk(PSK_AT, parties.psk))
        .and_then(Builder::build_initiator);
    let mut state = state.expect("all keys are there");
    let mut message = vec![0; payload.len() + 128];
    let len = state.write_message(payload, &mut message).expect("there is room, and it is our turn");
    message.truncate(len);
    (Asked(state), message)
}

impl Asked {
    /// Reads the hub's answer. Returns its payload and the session's keys. A message that is not
    /// authentic changes nothing.
    ///
    /// # Errors
    /// [`NotAuthentic`]
    pub fn finish(&mut self, message: &[u8]) -> Result<(Vec<u8>, Split), NotAuthentic> {
        let mut payload = vec![0; message.len()];
        let len = self.0.read_message(message, &mut payload).map_err(|_| NotAuthentic)?;
        payload.truncate(len);
        Ok((payload, split(&mut self.0)))
    }
}

/// A handshake at the hub after the site's first message was read.
pub struct Heard {
    state: HandshakeState,
    /// The site's public key.
    pub site: [u8; KEY],
    /// What it offers.
    pub payload: Vec<u8>,
}

/// Reads a site's first message. `drawn` are random octets for the hub's ephemeral key.
///
/// # Errors
/// [`NotAuthentic`]
pub fn hear(hub: &[u8; KEY], drawn: [u8; KEY], message: &[u8]) -> Result<Heard, NotAuthentic> {
    let mut state = builder(hub, drawn).build_responder().expect("its key is there");
    let mut payload = vec![0; message.len()];
    let len = state.read_message(message, &mut payload).map_err(|_| NotAuthentic)?;
    payload.truncate(len);
    let site = state.get_remote_static().and_then(|key| key.try_into().ok()).ok_or(NotAuthentic)?;
    Ok(Heard { state, site, payload })
}

impl Heard {
    /// Makes the hub's answer. Returns it and the session's keys.
    pub fn answer(mut self, psk: &[u8; KEY], payload: &[u8]) -> (Vec<u8>, Split) {
        self.state.set_psk(usize::from(PSK_AT), psk).expect("the pattern has its place");
        let mut message = vec![0; payload.len() + 128];
        let len = self.state.write_message(payload, &mut message).expect("there is room, and it is our turn");
        message.truncate(len);
        (message, split(&mut self.state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: [u8; 32] = [1; 32];
    const HUB: [u8; 32] = [2; 32];
    const PSK: [u8; 32] = [3; 32];

    #[test]
    fn both_ends_get_the_same_keys_and_hear_each_other() {
        let hub = public(&HUB);
        let (mut asked, first) = ask(Parties { site: &SITE, hub: &hub, psk: &PSK }, [4; 32], b"offer");
        let heard = hear(&HUB, [5; 32], &first).expect("it is authentic");
        assert_eq!((heard.site, heard.payload.as_slice()), (public(&SITE), b"offer".as_slice()));
        let (second, at_hub) = heard.answer(&PSK, b"answer");
        let (answer, at_site) = asked.finish(&second).expect("it is authentic");
        assert_eq!(answer, b"answer");
        assert_eq!((at_hub.to_hub, at_hub.to_site), (at_site.to_hub.clone(), at_site.to_site.clone()));
        assert_ne!(at_site.to_hub, at_site.to_site);
    }

    #[test]
    fn what_is_changed_is_refused_and_the_right_answer_still_counts() {
        let hub = public(&HUB);
        let (mut asked, first) = ask(Parties { site: &SITE, hub: &hub, psk: &PSK }, [4; 32], b"");
        for place in 0..first.len() {
            let mut changed = first.clone();
            changed[place] ^= 1;
            assert!(hear(&HUB, [5; 32], &changed).is_err(), "octet {place}");
        }
        let heard = hear(&HUB, [5; 32], &first).expect("it is authentic");
        let (second, _) = heard.answer(&PSK, b"");
        for place in 0..second.len() {
            let mut changed = second.clone();
            changed[place] ^= 1;
            assert!(asked.finish(&changed).is_err(), "octet {place}");
        }
        assert!(asked.finish(&second).is_ok());
    }

    #[test]
    fn another_shared_key_is_refused() {
        let hub = public(&HUB);
        let (mut asked, first) = ask(Parties { site: &SITE, hub: &hub, psk: &PSK }, [4; 32], b"");
        let heard = hear(&HUB, [5; 32], &first).expect("the first message does not need it");
        let (second, _) = heard.answer(&[9; 32], b"");
        assert!(asked.finish(&second).is_err());
    }
}
