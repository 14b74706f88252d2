//! What stations tell all that hear them: `[wifi.broadcasts.NAME]`.

use crate::schema::interval::{Interval, IntervalTable};
use crate::schema::quantity::{Name, Size, Time};
use crate::schema::table::table;
use ropewalk_units::{Duration, Instant};

table! {
    /// Datagrams that stations send to all that hear them: hellos, probes, announcements. They go once, without an ACK,
    /// and no station forwards them.
    #[derive(Default)]
    BroadcastTable =>
    /// Datagrams that stations send to all that hear them.
    #[derive(Clone, PartialEq, Debug)]
    pub struct BroadcastPlan {
        computed {
            /// The channel (default: the network's first).
            channel: u8;
            /// Each station begins at a time of its own, drawn from so much after `start` (default: the interval; 0 s:
            /// all at once).
            spread: Duration as Time;
        }
        keys {
            /// The stations that send (default: all with a radio on the channel).
            from: Option<Vec<String>> as Vec<Name> = None;
            /// Payload octets of one datagram; 28 octets of headers come on top.
            packet_size: u32 as Size = 100;
            /// From one datagram of a station to its next.
            interval: Interval as IntervalTable = Interval::Constant(Duration::from_secs(1));
            /// When the first are sent.
            start: Instant as Time = Instant::ZERO;
            /// How long from `start` (default: until the end).
            duration: Option<Duration> as Time = None;
        }
        fixed {
            /// Its name.
            name: String = String::new();
        }
    }
}
