//! What a link direction is made of.

pub use ropewalk_aqm::{CodelConfig, FqCodelConfig, QueueLimit, codel_keys, fq_codel_keys};
use ropewalk_units::{Duration, Probability, Rate};
use std::sync::Arc;

/// Hands the constants of RED to the macro `$declare`: for each its documentation, its name, its type, what a scenario file
/// says for it (`as`), and its default. A new one is a line here, and where it is used.
#[macro_export]
macro_rules! red_keys {
    ($declare:path) => {
        $declare! {
            /// Below this average nothing is dropped.
            min_threshold: f64 = 5.0;
            /// At this average the drop probability is `max_probability`.
            max_threshold: f64 = 15.0;
            /// See `max_threshold`.
            max_probability: f64 as Chance = 0.1;
            /// Weight of a new sample in the average, above 0 and at most 1.
            weight: f64 = 0.002;
            /// Mark ECN-capable packets instead of dropping them.
            ecn: bool = false;
        }
    };
}

macro_rules! red_config {
    ($($keys:tt)*) => {
        ropewalk_units::settings! {
            /// RED (Floyd & Jacobson 1993), gentle; thresholds in packets of the average queue.
            #[derive(Clone, Copy, PartialEq, Debug)]
            pub struct RedConfig { $($keys)* }
        }
    };
}

red_keys!(red_config);

/// The queue before the transmitter.
#[derive(Clone, PartialEq, Debug)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    DropTail {
        /// Its limit.
        limit: QueueLimit,
        /// Mark ECN-capable packets that find at least this many packets queued (`None`: never).
        mark_above: Option<u32>,
    },
    /// RED.
    Red {
        /// Hard limit.
        limit: QueueLimit,
        /// Its constants.
        red: RedConfig,
    },
    /// CoDel.
    Codel {
        /// Hard limit.
        limit: QueueLimit,
        /// Its constants.
        codel: CodelConfig,
    },
    /// FQ-CoDel.
    FqCodel {
        /// Hard limit.
        limit: QueueLimit,
        /// Its constants.
        fq_codel: FqCodelConfig,
    },
}

/// Loss on the medium, after the transmitter: a lost packet has taken its transmission time.
#[derive(Clone, PartialEq, Debug)]
pub enum Loss {
    /// None.
    None,
    /// Each packet with this probability.
    Bernoulli(Probability),
    /// Each bit with this probability, of all octets on the link.
    BitErrors(Probability),
    /// Two states, changed before each packet.
    GilbertElliott {
        /// p: good to bad, per packet.
        good_to_bad: Probability,
        /// r: bad to good, per packet.
        bad_to_good: Probability,
        /// h_G: loss in the good state.
        loss_good: Probability,
        /// h_B: loss in the bad state.
        loss_bad: Probability,
    },
    /// Exactly these data packets ([`crate::Packet::is_data`]), counted from 1 as they leave the transmitter.
    /// In any order.
    Exact(Arc<[u64]>),
}

/// Random additional delay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Jitter {
    /// None.
    None,
    /// Uniform between zero and this.
    Uniform(Duration),
    /// Normal with this standard deviation around the propagation delay, never below zero in all.
    Normal(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    /// The delay wanders slowly between zero and `max`, as that of a cellular line does. Every `interval` a new
    /// target is drawn uniformly, and the delay moves to it in a straight line. All packets of a moment share it.
    Wander {
        /// Greatest additional delay.
        max: Duration,
        /// Time from one target to the next; above zero.
        interval: Duration,
    },
}

/// A Mahimahi trace: at each time (ms) one opportunity for 1500 octets; repeats from its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// Times of the opportunities in ms, ascending, at least one, the last above zero.
    pub opportunities_ms: Arc<[u64]>,
}

/// Hands the keys of a link's direction to the macro `$declare`: for each its documentation, its name, the variant of
/// [`Change`] with its type and what a scenario file says for it (`as`), and its default. Capacity is not among them: it is a rate or a trace.
///
/// A new key is a line here, and a line in the `match` over [`Change`] that the compiler then asks for. Scenario files
/// have it at once.
#[macro_export]
macro_rules! direction_keys {
    ($declare:path) => {
        $declare! {
            /// Propagation delay. A change holds for packets that leave the transmitter from then on.
            delay: Delay(Duration as Time) = Duration::ZERO;
            /// Random delay added to it.
            jitter: Jitter(Jitter as JitterTable) = Jitter::None;
            /// May jitter reorder packets? Otherwise a packet waits for the one before it.
            reorder: Reorder(bool) = false;
            /// Probability that a packet arrives twice.
            duplicate: Duplicate(Probability as Chance) = Probability::ZERO;
            /// Does what has left the transmitter get lost too, when the link goes down? Otherwise it arrives.
            down_loses_in_flight: DownLosesInFlight(bool) = false;
            /// Loss on the medium. After a change an exact list counts anew.
            loss: Loss(Loss as LossTable) = Loss::None;
            /// The queue before the transmitter. At a change what is queued stays as long as it fits.
            queue: Queue(Queue as QueueTable) = Queue::DropTail { limit: QueueLimit::Packets(100), mark_above: None };
        }
    };
}

macro_rules! direction_config {
    ($($(#[$doc:meta])* $key:ident: $variant:ident($type:ty $(as $form:ty)?) = $default:expr;)*) => {
        /// One direction of a link.
        #[derive(Clone, PartialEq, Debug)]
        pub struct DirectionConfig {
            /// Transmission rate; ignored with a trace.
            pub rate: Rate,
            /// Capacity from a trace instead of a rate.
            pub trace: Option<Trace>,
            $($(#[$doc])* pub $key: $type,)*
        }

        impl DirectionConfig {
            /// A direction of this rate, everything else as it is by default.
            pub fn new(rate: Rate) -> Self {
                Self { rate, trace: None, $($key: $default,)* }
            }
        }

        /// A timed change of one direction.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Change {
            /// Transmission rate, also for what waits in the queue and for the rest of the packet in transmission. With a
            /// trace it shows only when the trace is taken away.
            Rate(Rate),
            /// A trace, starting now, or none: then the rate counts. The packet in transmission ends as it would have.
            Trace(Option<Trace>),
            $($(#[$doc])* $variant($type),)*
            /// Down: what is queued, in transmission or offered is dropped (counted as loss). What has left the
            /// transmitter arrives, unless the direction says [`DirectionConfig::down_loses_in_flight`].
            Down,
            /// Up again.
            Up,
        }
    };
}

direction_keys!(direction_config);
