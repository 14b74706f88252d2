//! A hub: it answers sites, and carries packets between them and its inside.

mod change;

pub use change::check_alone;

use super::drops::{Drops, Reason};
use super::entropy::{Entropy, draw, draw_name};
use super::notice::{Notice, Subject};
use super::pending::{Answered, Pending, PendingSessions};
use super::prefixes::Prefixes;
use super::spending::{PastSpendings, PathSpending, noted, resumed};
use super::tunnel::{Ending, Inside, Tunnel, TunnelStatus, Way};
use crate::key::{PublicKey, SecretKey};
use crate::packet::{Header, Packet};
use crate::session::cookie::{self, Guard, Verdict};
use crate::session::message::{self, Initiation, Message, Transport as TransportHeader};
use crate::session::noise::{self, Heard};
use crate::session::offer::{Answer, Generation, INNER_VERSION, Offer, Refused, Unreadable};
use crate::session::transport::{Cipher, End, Names, Transport};
use ipnet::IpNet;
use ropewalk_bonding::{Config, MAX_PATHS, PathConfig, Quota};
use ropewalk_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A site is alive if it sent something in this time. Its keepalives are much more frequent.
const ALIVE: Duration = Duration::from_secs(5);
/// The longest IP packet that is tried on the way to a site: Ethernet's.
const MOST: u16 = 1500;

/// A site as the hub knows it.
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its public key.
    pub key: PublicKey,
    /// The key that it shares with the hub.
    pub psk: SecretKey,
    /// Its inner addresses.
    pub prefixes: Vec<IpNet>,
    /// Keys of the hub's end for paths with these names. The site tells their costs.
    pub paths: Vec<PathConfig>,
}

/// The configuration of a hub.
pub struct HubConfig {
    /// Its private key.
    pub secret: SecretKey,
    /// Its sites.
    pub sites: Vec<Member>,
    /// The bond of each site. The site offers its paths.
    pub bond: Config,
    /// How packets of the inside are treated.
    pub inside: Inside,
    /// Its CPU has instructions for AES.
    pub has_aes: bool,
}

#[derive(Default)]
struct Place {
    tunnel: Option<(Generation, Tunnel)>,
    pending: PendingSessions,
    /// The quotas of paths as ended bonds have left them, by the paths' names.
    spent: BTreeMap<String, Quota>,
    /// What ended bonds have dropped.
    drops: Drops,
    /// When its next timer is due, as in the hub's list.
    due: Option<Instant>,
}

/// A hub of bonds.
pub struct Hub {
    config: HubConfig,
    entropy: Entropy,
    guard: Guard,
    keys: BTreeMap<PublicKey, usize>,
    prefixes: Prefixes,
    places: Vec<Place>,
    /// The site of each session, by the session's name.
    names: BTreeMap<u32, usize>,
    due: BTreeSet<(Instant, usize)>,
    /// Sites that may have something to send or to deliver.
    busy: VecDeque<usize>,
    is_busy: Vec<bool>,
    answered: Answered,
    out: VecDeque<(Way, Vec<u8>)>,
    rest: VecDeque<(usize, Packet)>,
    /// Packets of the hub itself for the inside: ICMP messages.
    back: VecDeque<Packet>,
    notices: VecDeque<(Subject, Notice)>,
    drops: Drops,
}

impl Hub {
    /// A hub without sessions.
    pub fn new(config: HubConfig, mut entropy: Entropy, now: Instant) -> Self {
        let mut prefixes = Prefixes::default();
        for (number, site) in config.sites.iter().enumerate() {
            for prefix in &site.prefixes {
                prefixes.insert(*prefix, number);
            }
        }
        let count = config.sites.len();
        Self {
            guard: Guard::new(&config.secret.public().0, draw(&mut entropy), now),
            keys: config.sites.iter().zip(0..).map(|(site, number)| (site.key, number)).collect(),
            prefixes,
            places: (0..count).map(|_| Place::default()).collect(),
            is_busy: vec![false; count],
            names: BTreeMap::new(),
            due: BTreeSet::new(),
            busy: VecDeque::new(),
            answered: Answered::default(),
            out: VecDeque::new(),
            rest: VecDeque::new(),
            back: VecDeque::new(),
            notices: VecDeque::new(),
            drops: Drops::default(),
            config,
            entropy,
        }
    }

    /// A packet of the inside.
    pub fn handle_packet(&mut self, now: Instant, octets: &mut [u8]) {
        let Some(header) = Header::read(octets) else { return self.drops.count(Reason::NotIp) };
        let Some(site) = self.prefixes.owner(header.destination) else {
            return self.drops.count(Reason::NoRoute);
        };
        match &mut self.places[site].tunnel {
            Some((_, tunnel)) => {
                tunnel.handle_packet(now, &header, octets, &self.config.inside);
                self.touch(site);
            }
            None => self.places[site].drops.count(Reason::NoSession),
        }
    }

    /// A datagram of the outside.
    pub fn handle_datagram(&mut self, now: Instant, way: Way, datagram: &mut [u8]) {
        match Message::read(datagram) {
            Err(malformed) => self.drops.count(malformed.into()),
            Ok(Message::Initiation(initiation)) => self.handle_initiation(now, way, &initiation),
            Ok(Message::Response(_) | Message::Cookie(_)) => self.drops.count(Reason::Handshake),
            Ok(Message::Transport(header)) => self.handle_sealed(now, way, header, datagram),
        }
    }

    fn handle_initiation(&mut self, now: Instant, way: Way, initiation: &Initiation<'_>) {
        if self.guard.is_due(now) {
            self.guard.renew(now, draw(&mut self.entropy));
        }
        match self.guard.judge(now, initiation, way.to) {
            Verdict::Answer => {
                if let Err(reason) = self.answer(now, way, initiation) {
                    self.drops.count(reason);
                }
            }
            Verdict::AskForCookie => self.ask_for_cookie(way, initiation),
            Verdict::Drop(cookie::Reason::Mac) => self.drops.count(Reason::Handshake),
            Verdict::Drop(cookie::Reason::TooMany) => self.drops.count(Reason::TooMany),
        }
    }

    fn ask_for_cookie(&mut self, way: Way, initiation: &Initiation<'_>) {
        let nonce = draw(&mut self.entropy);
        let sealed = self.guard.seal(initiation, way.to, &nonce);
        let mut datagram = Vec::new();
        message::cookie(initiation.sender, &nonce, &sealed, &mut datagram);
        self.out.push_back((way, datagram));
    }

    fn answer(&mut self, now: Instant, way: Way, initiation: &Initiation<'_>) -> Result<(), Reason> {
        let ephemeral = initiation.ephemeral();
        if let Some(answer) = self.answered.get(&ephemeral) {
            self.out.push_back((way, answer.to_vec()));
            return Ok(());
        }
        let drawn = draw(&mut self.entropy);
        let heard =
            noise::hear(&self.config.secret.0, drawn, initiation.noise).map_err(|_| Reason::Handshake)?;
        let site = *self.keys.get(&PublicKey(heard.site)).ok_or(Reason::UnknownSite)?;
        let answer = match Offer::decode(&heard.payload) {
            Ok(offer) => self.consider(now, site, &offer),
            Err(Unreadable::Version(_)) => Err(Refused::Version(INNER_VERSION)),
            Err(Unreadable::Malformed) => return Err(Reason::NotUnderstood),
        };
        let datagram = self.reply(now, site, initiation.sender, heard, answer);
        self.answered.push(ephemeral, datagram.clone());
        self.out.push_back((way, datagram));
        Ok(())
    }

    /// Decides about an offer.
    fn consider(&self, now: Instant, site: usize, offer: &Offer) -> Result<Considered, Refused> {
        let bond = self.bond(site, &offer.paths)?;
        let known = self.places[site].tunnel.as_ref();
        let is_alive = known.is_some_and(|(known, tunnel)| {
            known.instance != offer.generation.instance && now.saturating_since(tunnel.heard_at) < ALIVE
        });
        if offer.yields && is_alive {
            return Err(Refused::InUse);
        }
        Ok(Considered {
            bond,
            generation: offer.generation,
            is_fresh: known.is_none_or(|(known, _)| *known != offer.generation),
            cipher: if offer.has_aes && self.config.has_aes { Cipher::Aes } else { Cipher::ChaCha },
        })
    }

    fn bond(&self, site: usize, offered: &[PathConfig]) -> Result<Config, Refused> {
        let known = &self.config.sites[site].paths;
        let path = |offered: &PathConfig| {
            let own = known.iter().find(|own| own.name == offered.name).unwrap_or(offered);
            change::with_keys(offered, own)
        };
        let bond = Config { paths: offered.iter().map(path).collect(), ..self.config.bond.clone() };
        bond.validate().map_err(|_| Refused::Paths)?;
        Ok(bond)
    }

    fn reply(
        &mut self,
        now: Instant,
        site: usize,
        remote: u32,
        heard: Heard,
        considered: Result<Considered, Refused>,
    ) -> Vec<u8> {
        let names = &self.names;
        let name = draw_name(&mut self.entropy, |name| names.contains_key(&name));
        let answer = match &considered {
            Ok(Considered { is_fresh, cipher, .. }) => {
                Answer::Accepted { is_aes: *cipher == Cipher::Aes, is_fresh: *is_fresh }
            }
            Err(refused) => Answer::Refused(*refused),
        };
        let (noise, split) = heard.answer(&self.config.sites[site].psk.0, &answer.encode());
        if let Ok(Considered { bond, generation, is_fresh, cipher }) = considered {
            let names = Names { local: name, remote };
            let transport = Transport::new(&split, End::Hub, cipher, names, now);
            self.names.insert(name, site);
            let pending = Pending { transport, generation, is_fresh, bond, at: now };
            if let Some(name) = self.places[site].pending.push(pending) {
                self.names.remove(&name);
            }
            self.arm(site, now);
        }
        message::response(name, remote, &noise)
    }

    fn handle_sealed(&mut self, now: Instant, way: Way, header: TransportHeader, datagram: &mut [u8]) {
        let Some(&site) = self.names.get(&header.receiver) else {
            return self.drops.count(Reason::UnknownSession);
        };
        let said = if self.places[site].pending.get_mut(header.receiver).is_some() {
            self.confirm(now, site, way, header, datagram)
        } else {
            let tunnel = self.places[site].tunnel.as_mut();
            tunnel.and_then(|(_, tunnel)| tunnel.handle_sealed(now, header, datagram, way))
        };
        if said.is_some() {
            self.notices.push_back((Some(site), Notice::Closed));
            self.end_tunnel(now, site);
        }
        self.touch(site);
    }

    /// Handles the first datagram of a session. If it is authentic, the session's keys come into
    /// use.
    fn confirm(
        &mut self,
        now: Instant,
        site: usize,
        way: Way,
        header: TransportHeader,
        datagram: &mut [u8],
    ) -> Option<Ending> {
        let pending = self.places[site].pending.get_mut(header.receiver)?;
        let opened = match pending.transport.open(now, header, datagram) {
            Ok(opened) => opened,
            Err(unopened) => {
                self.places[site].drops.count(unopened.into());
                return None;
            }
        };
        let (pending, older) = self.places[site].pending.take(header.receiver)?;
        self.forget(older);
        self.promote(now, site, pending);
        let (_, tunnel) = self.places[site].tunnel.as_mut()?;
        tunnel.handle_opened(now, &opened, way)
    }

    fn promote(&mut self, now: Instant, site: usize, pending: Pending) {
        let Pending { transport, generation, is_fresh, bond, .. } = pending;
        // Keys of this end may have changed since the question came.
        let bond = self.bond(site, &bond.paths).unwrap_or(bond);
        if let (false, Some((_, tunnel))) = (is_fresh, &mut self.places[site].tunnel) {
            let before = tunnel.locals().collect::<Vec<_>>();
            tunnel.rekey(transport);
            // The bond is the one that the site means, so these are its paths: their costs may be others.
            let _ = tunnel.set_path_keys(now, bond.paths);
            let kept = tunnel.locals().collect::<Vec<_>>();
            self.forget(before.into_iter().filter(|name| !kept.contains(name)));
            self.notices.push_back((Some(site), Notice::Rekeyed));
            return;
        }
        self.displace(now, site, generation);
        if let Ok(mut tunnel) = Tunnel::new(bond, [MOST; MAX_PATHS], transport, now) {
            tunnel.resume(&self.places[site].spent);
            self.places[site].tunnel = Some((generation, tunnel));
            self.notices.push_back((Some(site), Notice::Begun));
        }
    }

    /// Ends the old bond, since a new one takes its place. If the old one is another process's that
    /// is alive, that process is told.
    fn displace(&mut self, now: Instant, site: usize, by: Generation) {
        if let Some((known, tunnel)) = &mut self.places[site].tunnel
            && known.instance != by.instance
        {
            let was_alive = now.saturating_since(tunnel.heard_at) < ALIVE;
            self.notices.push_back((Some(site), Notice::TakenOver { was_alive }));
            if was_alive {
                self.out.extend(tunnel.end(now, Ending::Displaced));
            }
        }
        self.end_tunnel(now, site);
    }

    /// Ends the bond. What came out of it is still delivered.
    fn end_tunnel(&mut self, now: Instant, site: usize) {
        let Some((_, mut tunnel)) = self.places[site].tunnel.take() else { return };
        self.forget(tunnel.locals());
        self.keep_quotas(site, &tunnel);
        self.rest.extend(std::iter::from_fn(|| tunnel.poll_deliver(now)).map(|packet| (site, packet)));
        self.notices.extend(std::iter::from_fn(|| tunnel.poll_notice()).map(|notice| (Some(site), notice)));
        self.places[site].drops.add(&tunnel.drops);
    }

    /// What was spent of each quota.
    pub(super) fn spendings(&self, now: Instant) -> Vec<PathSpending> {
        let sites = self.config.sites.iter().zip(&self.places);
        let of = |(site, place): (&Member, &Place)| {
            noted(&site.name, &place.spent, place.tunnel.as_ref().map(|(_, tunnel)| tunnel), now)
        };
        sites.flat_map(of).collect()
    }

    /// See [`super::Core::resume_spendings`].
    pub(super) fn resume_spendings(&mut self, now: Instant, past: &PastSpendings) {
        for (site, place) in self.config.sites.iter().zip(&mut self.places) {
            place.spent.extend(resumed(&site.paths, &site.name, past, now));
        }
    }

    /// Keeps the quotas of configured paths. The site chooses the names of others, so these are not
    /// kept.
    fn keep_quotas(&mut self, site: usize, tunnel: &Tunnel) {
        let known = &self.config.sites[site].paths;
        let named = tunnel.quotas().filter(|(name, _)| known.iter().any(|path| path.name == *name));
        self.places[site].spent.extend(named);
    }

    /// Forgets the names of ended sessions.
    fn forget(&mut self, names: impl IntoIterator<Item = u32>) {
        for name in names {
            self.names.remove(&name);
        }
    }

    fn touch(&mut self, site: usize) {
        if !self.is_busy[site] {
            self.is_busy[site] = true;
            self.busy.push_back(site);
        }
    }

    /// Updates the site's entry in the list of timers.
    fn arm(&mut self, site: usize, now: Instant) {
        let place = &mut self.places[site];
        let tunnel = place.tunnel.as_ref();
        let timeout = tunnel.map_or(Instant::MAX, |(_, tunnel)| tunnel.poll_timeout());
        let end = tunnel.map_or(Instant::MAX, |(_, tunnel)| tunnel.transport().ends_at());
        let due = timeout.min(end).min(place.pending.expires_at()).max(now);
        let due = (due != Instant::MAX).then_some(due);
        if due != place.due {
            if let Some(at) = std::mem::replace(&mut place.due, due) {
                self.due.remove(&(at, site));
            }
            self.due.extend(due.map(|at| (at, site)));
        }
    }

    /// To be called when the time of [`Self::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(at, site)) = self.due.first() {
            if at > now {
                return;
            }
            self.due.pop_first();
            self.places[site].due = None;
            let unconfirmed = self.places[site].pending.expire(now);
            self.forget(unconfirmed);
            if let Some((_, tunnel)) = &mut self.places[site].tunnel {
                if now >= tunnel.transport().ends_at() {
                    self.notices.push_back((Some(site), Notice::Expired));
                    self.end_tunnel(now, site);
                } else {
                    tunnel.handle_timeout(now);
                }
            }
            self.touch(site);
            // A timer that is due again at once waits for the next call.
            self.arm(site, now + Duration::from_nanos(1));
        }
    }

    /// When [`Self::handle_timeout`] is to be called next.
    pub fn poll_timeout(&self, _now: Instant) -> Instant {
        self.due.first().map_or(Instant::MAX, |&(at, _)| at)
    }

    /// The next datagram, into `out`.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Way> {
        if let Some((way, datagram)) = self.out.pop_front() {
            out.clear();
            out.extend_from_slice(&datagram);
            return Some(way);
        }
        while let Some(&site) = self.busy.front() {
            let tunnel = self.places[site].tunnel.as_mut();
            if let Some(way) = tunnel.and_then(|(_, tunnel)| tunnel.poll_transmit(now, out)) {
                return Some(way);
            }
            self.rest_of(now, site);
        }
        None
    }

    /// A site has nothing more to send: takes what it has to deliver and to tell.
    fn rest_of(&mut self, now: Instant, site: usize) {
        self.busy.pop_front();
        self.is_busy[site] = false;
        if let Some((_, tunnel)) = &mut self.places[site].tunnel {
            self.rest.extend(std::iter::from_fn(|| tunnel.poll_deliver(now)).map(|packet| (site, packet)));
            self.back.extend(std::iter::from_fn(|| tunnel.poll_back()));
            let notices = std::iter::from_fn(|| tunnel.poll_notice());
            self.notices.extend(notices.map(|notice| (Some(site), notice)));
        }
        self.arm(site, now);
    }

    /// The next packet for the inside. To be called when [`Self::poll_transmit`] gives nothing
    /// more. A packet whose source address is not its site's is dropped.
    pub fn poll_deliver(&mut self, _now: Instant) -> Option<Packet> {
        if let Some(packet) = self.back.pop_front() {
            return Some(packet);
        }
        while let Some((site, packet)) = self.rest.pop_front() {
            let source = Header::read(packet.octets()).map(|header| header.source);
            if source.and_then(|source| self.prefixes.owner(source)) == Some(site) {
                return Some(packet);
            }
            self.places[site].drops.count(Reason::Source);
        }
        None
    }

    /// What has happened.
    pub fn poll_notice(&mut self) -> Option<(Subject, Notice)> {
        self.notices.pop_front()
    }

    /// The process ends: the sites are told.
    pub fn end(&mut self, now: Instant) {
        for place in &mut self.places {
            if let Some((_, tunnel)) = &mut place.tunnel {
                self.out.extend(tunnel.end(now, Ending::Over));
            }
        }
    }

    /// The name of each site, and its bond if there is a session.
    pub fn status(&self, now: Instant) -> Vec<(&str, Option<TunnelStatus>)> {
        let sites = self.config.sites.iter().zip(&self.places);
        let status = |place: &Place| place.tunnel.as_ref().map(|(_, tunnel)| tunnel.status(now));
        sites.map(|(site, place)| (site.name.as_str(), status(place))).collect()
    }

    /// The name of a site.
    pub fn site_name(&self, site: usize) -> &str {
        &self.config.sites[site].name
    }

    /// What was dropped.
    pub fn drops(&self) -> Drops {
        let mut all = self.drops.clone();
        self.peer_drops().iter().for_each(|drops| all.add(drops));
        all
    }

    /// What was dropped of each site's sessions.
    pub fn peer_drops(&self) -> Vec<Drops> {
        let of = |place: &Place| {
            let mut drops = place.drops.clone();
            if let Some((_, tunnel)) = &place.tunnel {
                drops.add(&tunnel.drops);
            }
            drops
        };
        self.places.iter().map(of).collect()
    }

    /// Counts a drop that the driver has seen.
    pub fn note_drop(&mut self, reason: Reason) {
        self.drops.count(reason);
    }
}

/// An offer that is accepted.
struct Considered {
    bond: Config,
    generation: Generation,
    is_fresh: bool,
    cipher: Cipher,
}
