//! Links: `[links.NAME]`.

use super::quantity::{BitRate, Chance, Limit, Name, Quantity, Size, Time};
use super::table::table;
use super::tagged::tagged;
use ropewalk_sim::{
    Change, CodelConfig, DirectionConfig, FqCodelConfig, Jitter, Loss, Queue, QueueLimit, RedConfig, Trace,
};
use ropewalk_units::{Duration, Probability};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// MTU of a link that names none: Ethernet's.
pub(crate) const DEFAULT_MTU: u32 = 1500;

/// A value of a link's direction, and what a file says for it.
pub(crate) trait DirectionValue {
    /// What stands in the file.
    type Form;
    /// What a file would have to say for this value.
    fn form(&self) -> Self::Form;
}

/// Makes the tables of links and their changes of the keys that [`ropewalk_sim::direction_keys`] declares.
macro_rules! direction_tables {
    ($($(#[$doc:meta])* $key:ident: $variant:ident($type:ty) = $default:expr;)*) => {
        /// A link between two nodes. Keys of a direction given here hold for both directions.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct LinkTable {
            /// The two nodes it joins; `forward` is from the first to the second.
            pub(crate) between: [Name; 2],
            /// Greatest IP packet in octets.
            #[schemars(extend("default" = DEFAULT_MTU))]
            pub(crate) mtu: Option<u32>,
            /// Keys that differ from the first node to the second.
            pub(crate) forward: Option<DirectionTable>,
            /// Keys that differ from the second node to the first.
            pub(crate) backward: Option<DirectionTable>,
            /// Timed changes.
            #[serde(default)]
            pub(crate) changes: Vec<ChangeTable>,
            /// Transmission rate. Required, unless there is a trace.
            pub(crate) rate: Option<BitRate>,
            /// Capacity from a Mahimahi trace instead of a rate: a file, its path relative to the scenario's.
            pub(crate) trace: Option<String>,
            $(
                $(#[$doc])*
                #[schemars(extend("default" = <$type as DirectionValue>::form(&$default)))]
                pub(crate) $key: Option<<$type as DirectionValue>::Form>,
            )*
        }

        /// One direction of a link.
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct DirectionTable {
            /// Transmission rate. Required, unless there is a trace.
            pub(crate) rate: Option<BitRate>,
            /// Capacity from a Mahimahi trace instead of a rate: a file, its path relative to the scenario's.
            pub(crate) trace: Option<String>,
            $(
                $(#[$doc])*
                #[schemars(extend("default" = <$type as DirectionValue>::form(&$default)))]
                pub(crate) $key: Option<<$type as DirectionValue>::Form>,
            )*
        }

        /// A change of a link at a given time. At least one thing changes.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct ChangeTable {
            /// When, from the start of the simulation.
            pub(crate) at: Time,
            /// In which direction (default: both).
            pub(crate) direction: Option<Direction>,
            /// Down, or up again.
            pub(crate) state: Option<LinkState>,
            /// New transmission rate.
            pub(crate) rate: Option<BitRate>,
            /// New trace: a file, its path relative to the scenario's.
            pub(crate) trace: Option<String>,
            $($(#[$doc])* pub(crate) $key: Option<<$type as DirectionValue>::Form>,)*
        }

        impl LinkTable {
            /// A link of two directions without changes, every key said by its direction.
            pub(crate) fn explicit(between: [Name; 2], mtu: u32, directions: [DirectionTable; 2]) -> Self {
                let [forward, backward] = directions.map(Some);
                let (mtu, changes) = (Some(mtu), Vec::new());
                Self { between, mtu, forward, backward, changes, rate: None, trace: None, $($key: None,)* }
            }

            /// The keys that hold for both directions.
            pub(crate) fn both(&self) -> DirectionTable {
                DirectionTable { rate: self.rate, trace: self.trace.clone(), $($key: self.$key.clone(),)* }
            }
        }

        impl DirectionTable {
            /// Every key of a direction; a trace by its `name`.
            pub(crate) fn explicit(
                config: &DirectionConfig,
                name: impl Fn(&Trace) -> Option<String>,
            ) -> Self {
                Self {
                    rate: config.trace.is_none().then_some(BitRate(config.rate)),
                    trace: config.trace.as_ref().and_then(name),
                    $($key: Some(config.$key.form()),)*
                }
            }
        }

        impl ChangeTable {
            /// What is said of a change in a direction; a trace by its `name`.
            pub(crate) fn explicit(
                at: Time,
                direction: Direction,
                change: &Change,
                name: impl Fn(&Trace) -> Option<String>,
            ) -> Self {
                let direction = Some(direction);
                let mut table = Self { at, direction, state: None, rate: None, trace: None, $($key: None,)* };
                match change {
                    Change::Rate(rate) => table.rate = Some(BitRate(*rate)),
                    Change::Trace(trace) => table.trace = trace.as_ref().and_then(name),
                    $(Change::$variant(value) => table.$key = Some(value.form()),)*
                    Change::Down => table.state = Some(LinkState::Down),
                    Change::Up => table.state = Some(LinkState::Up),
                }
                table
            }
        }
    };
}

ropewalk_sim::direction_keys!(direction_tables);

impl LinkTable {
    /// The keys of one direction (0 forward, 1 backward) alone.
    pub(crate) fn only(&self, direction: usize) -> Option<&DirectionTable> {
        [&self.forward, &self.backward][direction].as_ref()
    }
}

/// One of the two directions of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Direction {
    /// From the first node of `between` to the second.
    Forward,
    /// From the second to the first.
    Backward,
}

/// Whether a link carries anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LinkState {
    /// Nothing passes.
    Down,
    /// As before.
    Up,
}

tagged! {
    /// The queue before a transmitter; a length alone, such as "50 packets", is drop-tail of that length.
    enum QueueTable by "discipline",
    expected "a queue such as \"50 packets\", \"fq-codel\" or { discipline = \"codel\", limit = \"64 kB\" }",
    short short_queue as limit_schema;
    /// First in, first out; what does not fit is dropped.
    "drop-tail" => DropTail(DropTailTable),
    /// Random early detection (Floyd & Jacobson 1993), gentle.
    "red" => Red(RedTable),
    /// CoDel (RFC 8289).
    "codel" => Codel(CodelTable),
    /// FQ-CoDel (RFC 8290).
    "fq-codel" => FqCodel(FqCodelTable),
}

fn short_queue(text: Result<&str, f64>) -> Option<QueueTable> {
    let limit = Limit::from_text(text.ok()?)?;
    Some(QueueTable::DropTail(DropTailTable { limit: Some(limit), mark_above: None }))
}

fn limit_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
    Some(generator.subschema_for::<Limit>())
}

/// Keys of drop-tail.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DropTailTable {
    /// How much it holds, the packet in transmission included (default 100 packets).
    pub(crate) limit: Option<Limit>,
    /// Mark ECN-capable packets that find at least this many packets queued (default: never).
    pub(crate) mark_above: Option<u32>,
}

table! {
    /// Keys of RED; thresholds in packets of the average queue.
    #[derive(Default)]
    RedTable of RedConfig {
        own {
            /// Hard limit (default 100 packets).
            limit: Limit;
        }
        keys {
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
    }
}

table! {
    /// Keys of CoDel.
    #[derive(Default)]
    CodelTable of CodelConfig {
        own {
            /// Hard limit (default 1000 packets).
            limit: Limit;
        }
        keys {
            /// Acceptable standing delay.
            target: Duration as Time = Duration::from_millis(5);
            /// Time over which the delay must stay above the target.
            interval: Duration as Time = Duration::from_millis(100);
            /// Mark ECN-capable packets instead of dropping them.
            ecn: bool = false;
        }
    }
}

table! {
    /// Keys of FQ-CoDel.
    #[derive(Default)]
    FqCodelTable of FqCodelConfig {
        own {
            /// Hard limit (default 10240 packets).
            limit: Limit;
            /// Acceptable standing delay (default 5 ms).
            target: Time;
            /// Time over which the delay must stay above the target (default 100 ms).
            interval: Time;
            /// Mark ECN-capable packets instead of dropping them (default false).
            ecn: bool;
        }
        keys {
            /// Number of flow queues.
            flows: u32 = 1024;
            /// Octets that a flow queue may send in its turn.
            quantum: u32 as Size = 1514;
        }
        fixed {
            codel: CodelTable::default().read();
        }
    }
}

tagged! {
    /// Loss on the medium, after the transmitter; a probability alone, such as "0.5 %", is per packet.
    enum LossTable by "model",
    expected "a loss from 0 to 1 such as 0.005 or \"0.5 %\", or { model = \"gilbert-elliott\", … }",
    short short_loss as chance_schema;
    /// No loss.
    "none" => None(NoKeys),
    /// Each packet with the same probability.
    "bernoulli" => Bernoulli(BernoulliTable),
    /// Each bit with the same probability.
    "bit-errors" => BitErrors(BernoulliTable),
    /// Two states, good and bad, with a change before each packet.
    "gilbert-elliott" => GilbertElliott(GilbertElliottTable),
    /// Exactly the data packets listed.
    "exact" => Exact(ExactTable),
}

fn short_loss(value: Result<&str, f64>) -> Option<LossTable> {
    let probability = match value {
        Ok(text) => Chance::from_text(text)?,
        Err(number) => Chance::from_number(number)?,
    };
    Some(LossTable::Bernoulli(BernoulliTable { probability }))
}

fn chance_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
    Some(generator.subschema_for::<Chance>())
}

/// No keys beside the tag.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoKeys {}

/// Keys of independent loss.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BernoulliTable {
    /// Probability of the loss of one packet, or of the error of one bit.
    pub(crate) probability: Chance,
}

/// Keys of the Gilbert–Elliott model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GilbertElliottTable {
    /// p: probability, per packet, of going from the good to the bad state.
    pub(crate) good_to_bad: Chance,
    /// r: probability, per packet, of going back.
    pub(crate) bad_to_good: Chance,
    /// Loss in the good state (default 0).
    pub(crate) loss_good: Option<Chance>,
    /// Loss in the bad state (default 1).
    pub(crate) loss_bad: Option<Chance>,
}

/// Keys of exact loss.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExactTable {
    /// Numbers of the data packets that are lost, counted from 1 as they leave the transmitter.
    pub(crate) packets: Vec<i64>,
}

tagged! {
    /// Random additional delay; a time alone, such as "2 ms", is uniform from 0 to that time.
    enum JitterTable by "distribution",
    expected "a jitter such as \"2 ms\" or { distribution = \"normal\", deviation = \"1 ms\" }",
    short short_jitter as time_schema;
    /// None.
    "none" => None(NoKeys),
    /// Uniform between zero and `max`.
    "uniform" => Uniform(UniformTable),
    /// Normal around the propagation delay, the sum never below zero.
    "normal" => Normal(NormalTable),
    /// Exponential.
    "exponential" => Exponential(ExponentialTable),
    /// Wandering slowly between zero and `max`, the same for all packets of a moment.
    "wander" => Wander(WanderTable),
}

fn short_jitter(text: Result<&str, f64>) -> Option<JitterTable> {
    Some(JitterTable::Uniform(UniformTable { max: Time::from_text(text.ok()?)? }))
}

pub(super) fn time_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
    Some(generator.subschema_for::<Time>())
}

/// Keys of uniform jitter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UniformTable {
    /// Greatest additional delay.
    pub(crate) max: Time,
}

/// Keys of a delay that wanders, as a cellular line's does.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WanderTable {
    /// Greatest additional delay.
    pub(crate) max: Time,
    /// A new target, uniform between zero and `max`, is drawn each time this has passed; the delay moves there in a
    /// straight line (default 1 s).
    pub(crate) interval: Option<Time>,
}

/// Keys of normal jitter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NormalTable {
    /// Standard deviation.
    pub(crate) deviation: Time,
}

/// Keys of exponential jitter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExponentialTable {
    /// Mean additional delay.
    pub(crate) mean: Time,
}
