//! The keys of a bond that scenario files may set. Each macro passes a list of keys to the macro
//! `$declare`: for each key its documentation, its name, its type, its type in files (`as`, if that
//! is another one), and its default. A new key needs a line here, its bounds in `validation.rs`,
//! and the code that uses it.

/// Hands the keys of a gateway to the macro `$declare`. Their defaults follow from the scheduler.
#[macro_export]
macro_rules! config_keys {
    ($declare:path) => {
        $declare! {
            /// What order packets leave the bond in (default per-flow).
            order: Order as OrderName = |_: &SchedulerConfig| Order::PerFlow;
            /// T_report: time between reports of one gateway to the other, 1 ms to 1 s (default 20 ms; weighted-round-robin
            /// 50 ms).
            report_interval: Duration as Time = |scheduler: &SchedulerConfig| {
                Duration::from_millis(if scheduler.is_weighted_round_robin() { 50 } else { 20 })
            };
            /// T_lto: a packet counts as lost on its path this long after a later one came, at most 10 s (default 10 ms;
            /// weighted-round-robin 50 ms).
            loss_timeout: Duration as Time = |scheduler: &SchedulerConfig| {
                Duration::from_millis(if scheduler.is_weighted_round_robin() { 50 } else { 10 })
            };
            /// Is what a path loses sent again, if the other gateway asks for it? Of flows that are kept in order and not
            /// duplicated (default: true for rate-aware, else false).
            repair: bool = |scheduler: &SchedulerConfig| matches!(scheduler, SchedulerConfig::RateAware);
        }
    };
}

/// Hands the keys of a path to the macro `$declare`.
#[macro_export]
macro_rules! path_keys {
    ($declare:path) => {
        $declare! {
            /// Its rank of cost, the cheapest lowest: the order in which paths are filled. Required by cost-first and
            /// weighted-round-robin, no two alike; flow-aware fills in its order if given, others do not use it.
            cost: Option<u32> as u32 = None;
            /// Its weight at the start, with weighted-round-robin only: w_fixed of the cheapest path (1 to 10000, default
            /// 50), and of a costlier one at first (default 0), from which it falls while nothing is lost, in `run_up` too.
            weight: Option<u32> as u32 = None;
            /// Its greatest weight, at most 10000: with weighted-round-robin w_mobilemax of a costlier path (default 50);
            /// with cost-first the greatest share of the packets in per cent (default 100). Not with other schedulers.
            max_weight: Option<u32> as u32 = None;
            /// What may go over it in each `quota_period`, all headers, reports and keepalives included, in both directions as its
            /// gateway counts them; at least 1 MB (default: no bound). Once it is spent nothing goes by it, whatever the other paths do.
            quota: Option<u64> as Size = None;
            /// How long a quota lasts, 1 s to 1 year, from the beginning of the bond (default 30 days).
            quota_period: Option<Duration> as Time = None;
            /// What of the first period's quota was spent when the bond began (default: nothing).
            quota_spent: Option<u64> as Size = None;
        }
    };
}

/// Hands the keys of weighted round robin to the macro `$declare`.
#[macro_export]
macro_rules! weighted_round_robin_keys {
    ($declare:path) => {
        $declare! {
            /// k: how steeply a costlier path's weight rises with the loss of the one before, above 0 and at most 100.
            gain: f64 = 0.5;
            /// T_dwd: time without reported loss before such a weight falls, at most 1 min.
            decrement_delay: Duration as Time = Duration::from_millis(250);
            /// How fast it then falls (§3.3 prints each-report).
            decrement_pace: DecrementPace as PaceName = DecrementPace::EachReport;
            /// What loss is counted in.
            loss_unit: LossUnit as LossUnitName = LossUnit::Packets;
            /// Whether weights are whole numbers, as the paper's "would not change" (§3.2) implies, and how they become so.
            arithmetic: WeightArithmetic as ArithmeticName = WeightArithmetic::Whole;
            /// How the packets of a round are laid out.
            turns: Turns as TurnsName = Turns::Spread;
        }
    };
}

/// Hands the keys of cost-first to the macro `$declare`.
#[macro_export]
macro_rules! cost_first_keys {
    ($declare:path) => {
        $declare! {
            /// A costlier path is used when what waits keeps the cheaper ones busy for so long, 1 ms to 1 s. A quarter is
            /// enough while it is in use.
            queue_target: Duration as Time = Duration::from_millis(8);
        }
    };
}

/// Hands the keys of flow-aware to the macro `$declare`.
#[macro_export]
macro_rules! flow_aware_keys {
    ($declare:path) => {
        $declare! {
            /// A flow overflows to other paths when what waits keeps its own path busy for so long, 1 ms to 1 s.
            queue_target: Duration as Time = Duration::from_millis(8);
            /// A flow that was silent for so long is placed anew, at most 1 min.
            idle_after: Duration as Time = Duration::from_millis(500);
        }
    };
}

/// Hands the keys of the resequencer to the macro `$declare`.
#[macro_export]
macro_rules! resequencer_keys {
    ($declare:path) => {
        $declare! {
            /// How long a packet may wait for a missing one, at most 10 s (default: as long as the measured one-way delays of
            /// the paths let expect, within the two bounds below).
            timeout: Option<Duration> as Time = None;
            /// The least derived timeout.
            min_timeout: Duration as Time = Duration::from_millis(5);
            /// The greatest derived timeout, at most 10 s.
            max_timeout: Duration as Time = Duration::from_secs(3);
            /// The most packets held back, 16 to 65536.
            max_packets: u32 = 8192;
            /// Flow buckets of the ingress, a power of two from 1 to 4096. The egress takes any.
            flow_buckets: u32 = 1024;
            /// How many later packets must have come on a path, at least, before one missing there is not waited for, 1 to 8.
            /// A path that reorders is given the time that it was seen to need, too. Not with a `timeout`.
            path_reordering: u8 = 3;
        }
    };
}

/// Hands the keys of keepalives to the macro `$declare`.
#[macro_export]
macro_rules! keepalive_keys {
    ($declare:path) => {
        $declare! {
            /// Time between keepalives on each path, 5 ms to 10 s.
            interval: Duration as Time = Duration::from_millis(50);
            /// Without a sign of life for so long, less half a round trip, a path is suspected (more than two intervals).
            suspect_after: Duration as Time = Duration::from_millis(130);
            /// Without a sign of life for so long, less half a round trip, it is down (not less than `suspect_after`, at most
            /// 1 min).
            down_after: Duration as Time = Duration::from_millis(240);
            /// So many keepalives in a row are answered before a path that was down is used, 1 to 100.
            answers_to_return: u32 = 3;
        }
    };
}
