//! SYN cookies (RFC 4987 §3.6). When too many handshakes are unfinished, the host keeps nothing of
//! a SYN. The sequence number of its SYN/ACK says what has to be remembered. The peer's
//! acknowledgement brings that number back.
//!
//! The number is, from its highest bit: two bits of a slow counter, three that name an MSS, and 27
//! of a keyed function of the 4-tuple, the peer's initial sequence number, the counter and the MSS.
//! If the SYN has timestamps, the lowest bits of the SYN/ACK's TSval hold the other options, as in
//! Linux. Without timestamps there is neither window scaling nor SACK.
//!
//! Multipath TCP needs no bit: an acknowledgement that opens it bears both keys and the flags
//! (RFC 8684 §3.1), and the own key follows from the cookie.

use crate::identity::Identity;
use crate::tuple::FourTuple;
use ropewalk_mptcp::Secret;
use ropewalk_units::{Duration, Instant, Seq};
use ropewalk_wire::{Flags, MptcpOption, MptcpOptions, Options, Segment, Timestamps};

/// One step of the counter, as Bernstein proposed (Linux has 60 s). A cookie holds for the rest of
/// its own period, and for the next one.
const PERIOD: Duration = Duration::from_secs(64);
/// Periods after its own in which a cookie holds.
const LATER: u64 = 1;
/// The values of the peer's MSS that a cookie can tell, in octets. They are the least that a
/// connection uses, the default without an option, the least of IPv6, and those of Ethernet: with
/// tunnels, with PPPoE, over IPv6, over IPv4, and with jumbo frames.
const SIZES: [u16; 8] = [48, 536, 1220, 1360, 1400, 1440, 1460, 8960];

const HASH_BITS: u32 = 27;
const SIZE_BITS: u32 = 3;
const HASH_MASK: u32 = (1 << HASH_BITS) - 1;

/// What the lowest bits of a SYN/ACK's TSval say.
mod stamped {
    /// The shift of the peer's window; [`NO_SCALE`] where it offered none.
    pub(super) const SCALE: u32 = 0x0f;
    pub(super) const NO_SCALE: u32 = 0x0f;
    pub(super) const SACK: u32 = 0x10;
    pub(super) const ECN: u32 = 0x20;
    pub(super) const ALL: u32 = 0x3f;
}

/// When a host answers SYNs with cookies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CookiePolicy {
    /// While as many handshakes are unfinished as it remembers.
    #[default]
    WhenFull,
    /// At every SYN (Linux's `tcp_syncookies` = 2).
    Always,
}

/// Makes cookies, and knows them again.
#[derive(Debug, Default)]
pub(crate) struct Cookies {
    pub(crate) policy: CookiePolicy,
    /// When the last one was made.
    last: Option<Instant>,
}

impl Cookies {
    /// Makes a cookie. Returns the SYN as it will be known when the cookie comes back, and the
    /// number of the SYN/ACK.
    pub(crate) fn make(
        &mut self,
        now: Instant,
        identity: &Identity,
        tuple: FourTuple,
        syn: &Segment,
    ) -> (Segment, Seq) {
        self.last = Some(now);
        // RFC 9293 §3.7.1: 536 without an option.
        let offered = syn.options.mss.unwrap_or(SIZES[1]);
        let size = SIZES.partition_point(|size| *size <= offered).saturating_sub(1);
        let cookie = number(identity, period(now), tuple, syn.seq, size);
        let options = &syn.options;
        let stamped = options.timestamps.is_some();
        let left = Options {
            mss: Some(SIZES[size]),
            timestamps: options.timestamps,
            window_scale: options.window_scale.filter(|_| stamped).map(|scale| scale.min(MAX_SCALE)),
            sack_permitted: options.sack_permitted && stamped,
            mptcp: capable(&options.mptcp),
            ..Options::default()
        };
        let flags = if stamped { syn.flags } else { Flags::SYN };
        (Segment { seq: syn.seq, flags, window: syn.window, options: left, ..Segment::default() }, cookie)
    }

    /// The SYN whose SYN/ACK this segment acknowledges, as far as its cookie tells, and the
    /// SYN/ACK's number.
    pub(crate) fn read(
        &self,
        now: Instant,
        identity: &Identity,
        tuple: FourTuple,
        ack: &Segment,
    ) -> Option<(Segment, Seq)> {
        // If no cookie was made lately, no segment can bring one back.
        if now.saturating_since(self.last?) > PERIOD.saturating_mul(LATER + 1) {
            return None;
        }
        let (cookie, irs) = (ack.ack - 1, ack.seq - 1);
        let size = ((cookie.get() >> HASH_BITS) & ((1 << SIZE_BITS) - 1)) as usize;
        let latest = period(now);
        let mut periods = (0..=LATER).filter_map(|age| latest.checked_sub(age));
        periods.find(|period| number(identity, *period, tuple, irs, size) == cookie)?;
        let mptcp = capable(&ack.options.mptcp);
        let mut options = Options { mss: Some(SIZES[size]), mptcp, ..Options::default() };
        let mut flags = Flags::SYN;
        if let Some(stamps) = ack.options.timestamps {
            options.timestamps = Some(Timestamps { value: stamps.value, echo: 0 });
            let scale = stamps.echo & stamped::SCALE;
            options.window_scale = (scale != stamped::NO_SCALE).then_some(scale as u8);
            options.sack_permitted = stamps.echo & stamped::SACK != 0;
            if stamps.echo & stamped::ECN != 0 {
                flags |= Flags::ECE | Flags::CWR;
            }
        }
        Some((Segment { seq: irs, flags, window: ack.window, options, ..Segment::default() }, cookie))
    }
}

/// The largest shift of a window (RFC 7323 §2.3).
const MAX_SCALE: u8 = 14;

/// Writes the agreed options into the lowest bits of a SYN/ACK's TSval. The new value is never
/// later than the old one.
pub(crate) fn stamp(answer: &mut Segment, syn: &Segment) {
    let agreed = answer.options.window_scale.and(syn.options.window_scale);
    let mut bits = agreed.map_or(stamped::NO_SCALE, u32::from);
    if answer.options.sack_permitted {
        bits |= stamped::SACK;
    }
    if answer.flags.contains(Flags::ECE) {
        bits |= stamped::ECN;
    }
    if let Some(stamps) = &mut answer.options.timestamps {
        let value = (stamps.value & !stamped::ALL) | bits;
        let later = value.wrapping_sub(stamps.value) as i32 > 0;
        stamps.value = if later { value.wrapping_sub(stamped::ALL + 1) } else { value };
    }
}

/// MP_CAPABLE as it is in a SYN, from one that a SYN or a third segment has.
fn capable(options: &MptcpOptions) -> MptcpOptions {
    let mut left = MptcpOptions::default();
    for option in options.rare() {
        if let MptcpOption::Capable { checksum_required, no_more_subflows, .. } = *option {
            left.push(MptcpOption::Capable {
                checksum_required,
                no_more_subflows,
                sender_key: None,
                receiver_key: None,
                data: None,
            });
            break;
        }
    }
    left
}

/// Has the segment options of Multipath TCP, but not both keys? Then the segment with both keys was
/// lost, and the peer sends it again (RFC 8684 §3.1).
pub(crate) fn lacks_keys(segment: &Segment) -> bool {
    let options = &segment.options.mptcp;
    let tells = |option: &MptcpOption| {
        matches!(option, MptcpOption::Capable { sender_key: Some(_), receiver_key: Some(_), .. })
    };
    !options.is_empty() && !options.rare().iter().any(tells)
}

/// The secret for the keys of a connection whose SYN was answered with this cookie. It is the same
/// when the cookie comes back.
pub(crate) fn secret(identity: &Identity, tuple: FourTuple, irs: Seq, cookie: Seq) -> Secret {
    // The input of a cookie's number begins with a period, and no period begins with these octets.
    // So the inputs always differ.
    let mut input = [0xff; 13];
    input[4..8].copy_from_slice(&irs.get().to_be_bytes());
    input[8..12].copy_from_slice(&cookie.get().to_be_bytes());
    let mut bytes = [0; 32];
    for (place, word) in bytes.chunks_exact_mut(8).enumerate() {
        input[12] = place as u8;
        word.copy_from_slice(&identity.function_of(tuple.local, tuple.remote, &input).to_be_bytes());
    }
    Secret(bytes)
}

fn period(now: Instant) -> u64 {
    now.as_nanos() / PERIOD.as_nanos()
}

fn number(identity: &Identity, period: u64, tuple: FourTuple, irs: Seq, size: usize) -> Seq {
    let mut input = [0; 13];
    input[..8].copy_from_slice(&period.to_be_bytes());
    input[8..12].copy_from_slice(&irs.get().to_be_bytes());
    input[12] = size as u8;
    let hash = identity.function_of(tuple.local, tuple.remote, &input) as u32 & HASH_MASK;
    // The counter's lowest two bits. They differ between the periods in which a cookie holds.
    Seq::new((period as u32) << (HASH_BITS + SIZE_BITS) | (size as u32) << HASH_BITS | hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr};

    fn end(host: u8, port: u16) -> SocketAddr {
        SocketAddr::new(Ipv4Addr::new(10, 0, 0, host).into(), port)
    }

    fn tuple() -> FourTuple {
        FourTuple { local: end(1, 5001), remote: end(2, 40_000) }
    }

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn syn(options: Options) -> Segment {
        let flags = Flags::SYN | Flags::ECE | Flags::CWR;
        Segment { seq: Seq::new(77), flags, options, ..Segment::default() }
    }

    fn ack(cookie: Seq, stamps: Option<Timestamps>) -> Segment {
        let options = Options { timestamps: stamps, ..Options::default() };
        Segment { seq: Seq::new(78), ack: cookie + 1, flags: Flags::ACK, options, ..Segment::default() }
    }

    #[test]
    fn an_mss_becomes_the_greatest_that_is_not_above_it() {
        let identity = Identity::new([1, 2]);
        for (offered, told) in [
            (None, 536),
            (Some(1460), 1460),
            (Some(1459), 1440),
            (Some(9000), 8960),
            (Some(20), 48),
            (Some(535), 48),
        ] {
            let mut cookies = Cookies::default();
            let syn = syn(Options { mss: offered, ..Options::default() });
            let (_, cookie) = cookies.make(at(0), &identity, tuple(), &syn);
            let (again, _) = cookies.read(at(1), &identity, tuple(), &ack(cookie, None)).expect("a cookie");
            assert_eq!((again.options.mss, again.seq), (Some(told), syn.seq));
            assert_eq!(again.flags, Flags::SYN, "nothing tells of ECN without timestamps");
        }
    }

    #[test]
    fn a_cookie_holds_for_its_period_and_the_next_one() {
        let identity = Identity::new([1, 2]);
        for made in [0, 10, 63, 64, 1_000_000] {
            let mut cookies = Cookies::default();
            let (_, cookie) = cookies.make(at(made), &identity, tuple(), &syn(Options::default()));
            let end = (made / 64 + 2) * 64;
            let holds =
                |cookies: &Cookies, at| cookies.read(at, &identity, tuple(), &ack(cookie, None)).is_some();
            assert!(holds(&cookies, at(made)) && holds(&cookies, at(end - 1)), "made at {made} s");
            assert!(!holds(&cookies, at(end)), "made at {made} s");
            // Another one made later does not bring the first back, nor does the wrap of the two
            // bits.
            cookies.last = Some(at(made + 256));
            assert!(!holds(&cookies, at(made + 256)), "made at {made} s");
        }
    }

    #[test]
    fn nobody_else_can_use_it_and_nobody_can_without_a_flood() {
        let identity = Identity::new([1, 2]);
        let mut cookies = Cookies::default();
        let (_, cookie) = cookies.make(at(5), &identity, tuple(), &syn(Options::default()));
        let honest = ack(cookie, None);
        let read = |cookies: &Cookies, identity: &Identity, tuple, ack: &Segment| {
            cookies.read(at(6), identity, tuple, ack).is_some()
        };
        assert!(read(&cookies, &identity, tuple(), &honest));
        let other_port = FourTuple { remote: end(2, 40_001), ..tuple() };
        assert!(!read(&cookies, &identity, other_port, &honest));
        let other_number = Segment { seq: Seq::new(79), ..honest.clone() };
        assert!(!read(&cookies, &identity, tuple(), &other_number));
        assert!(!read(&cookies, &Identity::new([1, 3]), tuple(), &honest));
        assert!(!read(&Cookies::default(), &identity, tuple(), &honest), "none was made");
        // Every bit of it counts.
        for bit in 0..32 {
            let changed = ack(Seq::new(cookie.get() ^ (1 << bit)), None);
            assert!(!read(&cookies, &identity, tuple(), &changed), "bit {bit}");
        }
    }

    #[test]
    fn keys_follow_from_the_cookie_and_from_nothing_that_others_know() {
        let identity = Identity::new([1, 2]);
        let (irs, cookie) = (Seq::new(7), Seq::new(9));
        let first = secret(&identity, tuple(), irs, cookie);
        assert_eq!(first, secret(&identity, tuple(), irs, cookie));
        let other_port = FourTuple { remote: end(2, 40_001), ..tuple() };
        for other in [
            secret(&Identity::new([1, 3]), tuple(), irs, cookie),
            secret(&identity, other_port, irs, cookie),
            secret(&identity, tuple(), irs + 1, cookie),
            secret(&identity, tuple(), irs, cookie + 1),
        ] {
            assert_ne!(first, other);
        }
        assert!(first.0.chunks_exact(8).is_sorted_by(|one, other| one != other), "four words differ");
    }

    #[test]
    fn the_other_options_come_back_in_the_timestamp() {
        let identity = Identity::new([1, 2]);
        for (scale, sack, ecn, value) in [
            (Some(9), true, true, 1_000),
            (None, true, false, 5),
            (Some(14), false, true, 63),
            (Some(0), false, false, 0),
        ] {
            let mut cookies = Cookies::default();
            let theirs = Options {
                window_scale: scale,
                sack_permitted: sack,
                timestamps: Some(Timestamps { value: 4_000, echo: 0 }),
                ..Options::default()
            };
            let (left, cookie) = cookies.make(at(0), &identity, tuple(), &syn(theirs));
            let mut answer = Segment {
                flags: if ecn { Flags::SYN | Flags::ACK | Flags::ECE } else { Flags::SYN | Flags::ACK },
                options: Options {
                    window_scale: scale.map(|_| 7),
                    sack_permitted: sack,
                    timestamps: Some(Timestamps { value, echo: 4_000 }),
                    ..Options::default()
                },
                ..Segment::default()
            };
            stamp(&mut answer, &left);
            let sent = answer.options.timestamps.expect("a timestamp").value;
            assert!(value.wrapping_sub(sent) < 64, "{sent} is no later than {value}, and not much earlier");
            let stamps = Timestamps { value: 4_020, echo: sent };
            let (again, _) =
                cookies.read(at(0), &identity, tuple(), &ack(cookie, Some(stamps))).expect("a cookie");
            assert_eq!((again.options.window_scale, again.options.sack_permitted), (scale, sack));
            assert_eq!(again.flags.contains(Flags::ECE | Flags::CWR), ecn);
            assert_eq!(again.options.timestamps, Some(Timestamps { value: 4_020, echo: 0 }));
        }
    }
}
