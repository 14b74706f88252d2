//! Any segment that a header can hold.

use crate::knowledge::Knowledge;
use crate::options::{dss, rare, sack};
use crate::oracle::Victim;
use crate::source::Source;
use ropewalk_units::Seq;
use ropewalk_wire::{Ecn, Flags, MptcpOptions, Options, Payload, SackBlocks, Segment, Timestamps};

/// Payloads of an attacker are octets of the generated stream from this place on. Honest payloads
/// lie before it, so a reader can tell whose octets it got.
pub const FOREIGN: u64 = 1 << 40;

/// How an attacker chooses SEQ and ACK.
#[derive(Clone, Copy, Debug)]
pub enum Numbers {
    /// Uniform in 32 bits.
    Blind,
    /// Around these numbers, at most so far away. One segment in 16 has uniform numbers instead.
    Near {
        /// RCV.NXT of the target.
        seq: Seq,
        /// SND.UNA or SND.NXT of the target.
        ack: Seq,
        /// The largest distance.
        spread: u32,
    },
}

impl Numbers {
    /// Around those of a victim, at a distance that is drawn.
    pub fn near(victim: &Victim, source: &mut impl Source) -> Self {
        let ack = if source.one_in(2) { victim.snd_una } else { victim.snd_nxt };
        let spread = source.pick(&[10, 3_000, 100_000, 1 << 31]);
        Self::Near { seq: victim.rcv_nxt, ack, spread }
    }
}

/// Whom an attacker aims at.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// What the attacker knows.
    pub knowledge: Knowledge,
    /// The sequence numbers.
    pub numbers: Numbers,
    /// With options of Multipath TCP.
    pub multipath: bool,
}

/// Draws a segment.
pub fn segment(source: &mut impl Source, target: &Target) -> Segment {
    let (seq, ack) = numbers(source, target.numbers);
    let flags = flags(source);
    let len = if source.one_in(2) { 0 } else { 1 + source.below(1460) as u32 };
    let offset = FOREIGN + (source.next() >> 32);
    let options = options(source, target, ack);
    let window = if source.one_in(4) { source.pick(&[0, 1, u16::MAX]) } else { source.next() as u16 };
    let ecn = source.pick(&[Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    Segment { seq, ack, flags, window, payload: Payload { offset, len }, options, ecn }
}

fn numbers(source: &mut impl Source, numbers: Numbers) -> (Seq, Seq) {
    let drawn = source.next();
    let anywhere = (Seq::new(drawn as u32), Seq::new((drawn >> 32) as u32));
    match numbers {
        Numbers::Blind => anywhere,
        Numbers::Near { .. } if source.one_in(16) => anywhere,
        Numbers::Near { seq, ack, spread } => {
            let mut near = |centre: Seq| {
                let spread = source.pick(&[0, 0, 1, 2, 1460, u64::from(spread)]);
                Seq::new(source.near(u64::from(centre.get()), spread) as u32)
            };
            (near(seq), near(ack))
        }
    }
}

/// Half of them any combination, half of them those that honest segments have.
fn flags(source: &mut impl Source) -> Flags {
    let all = [Flags::FIN, Flags::SYN, Flags::RST, Flags::PSH, Flags::ACK, Flags::ECE, Flags::CWR];
    if source.one_in(2) {
        let bits = source.below(128);
        let chosen = all.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
        return chosen.fold(Flags::NONE, |flags, (_, flag)| flags | *flag);
    }
    let usual = [Flags::ACK, Flags::ACK | Flags::PSH, Flags::FIN | Flags::ACK, Flags::RST, Flags::SYN];
    source.pick(&[usual[0], usual[0], usual[1], usual[2], usual[3], usual[3] | Flags::ACK, usual[4]])
}

fn options(source: &mut impl Source, target: &Target, ack: Seq) -> Options {
    let mut options = Options { timestamps: timestamps(source, &target.knowledge), ..Options::default() };
    if source.one_in(4) {
        options.sack = sack(source, ack);
    }
    if source.one_in(4) {
        options.mss = source.one_in(2).then(|| source.pick(&[0, 1, 47, 48, 536, 1460, u16::MAX]));
        options.window_scale = source.one_in(2).then(|| source.pick(&[0, 7, 14, 15, 255]));
        options.sack_permitted = source.one_in(2);
    }
    if target.multipath {
        if source.one_in(2) {
            options.mptcp.dss = Some(dss(source, &target.knowledge));
        }
        if source.one_in(3) {
            options.mptcp.push(rare(source, &target.knowledge));
        }
    }
    fit(options)
}

/// Half of them pass PAWS (RFC 7323 §5.3).
fn timestamps(source: &mut impl Source, knowledge: &Knowledge) -> Option<Timestamps> {
    if source.one_in(2) {
        let known = knowledge.timestamps.unwrap_or_default();
        let value = known.value.wrapping_add(source.pick(&[0, 1, 1000, 1 << 30]));
        return Some(Timestamps { value, echo: known.echo.wrapping_sub(source.pick(&[0, 0, 1, 1000])) });
    }
    let drawn = source.next();
    source.one_in(2).then_some(Timestamps { value: drawn as u32, echo: (drawn >> 32) as u32 })
}

/// Leaves out what a header has no room for.
fn fit(mut options: Options) -> Options {
    if options.wire_len() > Options::SPACE {
        options.sack = SackBlocks::EMPTY;
    }
    if options.wire_len() > Options::SPACE {
        (options.mss, options.window_scale, options.sack_permitted) = (None, None, false);
    }
    if options.wire_len() > Options::SPACE && options.mptcp.has_rare() {
        options.mptcp.dss = None;
    }
    if options.wire_len() > Options::SPACE {
        options.timestamps = None;
    }
    if options.wire_len() > Options::SPACE {
        options.mptcp = MptcpOptions::default();
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Random;

    #[test]
    fn segments_fit_a_header_and_have_every_option() {
        let mut random = Random::new(1);
        let target = Target { knowledge: Knowledge::default(), numbers: Numbers::Blind, multipath: true };
        let mut kinds = std::collections::BTreeSet::new();
        let mut signals = 0;
        for _ in 0..20_000 {
            let drawn = segment(&mut random, &target);
            assert!(drawn.options.wire_len() <= Options::SPACE, "{drawn:?}");
            signals += usize::from(drawn.options.mptcp.dss.is_some());
            kinds.extend(
                drawn
                    .options
                    .mptcp
                    .rare()
                    .iter()
                    .map(|o| format!("{o:?}").chars().take(5).collect::<String>()),
            );
        }
        assert_eq!(kinds.len(), 8, "{kinds:?}");
        assert!(signals > 5_000);
    }
}
