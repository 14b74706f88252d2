//! A site: it asks its hub for sessions, over all of its paths at once.

mod moved;

use super::HUB;
use super::drops::{Drops, Reason};
use super::entropy::{Entropy, draw, draw_name};
use super::lookup::Lookups;
use super::notice::Notice;
use super::spending::{PastSpendings, PathSpending, noted, resumed};
use super::tunnel::{Ending, Inside, Tunnel, TunnelStatus, Way};
use crate::key::{PublicKey, SecretKey};
use crate::packet::{Header, Packet};
use crate::session::cookie::{COOKIE_LIFE, MacKeys};
use crate::session::message::{self, COOKIE_LEN, Cookie, MAC, Message, Response};
use crate::session::noise::{Asked, Parties, Split, ask};
use crate::session::offer::{Answer, Generation, Offer, Refused};
use crate::session::transport::{Cipher, End, Names, Transport};
use ropewalk_bonding::{Config, ConfigError, MAX_PATHS, PathConfig, Quota};
use ropewalk_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

/// After this silence of the hub a site asks for a new session. A hub that knows the session
/// answers several keepalives in this time.
pub(crate) const SILENCE: Duration = Duration::from_secs(2);
/// The first question is repeated after this time. The time doubles with each question.
const FIRST_RETRY: Duration = Duration::from_millis(250);
/// The longest time between two questions: WireGuard's Rekey-Timeout (its paper, §6.1).
const LAST_RETRY: Duration = Duration::from_secs(5);
/// The time between two questions of a site that yields or is refused.
const REFUSED_RETRY: Duration = Duration::from_secs(20);

/// A path of a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// Where it leads until the hub's packets say otherwise.
    pub way: Way,
    /// The longest IP packet that it may carry, in octets.
    pub mtu: u16,
}

/// The configuration of a site.
pub struct SiteConfig {
    /// Its private key.
    pub secret: SecretKey,
    /// The hub's public key.
    pub hub: PublicKey,
    /// The key that it shares with the hub.
    pub psk: SecretKey,
    /// The bond.
    pub bond: Config,
    /// Its paths, in the order of the bond's.
    pub paths: Vec<Path>,
    /// How packets of the inside are treated.
    pub inside: Inside,
    /// Its CPU has instructions for AES.
    pub has_aes: bool,
}

/// A question that waits for its answer.
struct Question {
    asked: Asked,
    unsigned: Vec<u8>,
    name: u32,
    /// The first authenticator of the question, once it is sent. A cookie is bound to it.
    mac: Option<[u8; MAC]>,
    generation: Generation,
    /// Paths that it still has to be sent by, and to whom.
    unsent: Vec<(usize, SocketAddr)>,
}

/// A site of a bond.
pub struct Site {
    config: SiteConfig,
    entropy: Entropy,
    macs: MacKeys,
    generation: Generation,
    /// The tunnel, and its generation.
    tunnel: Option<(Generation, Tunnel)>,
    question: Option<Question>,
    cookies: [Option<([u8; COOKIE_LEN], Instant)>; MAX_PATHS],
    /// The earliest time of the next question.
    ask_at: Instant,
    retry: Duration,
    yields: bool,
    /// Have costs changed since the hub was told of them?
    has_news: bool,
    is_over: bool,
    lookups: Lookups,
    /// The same for paths that are down while the hub is heard by others.
    path_lookups: Lookups,
    /// Are names to be looked up?
    wants_lookup: bool,
    /// Another address of the hub for each path, which is tried beside the known one.
    others: [Option<SocketAddr>; MAX_PATHS],
    /// Copies of datagrams, for other addresses of paths that are down.
    copies: VecDeque<(Way, Vec<u8>)>,
    /// The quotas of paths as ended bonds have left them, by the paths' names.
    spent: BTreeMap<String, Quota>,
    /// What came out of a bond that has ended.
    rest: VecDeque<Packet>,
    /// Datagrams that tell the hub that the session ends.
    farewell: Vec<(Way, Vec<u8>)>,
    notices: VecDeque<Notice>,
    drops: Drops,
}

impl Site {
    /// A site that begins at `now`.
    ///
    /// # Errors
    /// What is wrong with the bond.
    pub fn new(config: SiteConfig, mut entropy: Entropy, now: Instant) -> Result<Self, ConfigError> {
        config.bond.validate()?;
        let instance = u64::from_be_bytes(draw(&mut entropy));
        Ok(Self {
            macs: MacKeys::new(&config.hub.0),
            config,
            entropy,
            generation: Generation { instance, number: 0 },
            tunnel: None,
            question: None,
            cookies: [None; MAX_PATHS],
            ask_at: now,
            retry: FIRST_RETRY,
            yields: false,
            has_news: false,
            is_over: false,
            lookups: Lookups::of_hub(now),
            path_lookups: Lookups::of_paths(now),
            wants_lookup: false,
            others: [None; MAX_PATHS],
            copies: VecDeque::new(),
            spent: BTreeMap::new(),
            rest: VecDeque::new(),
            farewell: Vec::new(),
            notices: VecDeque::new(),
            drops: Drops::default(),
        })
    }

    /// Replaces the paths and asks the hub for a new bond. The old bond goes on until the hub
    /// answers. If the paths are the same and only their keys are others, the bond stays, too.
    ///
    /// # Errors
    /// What is wrong with the paths. Then the old ones stay.
    pub fn set_paths(&mut self, now: Instant, bond: Config, paths: Vec<Path>) -> Result<(), ConfigError> {
        bond.validate()?;
        if self.are_the_same(&bond.paths, &paths) {
            return self.set_path_keys(now, bond);
        }
        self.config.bond = bond;
        self.config.paths = paths;
        self.cookies = [None; MAX_PATHS];
        self.others = [None; MAX_PATHS];
        self.copies.clear();
        self.generation.number += 1;
        self.ask_soon(now);
        Ok(())
    }

    /// Do they lead where the paths lead now?
    fn are_the_same(&self, named: &[PathConfig], paths: &[Path]) -> bool {
        let lead = |path: &Path| (path.way.socket, path.way.to, path.mtu);
        let names = named.iter().map(|path| &path.name);
        names.eq(self.config.bond.paths.iter().map(|path| &path.name))
            && paths.iter().map(lead).eq(self.config.paths.iter().map(lead))
    }

    /// Gives the paths other keys. The hub orders paths by their costs, too: it is told of other costs
    /// with new session keys.
    fn set_path_keys(&mut self, now: Instant, bond: Config) -> Result<(), ConfigError> {
        if let Some((_, tunnel)) = self.tunnel.as_mut().filter(|(known, _)| *known == self.generation) {
            tunnel.set_path_keys(now, bond.paths.clone())?;
        }
        let costs = |bond: &Config| bond.paths.iter().map(|path| path.cost).collect::<Vec<_>>();
        let is_news = costs(&bond) != costs(&self.config.bond);
        self.config.bond = bond;
        if is_news {
            self.has_news = true;
            self.ask_soon(now);
        }
        Ok(())
    }

    /// The next question is due, as if none had been asked.
    fn ask_soon(&mut self, now: Instant) {
        self.question = None;
        self.ask_at = now;
        self.retry = FIRST_RETRY;
    }

    /// What was spent of each quota.
    pub(super) fn spendings(&self, now: Instant) -> Vec<PathSpending> {
        noted(HUB, &self.spent, self.tunnel.as_ref().map(|(_, tunnel)| tunnel), now)
    }

    /// See [`super::Core::resume_spendings`].
    pub(super) fn resume_spendings(&mut self, now: Instant, past: &PastSpendings) {
        self.spent.extend(resumed(&self.config.bond.paths, HUB, past, now));
    }

    /// The bond as it is configured.
    pub const fn bond(&self) -> &Config {
        &self.config.bond
    }

    /// Its paths.
    pub fn paths(&self) -> &[Path] {
        &self.config.paths
    }

    /// The longest packet that the inside may send, in octets. It is what is configured, or less if
    /// a path carries less.
    pub fn inner_mtu(&self) -> u16 {
        let found = self.tunnel.as_ref().map_or(u16::MAX, |(_, tunnel)| tunnel.inner_mtu());
        self.config.inside.mtu.min(found)
    }

    /// A packet of the inside.
    pub fn handle_packet(&mut self, now: Instant, octets: &mut [u8]) {
        let Some(header) = Header::read(octets) else { return self.drops.count(Reason::NotIp) };
        match &mut self.tunnel {
            Some((_, tunnel)) => tunnel.handle_packet(now, &header, octets, &self.config.inside),
            None => self.drops.count(Reason::NoSession),
        }
    }

    /// A datagram of the outside.
    pub fn handle_datagram(&mut self, now: Instant, way: Way, datagram: &mut [u8]) {
        match Message::read(datagram) {
            Err(malformed) => self.drops.count(malformed.into()),
            Ok(Message::Initiation(_)) => self.drops.count(Reason::Handshake),
            Ok(Message::Cookie(cookie)) => self.handle_cookie(now, way, &cookie),
            Ok(Message::Response(response)) => self.handle_response(now, way, &response),
            Ok(Message::Transport(header)) => {
                let Some((_, tunnel)) = &mut self.tunnel else {
                    return self.drops.count(Reason::NoSession);
                };
                let said = tunnel.handle_sealed(now, header, datagram, way);
                self.lookups.heard(tunnel.heard_at);
                self.settle_path(way);
                self.handle_ending(now, said);
            }
        }
    }

    fn handle_ending(&mut self, now: Instant, said: Option<Ending>) {
        match said {
            None => {}
            Some(Ending::Over) => {
                self.notices.push_back(Notice::Closed);
                self.leave(now, FIRST_RETRY);
            }
            Some(Ending::Displaced) => {
                self.notices.push_back(Notice::Displaced);
                self.yields = true;
                self.leave(now, REFUSED_RETRY);
            }
        }
    }

    /// Ends the session. Another one is asked for after `retry`.
    fn leave(&mut self, now: Instant, retry: Duration) {
        self.replace(now, None);
        self.ask_at = now + retry;
    }

    /// Replaces the tunnel. What came out of the old one is still delivered.
    fn replace(&mut self, now: Instant, tunnel: Option<(Generation, Tunnel)>) {
        if let Some((_, mut old)) = std::mem::replace(&mut self.tunnel, tunnel) {
            self.spent.extend(old.quotas());
            self.drops.add(&old.drops);
            self.rest.extend(std::iter::from_fn(|| old.poll_deliver(now)));
            self.notices.extend(std::iter::from_fn(|| old.poll_notice()));
        }
    }

    fn handle_cookie(&mut self, now: Instant, way: Way, cookie: &Cookie<'_>) {
        let Some(question) = self.question.as_mut().filter(|question| question.name == cookie.receiver)
        else {
            return self.drops.count(Reason::Handshake);
        };
        let place = self.config.paths.iter().position(|path| path.way.socket == way.socket);
        let opened = question.mac.and_then(|mac| self.macs.open_cookie(cookie.nonce, cookie.sealed, &mac));
        let (Some(place), Some(opened)) = (place, opened) else { return self.drops.count(Reason::Handshake) };
        let is_first = self.cookies[place].is_none_or(|(known, _)| known != opened);
        self.cookies[place] = Some((opened, now));
        if is_first {
            let other = self.others[place].filter(|other| *other == way.to);
            question.unsent.push((place, other.unwrap_or(self.config.paths[place].way.to)));
        }
    }

    fn handle_response(&mut self, now: Instant, way: Way, response: &Response<'_>) {
        let Some(question) = self.question.as_mut().filter(|question| question.name == response.receiver)
        else {
            return self.drops.count(Reason::Handshake);
        };
        let Ok((payload, split)) = question.asked.finish(response.noise) else {
            return self.drops.count(Reason::Handshake);
        };
        let names = Names { local: question.name, remote: response.sender };
        let generation = question.generation;
        self.question = None;
        self.lookups.heard(now);
        self.settle(now, way);
        match Answer::decode(&payload) {
            Ok(Answer::Accepted { is_aes, is_fresh }) => {
                let cipher = if is_aes { Cipher::Aes } else { Cipher::ChaCha };
                let transport = Transport::new(&split, End::Site, cipher, names, now);
                self.begin(now, transport, generation, is_fresh);
            }
            Ok(Answer::Refused(refused)) => self.handle_refusal(now, refused),
            Err(_) => self.drops.count(Reason::NotUnderstood),
        }
        drop::<Split>(split);
    }

    fn begin(&mut self, now: Instant, transport: Transport, generation: Generation, is_fresh: bool) {
        self.retry = FIRST_RETRY;
        self.ask_at = now;
        self.yields = false;
        self.has_news = false;
        match &mut self.tunnel {
            Some((known, tunnel)) if *known == generation && !is_fresh => {
                tunnel.rekey(transport);
                tunnel.heard_at = now;
                self.notices.push_back(Notice::Rekeyed);
            }
            _ => {
                let lengths = self.config.paths.iter().map(|path| path.mtu);
                let Ok(mut tunnel) = Tunnel::new(self.config.bond.clone(), lengths, transport, now) else {
                    return;
                };
                let paths = self.config.paths.iter().enumerate();
                paths.for_each(|(place, path)| tunnel.set_way(place, path.way));
                self.replace(now, Some((generation, tunnel)));
                if let Some((_, tunnel)) = &mut self.tunnel {
                    tunnel.resume(&self.spent);
                }
                self.notices.push_back(Notice::Begun);
            }
        }
    }

    fn handle_refusal(&mut self, now: Instant, refused: Refused) {
        self.notices.push_back(Notice::Refused(refused));
        self.ask_at = now + REFUSED_RETRY;
    }

    /// Has nothing come from the hub for a while?
    fn is_silent(&self, now: Instant) -> bool {
        self.tunnel.as_ref().is_some_and(|(_, tunnel)| now >= tunnel.heard_at + SILENCE)
    }

    /// Is there a reason to ask for a session?
    fn wants(&self, now: Instant) -> bool {
        match &self.tunnel {
            None => true,
            Some((generation, tunnel)) => {
                *generation != self.generation
                    || self.has_news
                    || tunnel.transport().is_due(now)
                    || now >= tunnel.heard_at + SILENCE
            }
        }
    }

    /// The earliest time at which there is a reason and a question is allowed.
    fn wants_at(&self, now: Instant) -> Instant {
        let at = match &self.tunnel {
            Some((_, tunnel)) if !self.wants(now) => {
                tunnel.transport().due_at().min(tunnel.heard_at + SILENCE)
            }
            _ => now,
        };
        at.max(self.ask_at)
    }

    /// To be called when the time of [`Self::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        if let Some((_, tunnel)) = &mut self.tunnel {
            tunnel.handle_timeout(now);
        }
        if !self.is_over && self.wants(now) && now >= self.ask_at {
            self.ask(now);
        }
        if !self.is_over && self.wants(now) {
            self.wants_lookup |= self.lookups.take(now);
        }
        self.look_after_paths(now);
    }

    fn ask(&mut self, now: Instant) {
        let is_silent = self.is_silent(now);
        if is_silent && self.retry == FIRST_RETRY {
            self.notices.push_back(Notice::Silent);
        }
        let offer = Offer {
            generation: self.generation,
            has_aes: self.config.has_aes,
            yields: self.yields,
            paths: self.config.bond.paths.clone(),
        };
        let (secret, hub, psk) = (&self.config.secret.0, &self.config.hub.0, &self.config.psk.0);
        let parties = Parties { site: secret, hub, psk };
        let (asked, noise) = ask(parties, draw(&mut self.entropy), &offer.encode());
        let used = self.tunnel.iter().flat_map(|(_, tunnel)| tunnel.locals()).collect::<Vec<_>>();
        let name = draw_name(&mut self.entropy, |name| used.contains(&name));
        self.question = Some(Question {
            asked,
            unsigned: message::initiation(name, &noise),
            name,
            mac: None,
            generation: self.generation,
            unsent: self.addressees(),
        });
        self.lookups.asked();
        let jitter = Duration::from_millis(u64::from(draw::<1>(&mut self.entropy)[0]) / 4);
        self.ask_at = now + self.retry + jitter;
        self.retry = (self.retry * 2).min(LAST_RETRY);
        if self.yields {
            self.ask_at = now + REFUSED_RETRY;
        }
    }

    /// When [`Self::handle_timeout`] is to be called next.
    pub fn poll_timeout(&self, now: Instant) -> Instant {
        let tunnel = self.tunnel.as_ref().map_or(Instant::MAX, |(_, tunnel)| tunnel.poll_timeout());
        let of_hub = self.lookups.due().filter(|_| self.wants(now));
        let of_paths = self.path_lookups.due().filter(|_| self.is_one_down(now));
        let lookup = of_hub.into_iter().chain(of_paths).min().unwrap_or(Instant::MAX);
        if self.is_over { tunnel } else { tunnel.min(self.wants_at(now)).min(lookup) }
    }

    /// The next datagram, into `out`.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Way> {
        if let Some((way, datagram)) = self.farewell.pop() {
            out.clear();
            out.extend_from_slice(&datagram);
            return Some(way);
        }
        if let Some(way) = self.poll_question(now, out) {
            return Some(way);
        }
        if let Some((way, datagram)) = self.copies.pop_front() {
            out.clear();
            out.extend_from_slice(&datagram);
            return Some(way);
        }
        let way = self.tunnel.as_mut()?.1.poll_transmit(now, out)?;
        self.copy(now, way, out);
        Some(way)
    }

    fn poll_question(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Way> {
        let question = self.question.as_mut()?;
        let (place, to) = question.unsent.pop()?;
        let way = Way { to, ..self.config.paths.get(place)?.way };
        let cookie = self.cookies[place].filter(|(_, at)| now.saturating_since(*at) < COOKIE_LIFE);
        out.clear();
        out.extend_from_slice(&question.unsigned);
        question.mac = Some(self.macs.sign(out, cookie.as_ref().map(|(cookie, _)| cookie)));
        Some(way)
    }

    /// The next packet for the inside.
    pub fn poll_deliver(&mut self, now: Instant) -> Option<Packet> {
        let own = self.rest.pop_front();
        own.or_else(|| {
            let (_, tunnel) = self.tunnel.as_mut()?;
            tunnel.poll_back().or_else(|| tunnel.poll_deliver(now))
        })
    }

    /// What has happened.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front().or_else(|| self.tunnel.as_mut()?.1.poll_notice())
    }

    /// The process ends: the hub is told.
    pub fn end(&mut self, now: Instant) {
        self.is_over = true;
        self.question = None;
        let tunnel = self.tunnel.as_mut();
        self.farewell = tunnel.map(|(_, tunnel)| tunnel.end(now, Ending::Over)).unwrap_or_default();
    }

    /// The bond, if there is a session.
    pub fn status(&self, now: Instant) -> Option<TunnelStatus> {
        self.tunnel.as_ref().map(|(_, tunnel)| tunnel.status(now))
    }

    /// What was dropped.
    pub fn drops(&self) -> Drops {
        let mut all = self.drops.clone();
        if let Some((_, tunnel)) = &self.tunnel {
            all.add(&tunnel.drops);
        }
        all
    }

    /// Counts a drop that the driver has seen.
    pub fn note_drop(&mut self, reason: Reason) {
        self.drops.count(reason);
    }
}
