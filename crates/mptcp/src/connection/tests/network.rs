//! A network of independent paths between a client and a server, with everything that paths do to segments.

use crate::{Config, Connection, Event, FailureReason, Path, Secret, SubflowId};
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Flags, MptcpOption, MptcpOptions, Payload, Segment};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// SplitMix64: the tests' own draws.
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// True with a probability of `permille` in a thousand.
    pub(super) fn chance(&mut self, permille: u32) -> bool {
        self.next() % 1000 < u64::from(permille)
    }
}

/// What a path does.
#[derive(Clone, Debug)]
pub(super) struct PathModel {
    pub(super) delay: Duration,
    /// Octets per second; 0 is no limit.
    pub(super) rate: u64,
    /// Octets that wait at most.
    pub(super) queue: u64,
    pub(super) loss: u32,
    pub(super) duplication: u32,
    /// Delayed by up to four times the path's delay, per mille.
    pub(super) reordering: u32,
    /// MPTCP options are stripped from then on; from the client, from the server.
    pub(super) strip_from: [Option<Instant>; 2],
    /// Nothing passes in between.
    pub(super) down: Vec<(Instant, Instant)>,
    /// Data is altered in between.
    pub(super) corrupt: Option<(Instant, Instant)>,
}

impl PathModel {
    pub(super) fn new(delay_ms: u64, mbps: u64) -> Self {
        Self {
            delay: Duration::from_millis(delay_ms),
            rate: mbps * 125_000,
            queue: 100_000,
            loss: 0,
            duplication: 0,
            reordering: 0,
            strip_from: [None; 2],
            down: Vec::new(),
            corrupt: None,
        }
    }
}

/// One segment seen on a path, for tests of sequences.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) at: Instant,
    pub(super) from_client: bool,
    pub(super) path: usize,
    pub(super) client_id: SubflowId,
    pub(super) segment: Segment,
}

#[derive(Clone, Debug)]
struct Flight {
    to_server: bool,
    /// The client's end of the subflow.
    client_id: SubflowId,
    segment: Segment,
}

/// What one application does.
#[derive(Clone, Debug)]
pub(super) struct Application {
    pub(super) to_send: u64,
    pub(super) finish: bool,
    pub(super) received: u64,
    pub(super) finished: bool,
    /// Reads this much per read, with such a pause between; 0: all at once.
    pub(super) read_chunk: u64,
    pub(super) read_pause: Duration,
    next_read: Instant,
    pub(super) events: Vec<Event>,
    pub(super) closed: bool,
    pub(super) failed: Option<FailureReason>,
}

impl Application {
    fn new(to_send: u64) -> Self {
        Self {
            to_send,
            finish: true,
            received: 0,
            finished: false,
            read_chunk: 0,
            read_pause: Duration::ZERO,
            next_read: Instant::ZERO,
            events: Vec::new(),
            closed: false,
            failed: None,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.closed || self.failed.is_some()
    }
}

impl Seen {
    /// One line, for a person.
    pub(super) fn line(&self) -> String {
        let s = &self.segment;
        let who = if self.from_client { ">" } else { "<" };
        let dss = s.options.mptcp.dss.map(|d| (d.data_ack(), d.mapping(), d.data_fin()));
        format!(
            "{} {who} {} path {} [{:?}] {}/{} +{} at {} win {} {:?} {dss:?} {:?}",
            self.at,
            self.client_id,
            self.path,
            s.flags,
            s.seq.get(),
            s.ack.get(),
            s.payload.len,
            s.payload.offset,
            s.window,
            &s.options.sack,
            s.options.mptcp.rare(),
        )
    }
}

/// The world.
pub(super) struct Network {
    pub(super) now: Instant,
    pub(super) paths: Vec<PathModel>,
    pub(super) client: Connection,
    pub(super) server: Option<Connection>,
    server_config: Config,
    pub(super) applications: [Application; 2],
    /// Client's subflow to server's.
    pairs: BTreeMap<SubflowId, SubflowId>,
    flights: BTreeMap<(Instant, u64), Flight>,
    inserted: u64,
    free_at: Vec<[Instant; 2]>,
    random: Random,
    pub(super) record: bool,
    pub(super) seen: Vec<Seen>,
    pub(super) steps: u64,
    /// The client's next ephemeral port.
    next_port: u16,
}

/// The initial sequence number of a subflow with this port at its opener; 0 and 1 are the two ends of the first.
fn iss(port: u16) -> Seq {
    Seq::new((u32::from(port) + 1).wrapping_mul(0x9e37_79b9))
}

pub(super) fn address(path: usize, host: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 1, path as u8 + 1, host)), port)
}

pub(super) fn paths(count: usize) -> Vec<Path> {
    let path =
        |k| Path { local: address(k, 1, if k == 0 { 40_000 } else { 0 }), remote: address(k, 2, 5001) };
    (0..count).map(path).collect()
}

impl Network {
    /// `octets`: what the client and the server send.
    pub(super) fn new(
        client: Config,
        server: Config,
        models: Vec<PathModel>,
        octets: [u64; 2],
        seed: u64,
    ) -> Self {
        Self::over(paths(models.len()), client, server, models, octets, seed)
    }

    /// Over given pairs of addresses.
    pub(super) fn over(
        paths: Vec<Path>,
        client: Config,
        server: Config,
        models: Vec<PathModel>,
        octets: [u64; 2],
        seed: u64,
    ) -> Self {
        let count = models.len();
        Self {
            now: Instant::ZERO,
            client: Connection::connect(client, paths, iss(0), Secret([7; 32]), Instant::ZERO),
            server: None,
            server_config: server,
            applications: octets.map(Application::new),
            pairs: BTreeMap::new(),
            flights: BTreeMap::new(),
            inserted: 0,
            free_at: vec![[Instant::ZERO; 2]; count],
            paths: models,
            random: Random(seed),
            record: false,
            seen: Vec::new(),
            steps: 0,
            next_port: 50_000,
        }
    }

    /// Runs until both sides are over, nothing is left to happen, or `limit`.
    pub(super) fn run(&mut self, limit: Duration) {
        let end = Instant::ZERO + limit;
        self.settle();
        while !self.is_over() {
            let Some(next) = self.next_time() else { break };
            if next > end {
                self.now = end;
                break;
            }
            self.now = self.now.max(next);
            self.step();
        }
        for (application, connection) in
            self.applications.iter_mut().zip([Some(&self.client), self.server.as_ref()])
        {
            application.finished |= connection.is_some_and(Connection::peer_finished);
        }
    }

    /// Runs up to a time.
    pub(super) fn run_until(&mut self, end: Instant) {
        self.settle();
        while let Some(next) = self.next_time().filter(|next| *next <= end) {
            self.now = self.now.max(next);
            self.step();
        }
        self.now = end;
    }

    fn is_over(&self) -> bool {
        let connections = [Some(&self.client), self.server.as_ref()];
        let drained = |c: Option<&Connection>| c.is_none_or(|c| c.readable() == 0);
        self.applications.iter().zip(connections).all(|(a, connection)| a.is_over() && drained(connection))
    }

    fn next_time(&self) -> Option<Instant> {
        let flight = self.flights.keys().next().map(|(at, _)| *at);
        let client = self.client.poll_timeout().map(|(at, _)| at);
        let server = self.server.as_ref().and_then(Connection::poll_timeout).map(|(at, _)| at);
        let reads = self.applications.iter().zip([Some(&self.client), self.server.as_ref()]);
        let reads = reads
            .filter(|(_, connection)| connection.is_some_and(|c| c.readable() > 0))
            .map(|(application, _)| application.next_read)
            .min();
        [flight, client, server, reads].into_iter().flatten().min()
    }

    fn step(&mut self) {
        self.steps += 1;
        assert!(
            self.steps < 4_000_000,
            "the network does not come to rest at {}: {:?} {:?}",
            self.now,
            self.client.poll_timeout(),
            self.server.as_ref().map(Connection::poll_timeout),
        );
        let now = self.now;
        if let Some(entry) = self.flights.first_entry()
            && entry.key().0 <= now
        {
            let flight = entry.remove();
            self.deliver(flight);
        }
        if self.client.poll_timeout().is_some_and(|(at, _)| at <= now) {
            self.client.handle_timeout(now);
            let still = self.drained_timeout(0);
            assert!(!still, "client: a timer that fired stays due");
        }
        if self.server.as_ref().is_some_and(|s| s.poll_timeout().is_some_and(|(at, _)| at <= now)) {
            self.server.as_mut().expect("just seen").handle_timeout(now);
            let still = self.drained_timeout(1);
            assert!(!still, "server: a timer that fired stays due");
        }
        self.settle();
    }

    /// Lets one side send after its timers fired; is anything still due?
    fn drained_timeout(&mut self, side: usize) -> bool {
        self.settle();
        let connection = if side == 0 { Some(&self.client) } else { self.server.as_ref() };
        connection.is_some_and(|c| c.poll_timeout().is_some_and(|(at, _)| at < self.now))
    }

    fn deliver(&mut self, flight: Flight) {
        let now = self.now;
        let Flight { to_server, client_id, segment } = flight;
        if !to_server {
            return self.client.handle_segment(now, client_id, &segment);
        }
        if let Some(&id) = self.pairs.get(&client_id) {
            let server = self.server.as_mut().expect("a pair has a server");
            return server.handle_segment(now, id, &segment);
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        let path = self.client.subflow(client_id).expect("it sent").path();
        let path = Path { local: path.remote, remote: path.local };
        let token = segment.options.mptcp.rare().iter().any(|o| matches!(o, MptcpOption::Join(_)));
        match &mut self.server {
            None => {
                let local = (0..self.paths.len()).map(|k| address(k, 2, 5001)).collect();
                let (config, secret) = (self.server_config.clone(), Secret([9; 32]));
                self.server = Some(Connection::accept(config, local, path, &segment, iss(1), secret, now));
                self.pairs.insert(client_id, SubflowId(0));
            }
            Some(server) if token => match server.accept_join(now, path, &segment, iss(path.remote.port())) {
                Ok(id) => {
                    self.pairs.insert(client_id, id);
                }
                Err(_) => self.refuse(client_id, &segment),
            },
            Some(_) => self.refuse(client_id, &segment),
        }
    }

    /// A host's answer to a SYN that nobody takes (RFC 9293 §3.10.7.1).
    fn refuse(&mut self, client_id: SubflowId, syn: &Segment) {
        let segment = Segment { ack: syn.end(), flags: Flags::RST | Flags::ACK, ..Segment::default() };
        self.send(false, client_id, segment);
    }

    /// Events, reads, writes and transmissions of both sides.
    pub(super) fn settle(&mut self) {
        for side in 0..2 {
            self.settle_side(side);
        }
    }

    fn settle_side(&mut self, side: usize) {
        let now = self.now;
        let connection = match side {
            0 => &mut self.client,
            _ => match &mut self.server {
                Some(server) => server,
                None => return,
            },
        };
        let application = &mut self.applications[side];
        while let Some(event) = connection.poll_event() {
            match event {
                Event::Closed => application.closed = true,
                Event::Failed(reason) => application.failed = Some(reason),
                Event::SubflowWanted(wanted) => {
                    let from = (self.next_port, iss(self.next_port));
                    connection.open_subflow(now, wanted, Some(from));
                    self.next_port += 1;
                }
                _ => {}
            }
            application.events.push(event);
        }
        read(connection, application, now);
        let space = connection.send_space().min(application.to_send);
        if space > 0 {
            connection.push(space);
            application.to_send -= space;
        }
        if application.to_send == 0 && application.finish {
            application.finish = false;
            connection.finish();
        }
        let mut segments = Vec::new();
        while let Some(sent) = connection.poll_transmit(now) {
            segments.push(sent);
        }
        for (id, segment) in segments {
            let client_id = if side == 0 { Some(id) } else { self.client_id_of(id) };
            self.send(side == 0, client_id.expect("subflows come in pairs"), segment);
        }
    }

    fn client_id_of(&self, server_id: SubflowId) -> Option<SubflowId> {
        self.pairs.iter().find(|(_, id)| **id == server_id).map(|(client_id, _)| *client_id)
    }

    fn send(&mut self, from_client: bool, client_id: SubflowId, mut segment: Segment) {
        assert!(
            segment.options.wire_len() <= 40,
            "options of {} octets: {segment:?}",
            segment.options.wire_len()
        );
        let path = self.client.subflow(client_id).expect("known").path();
        let source = if from_client { path.local } else { path.remote };
        let IpAddr::V4(source) = source.ip() else { unreachable!("IPv4 here") };
        let index = usize::from(source.octets()[2]) - 1;
        if self.record {
            let seen = Seen { at: self.now, from_client, path: index, client_id, segment: segment.clone() };
            self.seen.push(seen);
        }
        let model = &self.paths[index];
        let direction = usize::from(!from_client);
        if model.strip_from[direction].is_some_and(|from| self.now >= from) {
            segment.options.mptcp = MptcpOptions::default();
        }
        // Without checksums, after fallback, nobody could tell.
        let checked =
            !self.client.is_fallen_back() && self.server.as_ref().is_none_or(|s| !s.is_fallen_back());
        let altering = model.corrupt.is_some_and(|(from, to)| (from..to).contains(&self.now));
        if altering && checked && segment.payload.len > 0 {
            segment.payload.offset ^= 1 << 40;
        }
        let down = model.down.iter().any(|(from, to)| (*from..*to).contains(&self.now));
        let (loss, duplication) = (model.loss, model.duplication);
        if down || self.random.chance(loss) {
            return;
        }
        if self.random.chance(duplication) {
            self.carry(index, from_client, client_id, segment.clone());
        }
        self.carry(index, from_client, client_id, segment);
    }

    fn carry(&mut self, index: usize, from_client: bool, client_id: SubflowId, segment: Segment) {
        let model = &self.paths[index];
        let free = &mut self.free_at[index][usize::from(!from_client)];
        let mut at = self.now.max(*free);
        if model.rate > 0 {
            let waiting = at.saturating_since(self.now).as_nanos() * model.rate / 1_000_000_000;
            if waiting > model.queue {
                return;
            }
            at += Duration::from_nanos(u64::from(20 + segment.wire_len()) * 1_000_000_000 / model.rate);
            *free = at;
        }
        at += model.delay;
        let (reordering, delay) = (model.reordering, model.delay);
        if self.random.chance(reordering) {
            at += Duration::from_nanos(self.random.next() % (4 * delay.as_nanos()).max(1));
        }
        self.inserted += 1;
        self.flights.insert((at, self.inserted), Flight { to_server: from_client, client_id, segment });
    }
}

fn read(connection: &mut Connection, application: &mut Application, now: Instant) {
    if application.next_read > now {
        return;
    }
    let max = if application.read_chunk == 0 { u64::MAX } else { application.read_chunk };
    while let Some(Payload { offset, len }) = connection.read(max) {
        assert_eq!(offset, application.received, "the stream arrives in order, once, and unaltered");
        application.received += u64::from(len);
        if application.read_chunk > 0 {
            application.next_read = now + application.read_pause;
            break;
        }
    }
    application.finished |= connection.peer_finished();
}
