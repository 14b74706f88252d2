//! Whatever the path loses, doubles, delays or turns round: the stream arrives whole, once and in order.

use super::{deliver, delivered, seconds, transfer};
use proptest::prelude::*;
use ropewalk_tcp::{Config, CongestionControl, DelayedAck, HyStart, LossRecovery, SpuriousResponse};

use ropewalk_testnet::{Line, Middlebox, QueueLimit};
use ropewalk_units::{Duration, Rate};

const BYTES: u64 = 300_000;

fn direction() -> impl Strategy<Value = Line> {
    (
        100_000..1_000_000_000_u64,
        0..300_u64,
        0.0..0.3_f64,
        0.0..0.3_f64,
        3_000..1_000_000_u64,
        0..200_u64,
        0.0..0.3_f64,
    )
        .prop_map(|(rate, delay, data_loss, bare_loss, queue, jitter, duplicates)| Line {
            queue: QueueLimit::Bytes(queue),
            // Half of the paths keep the order.
            jitter: Duration::from_millis(jitter.saturating_sub(100)),
            duplicates: (duplicates - 0.15).max(0.0),
            middlebox: Middlebox { data_loss, bare_loss, ..Middlebox::default() },
            ..Line::of_rate(Rate::from_bits_per_sec(rate), Duration::from_millis(delay))
        })
}

fn control() -> impl Strategy<Value = CongestionControl> {
    prop_oneof![
        any::<bool>().prop_map(|byte_counting| CongestionControl::NewReno { byte_counting }),
        proptest::sample::select(vec![HyStart::Off, HyStart::Linux, HyStart::PlusPlus])
            .prop_map(|hystart| CongestionControl::Cubic { hystart }),
        Just(CongestionControl::Bbr),
        Just(CongestionControl::Dctcp),
        any::<bool>().prop_map(|byte_counting| CongestionControl::Coupled { byte_counting }),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    let recovery =
        prop_oneof![Just(LossRecovery::NewReno), Just(LossRecovery::Sack), Just(LossRecovery::Rack)];
    let flags = proptest::array::uniform13(any::<bool>());
    (any::<bool>(), control(), recovery, flags, 1..4_u32, 2_000..500_000_u32).prop_map(
        |(linux, congestion_control, loss_recovery, flags, segments, receive_buffer)| {
            let [timestamps, sack, limited, prr, tlp, dsack, eifel, frto, ecn, nagle, scale, idle, pacing] =
                flags;
            Config {
                congestion_control,
                loss_recovery,
                pacing,
                timestamps,
                sack,
                limited_transmit: limited,
                prr,
                tail_loss_probe: tlp,
                spurious: SpuriousResponse { dsack, eifel, frto, door: dsack != eifel },
                report_duplicates: dsack,
                ecn,
                nagle,
                idle_restart: idle,
                window_scale: scale.then_some(7),
                receive_buffer,
                delayed_ack: DelayedAck {
                    segments,
                    timeout: Duration::from_millis(100),
                    quick_acks: 0,
                    after_reading: false,
                },
                max_retransmissions: 60,
                max_syn_retransmissions: 60,
                rto_max: Duration::from_secs(4),
                ..if linux { Config::linux() } else { Config::classic() }
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn the_stream_arrives(
        client in config(),
        server in config(),
        forward in direction(),
        backward in direction(),
        seed in any::<u64>(),
    ) {
        let mut network = transfer([client, server], BYTES, [forward, backward], seed);
        deliver(&mut network, BYTES, seconds(20_000));
        prop_assert_eq!(delivered(&network), BYTES, "stopped at {:?}", network.now());
        let stats = network.host(0).connection().stats();
        prop_assert!(stats.bytes_sent == BYTES, "first transmissions: {}", stats.bytes_sent);
    }
}
