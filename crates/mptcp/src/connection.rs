//! One Multipath TCP connection.
//!
//! The code follows a segment's way. In [`Connection::handle_segment`] the subflow's TCP judges it first: *acceptable?
//! → RST → SYN → ACK valid*. An accepted one goes through *option → mapping → data_fin → data_ack* ([`receive`]). Then
//! TCP takes its acknowledgement, window, text and FIN. What TCP delivers is put together (*checksum → reassemble*).
//! Nearly all segments are of two kinds; for those [`expected`] does the work of all stages at once.
//!
//! [`Connection::poll_transmit`] lets the scheduler give data to subflows ([`schedule`]) and puts the options on the
//! segments that their TCPs cut ([`transmit`]).
//!
//! The parts: [`agreement`] has keys and what MP_CAPABLE settled. [`subflows`] says which subflows live and which may
//! carry data. [`sending`] and [`receiving`] are the two directions of the stream. [`planner`] decides which subflow
//! carries what.
//!
//! Positions in either direction's stream are `u64` counts that do not wrap; they become DSNs and SSNs at the
//! options' edge only.

mod address;
mod agreement;
mod close;
mod expected;
mod fallback;
mod handshake;
mod idle_reinjection;
mod octets;
mod opportunistic;
mod order;
mod path_mtu;
mod places;
mod planner;
mod receive;
mod receiving;
mod refusal;
mod schedule;
mod sending;
mod subflows;
mod timers;
mod transmit;
mod views;
mod window;

pub use handshake::is_join;
pub use octets::Position;

#[cfg(test)]
mod tests;

use crate::config::{Config, OPTION_RESERVE};
use crate::coupling::Control;
use crate::event::{Event, FailureReason, FallbackReason, Stats};
use crate::id::{Path, SubflowId};
use crate::keys::{self, Secret};
use crate::memory::{Memory, SendBuffer};
use crate::path_manager::{self, PathManager};
use crate::reassembly::Reassembly;
use crate::role::Role;
use crate::subflow::{New, Subflow};
use address::Addresses;
use agreement::Agreement;
use planner::Planner;
use receiving::Receiving;
use ropewalk_tcp::{self as tcp, CongestionControl, WindowOwner};
use ropewalk_units::{Instant, Seq};
use ropewalk_wire::{MptcpOption, Payload, Segment, Token};
use sending::{Finish, Sending};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use subflows::Subflows;
use timers::Timers;
use window::ReceiveWindow;

/// The protocol that the connection runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// MP_CAPABLE is not settled.
    Opening,
    /// Both keys are known.
    Multipath,
    /// Plain TCP on the initial subflow, after fallback (RFC 8684 §3.7).
    Tcp,
}

/// How the connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Closed,
    Failed,
}

/// Why octets are carried once more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reinjection {
    /// The subflows that carried them are slow, timed out or dead.
    Repair,
    /// The connection-level window is full, and they are the oldest octets in it (opportunistic retransmission).
    Opportunistic,
}

/// Where a host opens a connection, and with what numbers of its own.
#[derive(Clone, Debug)]
pub struct Connecting {
    /// The SYN with MP_CAPABLE leaves on the first; the others are the path manager's.
    pub paths: Vec<Path>,
    /// The initial sequence number of the first path (RFC 6528: a function of its 4-tuple and a clock, which are the
    /// driver's).
    pub iss: Seq,
    /// Randomness.
    pub secret: Secret,
}

/// Where a host accepts a connection, and with what numbers of its own.
#[derive(Clone, Debug)]
pub struct Accepting {
    /// Where the SYN came in.
    pub path: Path,
    /// All addresses at which this host can be joined.
    pub local_addresses: Vec<SocketAddr>,
    /// The initial sequence number, as of [`Connecting`].
    pub iss: Seq,
    /// Randomness.
    pub secret: Secret,
}

/// A Multipath TCP connection, sans IO: time and randomness are arguments, input is a method call, output is
/// polled.
///
/// Inside one event: `handle_segment` or `handle_timeout`, then `poll_event` until `None`, `read`, `push`, then
/// `poll_transmit` until `None`, then `poll_timeout` once.
#[derive(Clone, Debug)]
pub struct Connection {
    config: Config,
    tcp_config: Arc<tcp::Config>,
    role: Role,
    mode: Mode,
    /// The subflow that goes on alone after fallback.
    plain: u32,
    end: Option<End>,
    agreement: Agreement,
    subflows: Subflows,
    sending: Sending,
    memory: Memory,
    receiving: Receiving,
    addresses: Addresses,
    path_manager: PathManager,
    planner: Planner,
    timers: Timers,
    /// Without what the send queue and the reassembly count themselves.
    stats: Stats,
    events: VecDeque<Event>,
}

impl Connection {
    /// Opens a connection: the SYN with MP_CAPABLE comes out of `poll_transmit`.
    ///
    /// # Panics
    /// If there is no path.
    pub fn connect(config: Config, connecting: Connecting, now: Instant) -> Self {
        let Connecting { paths, iss, secret } = connecting;
        let path_manager = PathManager::client(&config, &paths);
        let mut connection = Self::new(config, Role::Client, path_manager, secret);
        let local = paths.iter().map(|path| path.local).collect::<Vec<_>>();
        let first = paths.first().copied().expect("a connection has at least one path");
        connection.addresses = Addresses::new(first, &local, connection.config.endpoints(Role::Client));
        connection.agreement.checksum = connection.config.checksum;
        let tcp = tcp::Connection::connect(Arc::clone(&connection.tcp_config), iss, now);
        connection.add_initial(tcp, first);
        connection
    }

    /// Before anything is sent: the connection opens as plain TCP, since SYNs with MP_CAPABLE are lost on the way.
    pub fn avoid_blackhole(&mut self) {
        self.fall_back(FallbackReason::NotOffered);
    }

    /// Answers a SYN that opens a connection. A SYN without MP_CAPABLE makes a plain TCP
    /// connection; one with MP_JOIN opens none ([`Refusal::UNKNOWN`](crate::Refusal::UNKNOWN)). The initial subflow is
    /// `SubflowId(0)`.
    pub fn accept(config: Config, accepting: Accepting, syn: &Segment, now: Instant) -> Self {
        Self::accept_by(tcp::Connection::accept, config, accepting, syn, now)
    }

    /// As [`Self::accept`], where a SYN/ACK has left and nothing was kept of it ([`tcp::Connection::accept_answered`]). If the SYN has
    /// MP_CAPABLE, the secret is the one that the SYN/ACK's key was made of; the third segment brings both keys (RFC 8684 §3.1).
    pub fn accept_answered(config: Config, accepting: Accepting, syn: &Segment, now: Instant) -> Self {
        let mut connection = Self::accept_by(tcp::Connection::accept_answered, config, accepting, syn, now);
        // What the SYN/ACK has told: its window, for the first octets may come with the third segment.
        connection.receiving.window.on_syn();
        connection
    }

    fn accept_by(
        open: fn(Arc<tcp::Config>, &Segment, Seq, Instant) -> tcp::Connection,
        config: Config,
        accepting: Accepting,
        syn: &Segment,
        now: Instant,
    ) -> Self {
        let Accepting { path, local_addresses, iss, secret } = accepting;
        let path_manager = PathManager::server(&config, &local_addresses, path);
        let mut connection = Self::new(config, Role::Server, path_manager, secret);
        let named = connection.config.endpoints(Role::Server);
        connection.addresses = Addresses::new(path, &local_addresses, named);
        let tcp = open(Arc::clone(&connection.tcp_config), syn, iss, now);
        connection.add_initial(tcp, path);
        let capable = syn.options.mptcp.rare().iter().find_map(|option| match option {
            MptcpOption::Capable { checksum_required, no_more_subflows, sender_key: None, .. } => {
                Some((*checksum_required, *no_more_subflows))
            }
            _ => None,
        });
        match capable {
            // RFC 8684 §3.1: checksums are used if either host asks for them.
            Some((required, refuses)) => {
                connection.agreement.checksum = required || connection.config.checksum;
                if refuses {
                    connection.path_manager.deny_initial();
                }
            }
            None => connection.fall_back(FallbackReason::NotCapable),
        }
        connection
    }

    fn new(config: Config, role: Role, path_manager: PathManager, secret: Secret) -> Self {
        let agreement = Agreement::new(secret);
        let memory = Memory::new(&config);
        let planner = Planner::new(&config);
        let reassembly = Reassembly::new(config.tcp.most_pieces(config.receive_buffer));
        let window = ReceiveWindow::new(&config);
        Self {
            role,
            mode: Mode::Opening,
            plain: 0,
            end: None,
            sending: Sending::new(keys::initial_dsn(agreement.own_key), SendBuffer::new(&memory)),
            memory,
            receiving: Receiving::new(reassembly, window),
            agreement,
            subflows: Subflows::default(),
            addresses: Addresses::default(),
            path_manager,
            timers: Timers::default(),
            stats: Stats::default(),
            events: VecDeque::new(),
            tcp_config: Arc::new(subflow_config(&config, planner.control())),
            planner,
            config,
        }
    }

    fn add_initial(&mut self, tcp: tcp::Connection, path: Path) {
        let id = self.subflows.next_id();
        let new = New {
            id,
            path,
            path_index: 0,
            tcp,
            place: 0,
            active: self.role == Role::Client,
            join: None,
            local_id: 0,
            remote_id: 0,
            backup: false,
        };
        self.subflows.occupy(0, new);
        self.follow_window();
        self.events.push_back(Event::SubflowCreated { id, path });
    }

    /// This host's token: the peer's MP_JOINs name it, so that the host finds the connection.
    pub fn token(&self) -> Token {
        self.agreement.own_token
    }

    /// Has [`Self::poll_event`] anything to tell?
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Octets that may be written: what is free in the send buffer. With [`Config::send_autotuning`] that is 0 from when it was
    /// full until a third of it is free.
    pub fn send_space(&self) -> u64 {
        self.sending.space()
    }

    /// Writes the next octets of the stream; the caller respects [`Connection::send_space`]. Ignored after
    /// [`Connection::finish`].
    pub fn push(&mut self, octets: u64) {
        if self.end.is_none() && self.sending.write(octets) {
            self.planner.due.request_schedule();
        }
    }

    /// No more will be written: a DATA_FIN follows the last octet (RFC 8684 §3.3.3).
    pub fn finish(&mut self) {
        if self.sending.finish == Finish::No {
            self.sending.finish = Finish::Wanted;
            self.planner.due.request_schedule();
        }
    }

    /// Octets that can be read.
    pub fn readable(&self) -> u64 {
        self.receiving.reassembly.readable()
    }

    /// Reads up to `max` octets of the stream, in order; a part is contiguous in the generated stream.
    pub fn read(&mut self, max: u64) -> Option<Payload> {
        let payload = self.receiving.reassembly.read(max)?;
        self.receiving.window.read(u64::from(payload.len));
        self.offer_window_update();
        let reassembly = &self.receiving.reassembly;
        if self.config.tcp.delayed_ack.after_reading
            && reassembly.readable() == 0
            && reassembly.waiting() == 0
        {
            self.on_all_read();
        }
        Some(payload)
    }

    /// Has the peer finished, and has everything before been read?
    pub fn peer_finished(&self) -> bool {
        self.receiving.is_finished() && self.receiving.reassembly.readable() == 0
    }

    /// The subflows that live, and those that have ended as long as their places are not needed.
    pub fn subflows(&self) -> impl Iterator<Item = &Subflow> {
        self.subflows.iter()
    }

    /// One subflow.
    pub fn subflow(&self, id: SubflowId) -> Option<&Subflow> {
        Some(&self.subflows[self.subflows.place_of(id)?])
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        Stats {
            bytes_delivered: self.receiving.reassembly.next(),
            duplicate_bytes: self.receiving.reassembly.duplicates(),
            hol_blocked: self.receiving.reassembly.blocked(),
            reorder_buffer: self.receiving.reassembly.waiting(),
            reorder_buffer_max: self.receiving.reassembly.waiting_max(),
            bytes_acked: self.sending.queue.una(),
            ..self.stats
        }
    }

    /// Does the connection run as plain TCP?
    pub fn is_fallen_back(&self) -> bool {
        self.mode == Mode::Tcp
    }

    /// Is the connection over, with success or with an error?
    pub fn is_closed(&self) -> bool {
        self.end.is_some()
    }

    fn emit(&mut self, event: Event) {
        // A driver that does not poll events costs bounded memory: events that only inform are dropped.
        if self.events.len() >= self.config.limits.events as usize && event.only_informs() {
            return;
        }
        self.events.push_back(event);
    }

    /// The connection is over with an error: every subflow left is reset.
    fn fail(&mut self, reason: FailureReason) {
        if self.end.is_none() {
            self.end = Some(End::Failed);
            self.emit(Event::Failed(reason));
            self.abort_subflows();
        }
    }

    /// May subflows be given data?
    fn may_carry_data(&self) -> bool {
        self.mode != Mode::Opening && self.end.is_none()
    }

    fn notify_path_manager(&mut self, now: Instant, event: path_manager::Event) {
        if self.mode == Mode::Multipath && self.end.is_none() {
            self.timers.on_slow_change();
            for action in self.path_manager.on(now, event) {
                self.act(now, action);
            }
        }
    }
}

/// A subflow's TCP configuration: what the connection decides itself is filled in.
fn subflow_config(config: &Config, control: Control) -> tcp::Config {
    let mut tcp = config.tcp.clone();
    tcp.window_owner = WindowOwner::Shared;
    tcp.option_reserve = OPTION_RESERVE;
    tcp.send_buffer = config.send_buffer;
    // The connection's buffer says what is written.
    tcp.send_autotuning = false;
    // Partial segments are held back, or not, before they are given to a subflow.
    tcp.nagle = false;
    // RFC 7323 §2.3: a shift that can express the connection's whole receive buffer (RFC 8684 §3.3.5).
    let shift = (0..14).find(|shift| 65_535u64 << shift >= u64::from(config.receive_buffer)).unwrap_or(14);
    let given = tcp.window_scale.unwrap_or(0);
    tcp.window_scale = (shift > 0 || tcp.window_scale.is_some()).then_some(given.max(shift));
    let (byte_counting, hystart) = (config.byte_counting, config.hystart);
    tcp.congestion_control = match control {
        Control::NewReno => CongestionControl::NewReno { byte_counting },
        Control::Cubic => CongestionControl::Cubic { hystart },
        Control::Bbr => CongestionControl::Bbr,
        Control::Coupled => CongestionControl::Coupled { byte_counting },
    };
    tcp
}
