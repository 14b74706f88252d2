//! The registry of congestion controls: one line for each. From a line follow the variant of the configuration, the state
//! that a [`Controller`](crate::Controller) keeps, and the name that scenario files know it by (the variant in kebab case).
//! What it does is in a file of its own, as `algorithm::Algorithm`.

/// Hands the congestion controls to the macro `$declare`: what it is, the name in files, the variant with its constant and
/// what that is by default, and the path of its algorithm. Files name what is `named` only.
#[macro_export]
macro_rules! congestion_controls {
    ($declare:path) => {
        $declare! {
            named {
                /// RFC 5681, RFC 6582.
                Newreno: NewReno { byte_counting: bool = true } = $crate::newreno::NewReno;
                /// RFC 9438.
                Cubic: Cubic { hystart: HyStart = HyStart::Off } = $crate::cubic::CubicControl;
                /// RFC 8257; ECN is then on.
                Dctcp: Dctcp = $crate::dctcp::Dctcp;
                /// BBRv3 (draft-ietf-ccwg-bbr).
                Bbr: Bbr = Box<$crate::bbr::Bbr>;
            }
            inner {
                /// Slow start as NewReno. The increase in congestion avoidance and the fall after a loss are set from
                /// outside before every ACK and timeout: Multipath TCP's coupled algorithms.
                Coupled: Coupled { byte_counting: bool = true } = $crate::coupled::Coupled;
            }
        }
    };
}
