//! Links: `[links.NAME]`.

use super::quantity::{BitRate, Chance, Limit, Name, Quantity, Size, Time};
use super::tagged::tagged;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Declares a table with the keys of one direction of a link, after keys of its own.
macro_rules! direction_table {
    (
        $(#[$meta:meta])*
        $table:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $table {
            $($(#[$field_meta])* pub(crate) $field: $type,)*
            /// Transmission rate. Required, unless there is a trace.
            pub(crate) rate: Option<BitRate>,
            /// Capacity from a Mahimahi trace instead of a rate: a file, its path relative to the scenario's.
            pub(crate) trace: Option<String>,
            /// Propagation delay (default 0 s).
            pub(crate) delay: Option<Time>,
            /// Random delay added to it (default none).
            pub(crate) jitter: Option<JitterTable>,
            /// May jitter reorder packets? (default false: a packet waits for the one before it)
            pub(crate) reorder: Option<bool>,
            /// The queue before the transmitter (default drop-tail of 100 packets).
            pub(crate) queue: Option<QueueTable>,
            /// Loss on the medium (default none).
            pub(crate) loss: Option<LossTable>,
            /// Probability that a packet arrives twice (default 0).
            pub(crate) duplicate: Option<Chance>,
        }
    };
}

direction_table! {
    /// A link between two nodes. Keys of a direction given here hold for both directions.
    LinkTable {
        /// The two nodes it joins; `forward` is from the first to the second.
        between: [Name; 2],
        /// Greatest IP packet in octets (default 1500).
        mtu: Option<u32>,
        /// Keys that differ from the first node to the second.
        forward: Option<DirectionTable>,
        /// Keys that differ from the second node to the first.
        backward: Option<DirectionTable>,
        /// Timed changes.
        #[serde(default)]
        changes: Vec<ChangeTable>,
    }
}

direction_table! {
    /// One direction of a link.
    #[derive(Default)]
    DirectionTable {}
}

impl LinkTable {
    /// The keys that hold for both directions.
    pub(crate) fn both(&self) -> DirectionTable {
        DirectionTable {
            rate: self.rate,
            trace: self.trace.clone(),
            delay: self.delay,
            jitter: self.jitter.clone(),
            reorder: self.reorder,
            queue: self.queue.clone(),
            loss: self.loss.clone(),
            duplicate: self.duplicate,
        }
    }

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
    /// New rate.
    pub(crate) rate: Option<BitRate>,
    /// New trace: a file, its path relative to the scenario's.
    pub(crate) trace: Option<String>,
    /// New propagation delay.
    pub(crate) delay: Option<Time>,
    /// New jitter.
    pub(crate) jitter: Option<JitterTable>,
    /// May jitter reorder packets from now on?
    pub(crate) reorder: Option<bool>,
    /// New probability that a packet arrives twice.
    pub(crate) duplicate: Option<Chance>,
    /// New loss.
    pub(crate) loss: Option<LossTable>,
    /// New queue.
    pub(crate) queue: Option<QueueTable>,
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

/// Keys of RED; thresholds in packets of the average queue.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedTable {
    /// Hard limit (default 100 packets).
    pub(crate) limit: Option<Limit>,
    /// Below this average nothing is dropped (default 5).
    pub(crate) min_threshold: Option<f64>,
    /// At this average the drop probability is `max_probability` (default 15).
    pub(crate) max_threshold: Option<f64>,
    /// See `max_threshold` (default 10 %).
    pub(crate) max_probability: Option<Chance>,
    /// Weight of a new sample in the average, above 0 and at most 1 (default 0.002).
    pub(crate) weight: Option<f64>,
    /// Mark ECN-capable packets instead of dropping them (default false).
    pub(crate) ecn: Option<bool>,
}

/// Keys of CoDel.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodelTable {
    /// Hard limit (default 1000 packets).
    pub(crate) limit: Option<Limit>,
    /// Acceptable standing delay (default 5 ms).
    pub(crate) target: Option<Time>,
    /// Time over which the delay must stay above the target (default 100 ms).
    pub(crate) interval: Option<Time>,
    /// Mark ECN-capable packets instead of dropping them (default false).
    pub(crate) ecn: Option<bool>,
}

/// Keys of FQ-CoDel.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FqCodelTable {
    /// Hard limit (default 10240 packets).
    pub(crate) limit: Option<Limit>,
    /// Acceptable standing delay (default 5 ms).
    pub(crate) target: Option<Time>,
    /// Time over which the delay must stay above the target (default 100 ms).
    pub(crate) interval: Option<Time>,
    /// Mark ECN-capable packets instead of dropping them (default false).
    pub(crate) ecn: Option<bool>,
    /// Number of flow queues (default 1024).
    pub(crate) flows: Option<u32>,
    /// Octets that a flow queue may send in its turn (default 1514 B).
    pub(crate) quantum: Option<Size>,
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
