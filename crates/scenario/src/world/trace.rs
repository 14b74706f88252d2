//! What the ends of a connection and the gateways of a bond note of what happens to them.

use crate::outcome::EventRow;
use crate::plan::{EventKind, EventKinds};
use ropewalk_bonding::{self as bonding, PathId, Reason};
use ropewalk_mptcp::{self as mptcp, FallbackReason, SubflowCloseReason};
use ropewalk_tcp as tcp;
use ropewalk_units::Instant;

/// Notes of one place, kept until the world pauses. Places and connections are filled in by who collects them.
#[derive(Debug)]
pub(crate) struct Trace {
    kinds: EventKinds,
    rows: Vec<EventRow>,
    /// The last window of each subflow: only changes are noted.
    windows: Vec<[u32; 2]>,
}

/// A trace, if anybody wants one.
pub(crate) type MaybeTrace = Option<Box<Trace>>;

impl Trace {
    /// Of these kinds.
    pub(crate) fn new(kinds: EventKinds) -> Box<Self> {
        Box::new(Self { kinds, rows: Vec::new(), windows: Vec::new() })
    }

    /// What has been noted since the last call.
    pub(crate) fn take(&mut self) -> Vec<EventRow> {
        std::mem::take(&mut self.rows)
    }

    fn note(&mut self, row: EventRow) {
        if self.kinds.contains(row.kind) {
            self.rows.push(row);
        }
    }

    /// Something happened to a TCP connection that is no subflow.
    pub(crate) fn tcp(&mut self, now: Instant, event: tcp::Event) {
        let connection = |name| EventRow::new(now, EventKind::PathManager, name);
        match event {
            tcp::Event::Established => self.note(connection("established")),
            tcp::Event::Closed(reason) => self.note(connection("closed").because(reason.to_string())),
            _ => self.subflow(now, 0, event),
        }
    }

    /// Something happened to a subflow.
    fn subflow(&mut self, now: Instant, subflow: u32, event: tcp::Event) {
        let row = |kind, name| EventRow { subflow: Some(subflow), ..EventRow::new(now, kind, name) };
        let noted = match event {
            tcp::Event::TimeoutFired { consecutive, rto } => {
                let row = EventRow { duration: Some(rto), ..row(EventKind::Timeout, "timeout") };
                match consecutive {
                    0 | 1 => row.because("nothing was acknowledged in time"),
                    _ => {
                        row.because(format!("nothing was acknowledged in time, {consecutive} times in a row"))
                    }
                }
            }
            tcp::Event::RecoveryEntered { .. } => {
                row(EventKind::Recovery, "recovery-begun").because("segments are taken for lost")
            }
            tcp::Event::RecoveryLeft => {
                row(EventKind::Recovery, "recovery-ended").because("all sent before it is acknowledged")
            }
            tcp::Event::Undone => row(EventKind::Recovery, "recovery-undone")
                .because("nothing was lost: the window is restored"),
            tcp::Event::TailLossProbeSent => {
                row(EventKind::Recovery, "tail-loss-probe").because("the last segments are unacknowledged")
            }
            tcp::Event::CwndUpdated { cwnd, ssthresh } => {
                let window = [cwnd, ssthresh];
                if !self.is_new_window(subflow, window) {
                    return;
                }
                EventRow { window: Some(window), ..row(EventKind::Window, "window") }
            }
            tcp::Event::RttMeasured { sample, .. } => {
                EventRow { duration: Some(sample), ..row(EventKind::Rtt, "rtt") }
            }
            tcp::Event::Retransmitted { len, .. } => {
                EventRow { octets: Some(len), ..row(EventKind::Retransmission, "retransmission") }
            }
            tcp::Event::Established
            | tcp::Event::PeerFinished
            | tcp::Event::FinAcknowledged
            | tcp::Event::Closed(_) => return,
        };
        self.note(noted);
    }

    fn is_new_window(&mut self, subflow: u32, window: [u32; 2]) -> bool {
        let place = subflow as usize;
        if self.windows.len() <= place {
            self.windows.resize(place + 1, [0; 2]);
        }
        std::mem::replace(&mut self.windows[place], window) != window
    }

    /// Something happened to a Multipath TCP connection.
    pub(crate) fn mptcp(&mut self, now: Instant, event: &mptcp::Event) {
        match *event {
            mptcp::Event::Subflow { id, event } => self.subflow(now, id.0, event),
            mptcp::Event::Scheduled { id, data, octets, reason } => {
                let row = EventRow::new(now, EventKind::Scheduling, "scheduled");
                self.note(of(id, row).of_data(data, octets).because(reason));
            }
            mptcp::Event::Reinjected { id, data, octets, opportunistic } => {
                let why = match opportunistic {
                    true => "the receive window is full: another subflow repeats its first octets",
                    false => "the subflow that carried it timed out or ended",
                };
                let row = EventRow::new(now, EventKind::Reinjection, "reinjected");
                self.note(of(id, row).of_data(data, octets).because(why));
            }
            mptcp::Event::Penalized(id) => {
                let row = EventRow::new(now, EventKind::Reinjection, "penalized");
                self.note(of(id, row).because("it held the receive window up"));
            }
            mptcp::Event::Blocked { data } => {
                let row = EventRow::new(now, EventKind::Blocking, "blocked");
                self.note(EventRow { data: Some(data), ..row }.because("data waits behind this octet"));
            }
            mptcp::Event::Unblocked { data, waited } => {
                let row = EventRow::new(now, EventKind::Blocking, "unblocked");
                self.note(EventRow { data: Some(data), duration: Some(waited), ..row });
            }
            _ => self.path_manager(now, event),
        }
    }

    fn path_manager(&mut self, now: Instant, event: &mptcp::Event) {
        let row = |name| EventRow::new(now, EventKind::PathManager, name);
        let noted = match *event {
            mptcp::Event::Established => row("established"),
            mptcp::Event::FellBack(reason) => row("fell-back").because(fallback(reason)),
            mptcp::Event::SubflowCreated { id, path } => {
                of(id, row("subflow-created")).because(format!("{} to {}", path.local, path.remote))
            }
            mptcp::Event::SubflowEstablished(id) => of(id, row("subflow-established")),
            mptcp::Event::SubflowClosed { id, reason } => {
                of(id, row("subflow-closed")).because(ended(reason))
            }
            mptcp::Event::AddressAnnounced { address_id, address } => {
                row("address-announced").because(format!("{address} as address {address_id}"))
            }
            mptcp::Event::AddressRemoved { address_id } => {
                row("address-removed").because(format!("address {address_id}"))
            }
            mptcp::Event::PriorityChanged { id, backup } => {
                let why = if backup { "the peer made it a backup" } else { "it is no backup any more" };
                of(id, row("priority-changed")).because(why)
            }
            mptcp::Event::ChecksumFailed(id) => of(id, row("checksum-failed")),
            mptcp::Event::Closed => row("closed"),
            mptcp::Event::Failed(reason) => row("failed").because(reason.to_string()),
            _ => return,
        };
        self.note(noted);
    }

    /// A gateway gave a packet of so many octets to a path; `repair`: again, as its path had lost it.
    pub(crate) fn bound(&mut self, now: Instant, path: PathId, octets: u32, why: Bound) {
        let reason = match why {
            Bound::First(reason) => words(reason),
            Bound::Repair => "the path that carried it had lost it",
        };
        let row = EventRow::new(now, EventKind::BondDecision, "sent");
        self.note(EventRow { subflow: Some(u32::from(path.0)), octets: Some(octets), ..row }.because(reason));
    }

    /// Something happened to a gateway's end of a bond.
    pub(crate) fn bond(&mut self, now: Instant, event: bonding::Event) {
        let row = |name| EventRow::new(now, EventKind::Bond, name);
        let of = |path: PathId, name| EventRow { subflow: Some(u32::from(path.0)), ..row(name) };
        let noted = match event {
            bonding::Event::PathStateChanged { path, from, to } => {
                of(path, "path-state").because(format!("{} to {}", from.name(), to.name()))
            }
            bonding::Event::WeightChanged { path, from, to } => {
                of(path, "weight").because(format!("{from} to {to}"))
            }
            bonding::Event::GaveUp { packets } => {
                row("gave-up").because(format!("{packets} missing packets would come too late"))
            }
            bonding::Event::NoPath => row("no-path").because("every path is down"),
            bonding::Event::Dropped { packets } => {
                row("dropped").because(format!("{packets} packets found no room, or waited for too long"))
            }
            bonding::Event::Overrun { events } => {
                row("overrun").because(format!("{events} events were lost"))
            }
        };
        self.note(noted);
    }
}

/// Why a gateway sends a packet by this path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    /// For the first time: what the scheduler says.
    First(Reason),
    /// Again.
    Repair,
}

fn of(id: mptcp::SubflowId, row: EventRow) -> EventRow {
    EventRow { subflow: Some(id.0), ..row }
}

const fn words(reason: Reason) -> &'static str {
    match reason {
        Reason::Turn => "its turn in the round",
        Reason::Earliest => "the packet arrives by it first",
        Reason::Followers => "what follows the packet arrives by it first",
        Reason::Overflow => "the shorter or cheaper paths are full for longer than this one takes",
        Reason::Cheapest => "the cheapest path that may send",
        Reason::Home => "the flow's own path",
        Reason::Copies => "a copy goes on every path",
        Reason::Wait => "it waited for a path",
    }
}

const fn fallback(reason: FallbackReason) -> &'static str {
    match reason {
        FallbackReason::NotCapable => "the peer's SYN had no MP_CAPABLE",
        FallbackReason::Blackhole => "only a SYN without MP_CAPABLE was answered",
        FallbackReason::NotOffered => "the host knows that MP_CAPABLE is not answered on this way",
        FallbackReason::HandshakeStripped => "the handshake lost its options",
        FallbackReason::Stripped => "data or ACKs lost their options",
        FallbackReason::ChecksumFailed => "a checksum failed on the only subflow",
        FallbackReason::PeerFellBack => "the peer fell back",
    }
}

fn ended(reason: SubflowCloseReason) -> String {
    match reason {
        SubflowCloseReason::Finished => "finished on both sides".to_owned(),
        SubflowCloseReason::Aborted(why) => format!("this host reset it: {why:?}"),
        SubflowCloseReason::Reset(Some(why)) => format!("the peer reset it: {why:?}"),
        SubflowCloseReason::Reset(None) => "the peer reset it".to_owned(),
        SubflowCloseReason::Refused => "the peer refused it".to_owned(),
        SubflowCloseReason::TimedOut => "too many timeouts in a row".to_owned(),
    }
}
