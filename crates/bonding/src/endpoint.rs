//! One gateway's end of a bond.

use crate::config::{Config, ConfigError};
use crate::control::Control;
use crate::event::{Event, PathState, TimerKind};
use crate::flow::FlowKey;
use crate::header::DataHeader;
use crate::id::{FlowSeq, GlobalSeq, MAX_PATHS, PathId, PathSeq};
use crate::view::{PathView, ResequencerView};
use ropewalk_units::{Duration, Instant, Rate};
use std::collections::VecDeque;

/// Where copies of one packet go: one entry for each, with the header to put before it. Empty when every path is
/// down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dispatch {
    headers: [DataHeader; MAX_PATHS],
    count: u8,
}

const NO_HEADER: DataHeader = DataHeader {
    path: PathId(0),
    class: crate::flow::Class::Normal,
    bucket: 0,
    flow_seq: FlowSeq::new(0),
    global_seq: GlobalSeq::new(0),
    path_seq: PathSeq::new(0),
    timestamp: 0,
};

impl Dispatch {
    const NONE: Self = Self { headers: [NO_HEADER; MAX_PATHS], count: 0 };

    /// One header for each copy; it names its path.
    pub fn headers(&self) -> &[DataHeader] {
        &self.headers[..usize::from(self.count)]
    }

    /// The copies: path and header.
    pub fn iter(&self) -> impl Iterator<Item = (PathId, DataHeader)> + '_ {
        self.headers().iter().map(|header| (header.path, *header))
    }
}

/// Why a data packet was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A copy was taken before.
    Duplicate,
    /// It came after the resequencer had given it up.
    Late,
    /// The path is none of this bond's, or the header names another.
    UnknownPath,
    /// The driver has left so many packets undelivered that there is no room.
    Full,
}

/// A data packet that was not taken, with its packet, for the driver to free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refused<P> {
    /// The packet.
    pub packet: P,
    /// Why.
    pub reason: Refusal,
}

/// One gateway's end of a bond: ingress of what it sends, egress of what it receives. `P` is the driver's handle of a
/// packet: octets, or a number in an arena.
pub struct Endpoint<P> {
    config: Config,
    ready: VecDeque<P>,
    sent: u32,
}

impl<P> Endpoint<P> {
    /// A bond that begins at `now`, or what is wrong with its configuration.
    pub fn new(config: Config, now: Instant) -> Result<Self, ConfigError> {
        config.validate()?;
        let _ = now;
        Ok(Self { config, ready: VecDeque::new(), sent: 0 })
    }

    /// A packet of `len` octets from the LAN side. Ingress holds no packet: the driver sends one copy for each header.
    pub fn ingress(&mut self, now: Instant, len: u32, flow: FlowKey) -> Dispatch {
        let _ = (len, flow);
        let mut dispatch = Dispatch::NONE;
        dispatch.count = 1;
        dispatch.headers[0].global_seq = GlobalSeq::new(self.sent);
        dispatch.headers[0].timestamp = now.as_micros() as u32;
        self.sent += 1;
        dispatch
    }

    /// A data packet that came by a path: `len` octets without the header.
    ///
    /// # Errors
    ///
    /// The packet, and why it was refused.
    pub fn handle_data(
        &mut self,
        now: Instant,
        path: PathId,
        header: &DataHeader,
        len: u32,
        packet: P,
    ) -> Result<(), Refused<P>> {
        let _ = (now, len);
        if header.path != path {
            return Err(Refused { packet, reason: Refusal::UnknownPath });
        }
        self.ready.push_back(packet);
        Ok(())
    }

    /// A control packet that came by a path.
    pub fn handle_control(&mut self, now: Instant, path: PathId, control: &Control) {
        let _ = (now, path, control);
    }

    /// The next control packet to send, and on which path.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<(PathId, Control)> {
        let _ = now;
        None
    }

    /// The next packet for the LAN side.
    pub fn poll_deliver(&mut self, now: Instant) -> Option<P> {
        let _ = now;
        self.ready.pop_front()
    }

    /// To be called when the time of [`Self::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
    }

    /// When [`Self::handle_timeout`] is to be called next, and why.
    pub fn poll_timeout(&self) -> Option<(Instant, TimerKind)> {
        None
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        None
    }

    /// One path.
    ///
    /// # Panics
    ///
    /// If there is no such path.
    pub fn path(&self, id: PathId) -> PathView {
        assert!(id.index() < self.config.paths.len(), "no such path");
        PathView {
            id,
            state: PathState::Up,
            sent_packets: 0,
            sent_bytes: 0,
            received_packets: 0,
            received_bytes: 0,
            lost_received: 0,
            lost_reported: 0,
            lost_reported_bytes: 0,
            weight: 0,
            srtt: None,
            queueing_delay: Duration::ZERO,
            delivery_rate: Rate::ZERO,
        }
    }

    /// All paths, in their order.
    pub fn paths(&self) -> impl Iterator<Item = PathView> + '_ {
        (0..self.config.paths.len()).map(|place| self.path(PathId(place as u8)))
    }

    /// The resequencer.
    pub fn resequencer(&self) -> ResequencerView {
        ResequencerView::default()
    }
}
