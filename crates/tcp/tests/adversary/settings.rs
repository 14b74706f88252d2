//! What two honest ends are set up with, drawn from a seed.

use ropewalk_adversary::{Random, Source};
use ropewalk_tcp::{Config, CongestionControl, DelayedAck, HyStart, LossRecovery};
use ropewalk_testnet::attack::line;
use ropewalk_testnet::{Line, Network, TcpHost};
use ropewalk_units::{Duration, Instant};

/// One life of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) configs: [Config; 2],
    pub(crate) octets: [u64; 2],
    pub(crate) lines: [Line; 2],
    pub(crate) seed: u64,
}

/// Either preset with any of the switches turned that concern what a segment may do.
fn config(random: &mut Random) -> Config {
    let preset = if random.one_in(3) { Config::classic() } else { Config::linux() };
    let preset_control = preset.congestion_control;
    let mut flip = |value: bool| value ^ random.one_in(4);
    let mut config = Config {
        timestamps: flip(preset.timestamps),
        sack: flip(preset.sack),
        report_duplicates: flip(preset.report_duplicates),
        receive_autotuning: flip(preset.receive_autotuning),
        nagle: flip(preset.nagle),
        prr: flip(preset.prr),
        tail_loss_probe: flip(preset.tail_loss_probe),
        ecn: flip(preset.ecn),
        window_scale: if flip(false) { None } else { preset.window_scale },
        ..preset
    };
    config.congestion_control = random.pick(&[
        preset_control,
        preset_control,
        CongestionControl::Cubic { hystart: HyStart::PlusPlus },
        CongestionControl::Dctcp,
        CongestionControl::Bbr,
    ]);
    config.pacing = config.congestion_control == CongestionControl::Bbr || random.one_in(4);
    config.mss = random.pick(&[100, 536, 1400, 1460]);
    config.receive_buffer = random.pick(&[3_000, 20_000, 65_535, 1_000_000]);
    config.loss_recovery = random.pick(&[LossRecovery::NewReno, LossRecovery::Sack, LossRecovery::Rack]);
    let delay = 20 + random.below(80);
    config.delayed_ack = DelayedAck {
        segments: 1 + random.below(3) as u32,
        timeout: Duration::from_millis(delay),
        quick_acks: 0,
        after_reading: delay.is_multiple_of(2),
    };
    config
}

impl Settings {
    /// Drawn.
    pub(crate) fn draw(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let configs = [config(random), config(random)];
        let octets = [random.pick(&[1, 1000, 60_000, 150_000]), random.pick(&[0, 0, 500, 50_000])];
        Self { configs, octets, lines: [line(random), line(random)], seed: random.next() }
    }
}

impl Settings {
    /// The client's SYN is about to leave.
    pub(crate) fn network(&self) -> Network<TcpHost> {
        let mut random = Random::new(self.seed);
        // Half of the sequence numbers wrap soon.
        let mut iss = || random.next() as u32 | random.pick(&[0, 0xffff_c000]);
        let host = |side: usize, iss| TcpHost::new(side, self.configs[side].clone(), iss, self.octets[side]);
        let mut hosts = [host(0, iss()), host(1, iss())];
        hosts[0].connect(Instant::ZERO);
        Network::new(hosts, vec![self.lines.clone()], random.next())
    }
}
