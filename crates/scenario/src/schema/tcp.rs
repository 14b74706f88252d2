//! TCP's constants as keys: `[tcp]` and `tcp = { … }` of a connection.

use super::constants::{Constant, constants_table, named_constant};
use super::tcp_values::HyStartName;
use ropewalk_tcp::{
    Blame, Config, CongestionControl, DelayedAck, HyStart, LossRecovery, Quirks, SpuriousResponse,
    SubflowAcks,
};
use ropewalk_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A named set of constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Preset {
    /// As Linux 6.x behaves.
    Linux,
    /// NewReno of the papers' era.
    Classic,
}

impl Preset {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Classic => "classic",
        }
    }

    pub(crate) fn tcp(self) -> Config {
        match self {
            Self::Linux => Config::linux(),
            Self::Classic => Config::classic(),
        }
    }

    pub(crate) fn mptcp(self) -> ropewalk_mptcp::Config {
        match self {
            Self::Linux => ropewalk_mptcp::Config::linux(),
            Self::Classic => ropewalk_mptcp::Config::classic(),
        }
    }
}

/// TCP's own constants, behind the keys that stand for more than one of them.
macro_rules! tcp_table {
    ($($constants:tt)*) => {
        constants_table! {
            /// TCP's constants. A key that is missing is taken from the preset.
            TcpTable {
                /// Where all keys start from (default linux).
                preset: Preset,
                /// Congestion control of a TCP connection. Multipath TCP has its own key.
                congestion_control: ControlName,
                /// With newreno: grow by acknowledged octets (RFC 3465) instead of by ACKs. Default with newreno on the
                /// preset linux: true. Multipath TCP has its own key.
                byte_counting: bool,
                /// With cubic, what ends slow start before a loss does: linux, plus-plus (HyStart++, RFC 9406) or off; true is
                /// plus-plus, false is off. Multipath TCP has its own key.
                hystart: HyStartName,
            }
            $($constants)*
        }
    };
}

macro_rules! delayed_ack_table {
    ($($constants:tt)*) => {
        constants_table! {
            /// When acknowledgements are sent.
            DelayedAckTable {}
            $($constants)*
        }
    };
}

macro_rules! quirks_table {
    ($($constants:tt)*) => {
        constants_table! {
            /// What other simulators do and no standard has.
            QuirksTable {}
            $($constants)*
        }
    };
}

ropewalk_tcp::tcp_constants!(tcp_table);
ropewalk_tcp::quirk_constants!(quirks_table);
ropewalk_tcp::delayed_ack_constants!(delayed_ack_table);

impl Constant<()> for DelayedAck {
    type Form = DelayedAckTable;

    fn put(&mut self, form: &DelayedAckTable) {
        form.put(self);
    }

    fn show(&self) -> Option<DelayedAckTable> {
        Some(DelayedAckTable::show(self))
    }
}

impl Constant<()> for Quirks {
    type Form = QuirksTable;

    fn put(&mut self, form: &QuirksTable) {
        form.put(self);
    }

    fn show(&self) -> Option<QuirksTable> {
        Some(QuirksTable::show(self))
    }
}

named_constant! {
    /// When a subflow acknowledges data that arrive before those of other subflows.
    SubflowAcksName of SubflowAcks {
        /// As they arrive on the subflow (RFC 8684 §3.3).
        Own = Own,
        /// Once the data before them have come on whatever subflow: a slow path stalls a fast one.
        InDataOrder = InDataOrder,
        /// Likewise, and an extra ACK, which advances nothing, as they arrive.
        Twice = Twice,
    }
}

named_constant! {
    /// Whom a duplicate ACK of a subflow counts for.
    BlameName of Blame {
        /// The subflow that got it (RFC 5681 §2).
        Own = Own,
        /// Nobody.
        Nobody = Nobody,
        /// The subflow that carries the oldest data without a DATA_ACK. Three of them cut its window. An ACK within a round
        /// trip restores the window, since it is too early for the segment that was sent again.
        BlockingUndone = BlockingUndone,
        /// The same, and the window stays cut.
        Blocking = Blocking,
    }
}

named_constant! {
    /// How losses are found.
    RecoveryName of LossRecovery {
        /// RFC 6582.
        Newreno = NewReno,
        /// RFC 6675.
        Sack = Sack,
        /// RFC 8985.
        Rack = Rack,
    }
}

/// The names of the congestion controls, from their registry.
macro_rules! control_names {
    (
        named { $($(#[$doc:meta])* $name:ident: $variant:ident $({ $field:ident: $type:ty = $default:expr })? = $state:ty;)* }
        inner { $($inner:tt)* }
    ) => {
        /// Congestion control of TCP.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum ControlName {
            $($(#[$doc])* $name,)*
        }

        impl ControlName {
            /// `None`: no file can ask for it.
            fn of(control: CongestionControl) -> Option<Self> {
                match control {
                    $(CongestionControl::$variant { .. } => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// With its constants as they are by default.
            fn control(self) -> CongestionControl {
                match self {
                    $(Self::$name => CongestionControl::$variant $({ $field: $default })?,)*
                }
            }
        }
    };
}

ropewalk_tcp::congestion_controls!(control_names);

impl TcpTable {
    /// Puts the keys that are given over those of `config`.
    pub(crate) fn apply(&self, config: &mut Config) {
        match (self.sack, config.loss_recovery) {
            (Some(true), LossRecovery::NewReno) => config.loss_recovery = LossRecovery::Sack,
            (Some(false), _) => config.loss_recovery = LossRecovery::NewReno,
            _ => {}
        }
        self.put(config);
        self.apply_control(config);
    }

    fn apply_control(&self, config: &mut Config) {
        let control = &mut config.congestion_control;
        if let Some(name) = self.congestion_control {
            if ControlName::of(*control) != Some(name) {
                *control = name.control();
            }
            config.ecn |= name == ControlName::Dctcp;
        }
        match control {
            CongestionControl::NewReno { byte_counting } | CongestionControl::Coupled { byte_counting } => {
                *byte_counting = self.byte_counting.unwrap_or(*byte_counting);
            }
            CongestionControl::Cubic { hystart } => {
                *hystart = self.hystart.map_or(*hystart, |name| name.0);
            }
            _ => {}
        }
    }

    /// Every key with its value in `config`.
    pub(crate) fn explicit(config: &Config) -> Self {
        // What Multipath TCP couples is NewReno to files.
        let name = ControlName::of(config.congestion_control).unwrap_or(ControlName::Newreno);
        let (byte_counting, hystart) = match config.congestion_control {
            CongestionControl::NewReno { byte_counting } | CongestionControl::Coupled { byte_counting } => {
                (Some(byte_counting), None)
            }
            CongestionControl::Cubic { hystart } => (None, Some(HyStartName(hystart))),
            _ => (None, None),
        };
        Self { congestion_control: Some(name), byte_counting, hystart, ..Self::show(config) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explicit_keys_give_the_same_configuration_over_any_preset() {
        for (wanted, start) in [(Preset::Linux, Preset::Classic), (Preset::Classic, Preset::Linux)] {
            let table = TcpTable::explicit(&wanted.tcp());
            let mut config = start.tcp();
            table.apply(&mut config);
            assert_eq!(config, wanted.tcp());
        }
    }

    #[test]
    fn loss_recovery_follows_sack_unless_given() {
        let mut config = Config::classic();
        TcpTable { sack: Some(true), ..TcpTable::default() }.apply(&mut config);
        assert_eq!((config.sack, config.loss_recovery), (true, LossRecovery::Sack));
        let mut config = Config::linux();
        TcpTable { sack: Some(false), ..TcpTable::default() }.apply(&mut config);
        assert_eq!((config.sack, config.loss_recovery), (false, LossRecovery::NewReno));
        let mut config = Config::classic();
        let table =
            TcpTable { sack: Some(true), loss_recovery: Some(RecoveryName::Rack), ..TcpTable::default() };
        table.apply(&mut config);
        assert_eq!(config.loss_recovery, LossRecovery::Rack);
    }
}
