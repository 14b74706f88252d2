//! What all parts of a connection share.

use crate::config::{Config, WindowOwner};
use crate::event::Event;
use crate::outbox::Outbox;
use crate::state::State;
use crate::stats::Stats;
use crate::timestamp;
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::Segment;
use std::collections::VecDeque;
use std::sync::Arc;

/// RFC 9293 §3.7.1: without an MSS option.
const DEFAULT_MSS: u16 = 536;
/// Room for all options and 8 octets of data (Linux `tcp_min_snd_mss`): a smaller MSS would have every octet sent in a
/// segment of its own.
const LEAST_MSS: u16 = 48;
/// RFC 7323 §2.3: a larger shift counts as this.
pub(crate) const MAX_SCALE: u8 = 14;

/// What every part of a connection may read. Its counters, events and segments that are due go there too.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Context {
    /// Connections share it: a copy for each of a thousand would not fit the cache.
    pub(crate) config: Arc<Config>,
    /// The time of the last call.
    pub(crate) now: Instant,
    /// Only the connection sets it.
    pub(crate) state: State,
    pub(crate) agreed: Agreed,
    pub(crate) outbox: Outbox,
    events: VecDeque<Event>,
    pub(crate) stats: Stats,
}

/// What both SYNs offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Agreed {
    /// Window scaling.
    pub(crate) scaling: bool,
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    pub(crate) ecn: bool,
    /// The peer's limit.
    pub(crate) mss: u16,
}

impl Agreed {
    /// What [`Config`] offers and the peer's `syn` offers too; ECN is agreed on apart.
    fn on(config: &Config, syn: &Segment) -> Self {
        let options = &syn.options;
        Self {
            scaling: config.window_scale.is_some() && options.window_scale.is_some(),
            timestamps: config.timestamps && options.timestamps.is_some(),
            sack: config.sack && options.sack_permitted,
            ecn: false,
            // An MSS of zero says nothing (Linux ignores it).
            mss: options.mss.filter(|mss| *mss > 0).unwrap_or(DEFAULT_MSS).max(LEAST_MSS),
        }
    }
}

impl Context {
    pub(crate) fn new(config: Arc<Config>, state: State, now: Instant) -> Self {
        let nothing = Agreed { scaling: false, timestamps: false, sack: false, ecn: false, mss: DEFAULT_MSS };
        Self {
            config,
            now,
            state,
            agreed: nothing,
            outbox: Outbox::with_syn(),
            events: VecDeque::new(),
            stats: Stats::default(),
        }
    }

    /// The peer's SYN is known.
    pub(crate) fn agree(&mut self, syn: &Segment) {
        self.agreed = Agreed { ecn: self.agreed.ecn, ..Agreed::on(&self.config, syn) };
    }

    /// The path carries no more than this MSS.
    pub(crate) fn lower_mss(&mut self, mss: u16) {
        self.agreed.mss = self.agreed.mss.min(mss.max(LEAST_MSS));
    }

    /// The path may carry more again: as much as the peer's MSS was.
    pub(crate) fn restore_mss(&mut self, mss: u16) {
        self.agreed.mss = mss;
    }

    /// RFC 6691: octets of data in a full segment; options that every segment carries come out of the MSS.
    pub(crate) fn segment_size(&self) -> u32 {
        let mss = u32::from(self.config.mss.min(self.agreed.mss));
        let timestamps = if self.agreed.timestamps { 12 } else { 0 };
        mss.saturating_sub(timestamps + self.config.option_reserve).max(1)
    }

    /// Is the window this connection's own, not the owner's above?
    pub(crate) fn owns_window(&self) -> bool {
        self.config.window_owner == WindowOwner::Own
    }

    /// TSval of this moment.
    pub(crate) fn timestamp(&self) -> u32 {
        timestamp::value(self.now)
    }

    /// The millisecond at which the echoed timestamp was sent.
    pub(crate) fn echo_millis(&self, echo: Option<u32>) -> Option<u64> {
        let echo = echo.filter(|echo| *echo != 0)?;
        self.now.as_millis().checked_sub(timestamp::age(self.now, echo).as_millis())
    }

    /// To tell the owner.
    pub(crate) fn event(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// The oldest event.
    pub(crate) fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Is there any?
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    pub(crate) fn trace_rtt(&mut self, sample: Duration, srtt: Option<Duration>) {
        if self.config.trace {
            self.event(Event::RttMeasured { sample, srtt: srtt.unwrap_or(sample) });
        }
    }
}
