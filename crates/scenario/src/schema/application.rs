//! Applications: `application` of a connection.

use super::interval::{Interval, IntervalTable};
use super::quantity::{BitRate, Size, Time};
use super::table::table;
use super::tagged::tagged;
use ropewalk_units::{Duration, Instant, Rate};
use schemars::{Schema, SchemaGenerator};

tagged! {
    /// What a connection transfers.
    enum ApplicationTable by "kind",
    expected "an application such as \"bulk\" or { kind = \"bulk\", bytes = \"20 MB\" }",
    short no_short_application as no_schema;
    /// As fast as the transport takes it.
    "bulk" => Bulk(BulkTable),
    /// Packets at regular times.
    "constant-rate" => ConstantRate(ConstantRateTable),
    /// Packets at regular times in bursts, with silence between them.
    "on-off" => OnOff(OnOffTable),
    /// Requests, answers, and time to think between them.
    "request-response" => RequestResponse(RequestResponseTable),
    /// Frames of voice or video at regular times, each in so many packets; over UDP.
    "frames" => Frames(FramesTable),
    /// Datagrams of recorded lengths at recorded times; over UDP.
    "recorded" => Recorded(RecordedTable),
}

fn no_short_application(_: Result<&str, f64>) -> Option<ApplicationTable> {
    None
}

fn no_schema(_: &mut SchemaGenerator) -> Option<Schema> {
    None
}

/// On and off on average, unless the file says otherwise.
const SECOND: Interval = Interval::Exponential(Duration::from_secs(1));

table! {
    /// Keys of a bulk transfer. Neither: until the end of the simulation.
    #[derive(Default)]
    BulkTable =>
    /// As fast as the transport takes it. Ends after `bytes`, or after `duration` from the start of the connection, or
    /// (neither given) with the scenario.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Bulk {
        keys {
            /// How much.
            bytes: Option<u64> as Size = None;
            /// How long from the start of the connection.
            duration: Option<Duration> as Time = None;
        }
    }
}

table! {
    /// Keys of constant-rate traffic.
    ConstantRateTable =>
    /// One packet (one datagram, or one write to the stream) at regular times.
    #[derive(Clone, PartialEq, Debug)]
    pub struct ConstantRate {
        required {
            /// Payload rate.
            rate: Rate as BitRate;
        }
        computed {
            /// Payload octets of one packet (default 1400 B).
            packet_size: u32 as Size;
        }
        keys {
            /// How long from the start of the connection (default: until the end).
            duration: Option<Duration> as Time = None;
            /// Other rates from given times on.
            changes: Vec<RateChange> as Vec<RateChangeTable> = Vec::new();
        }
    }
}

table! {
    /// A new rate of constant-rate traffic.
    RateChangeTable =>
    /// Another payload rate from a time on.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct RateChange {
        required {
            /// When, from the start of the simulation.
            at: Instant as Time;
            /// The payload rate from then on.
            rate: Rate as BitRate;
        }
    }
}

table! {
    /// Keys of on/off traffic.
    OnOffTable =>
    /// Constant rate in bursts with silence between them; begins with a burst.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct OnOff {
        required {
            /// Payload rate within a burst.
            rate: Rate as BitRate;
        }
        computed {
            /// Payload octets of one packet (default 1400 B).
            packet_size: u32 as Size;
        }
        keys {
            /// Length of a burst.
            on: Interval as IntervalTable = SECOND;
            /// Length of a silence.
            off: Interval as IntervalTable = SECOND;
            /// How long from the start of the connection (default: until the end).
            duration: Option<Duration> as Time = None;
        }
    }
}

table! {
    /// Keys of request/response traffic.
    #[derive(Default)]
    RequestResponseTable =>
    /// The client sends a request, the server answers, the client thinks, and so on. The connection closes after the
    /// last answer.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct RequestResponse {
        keys {
            /// Octets of one request.
            request: u64 as Size = 400;
            /// Octets of one answer.
            response: u64 as Size = 100_000;
            /// From the end of an answer to the next request.
            think: Interval as IntervalTable = Interval::Constant(Duration::ZERO);
            /// How many exchanges (default: until the end).
            count: Option<u32> as u32 = None;
        }
    }
}

table! {
    /// Keys of frames of voice or video.
    FramesTable =>
    /// A frame at regular times, each in so many packets. Over UDP; the table `frames` tells when each was whole.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Frames {
        required {
            /// From one frame to the next.
            interval: Duration as Time;
        }
        computed {
            /// Payload octets of one packet (default 1400 B).
            packet_size: u32 as Size;
        }
        keys {
            /// Packets of one frame.
            packets: u32 as u32 = 1;
            /// So often comes a key frame, the first frame being one; needs `key_packets` (default: all frames are alike).
            key_every: Option<u32> as u32 = None;
            /// Packets of a key frame.
            key_packets: Option<u32> as u32 = None;
            /// Time over which the packets of one frame leave, evenly.
            spread: Duration as Time = Duration::ZERO;
            /// How long from the start of the connection (default: until the end).
            duration: Option<Duration> as Time = None;
        }
    }
}

table! {
    /// Keys of recorded traffic.
    RecordedTable =>
    /// Where recorded traffic is.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct RecordedFile {
        required {
            /// A file with a line for each datagram: µs from the start of the connection, a comma, octets of payload. Its
            /// path is relative to the scenario's.
            file: String as String;
        }
    }
}
