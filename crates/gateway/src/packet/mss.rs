//! The segment size in a SYN, so that TCP inside never makes packets that do not fit.

use super::{Header, SYN, TCP, TCP_FLAGS_AT, patch};

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
/// Octets of TCP's header without options.
const TCP_HEADER: usize = 20;
/// Where TCP's header has its checksum.
const CHECKSUM: usize = 16;

/// Lowers the segment size that a SYN announces to what fits into packets of `mtu` octets. Never
/// raises it, never panics.
pub fn clamp_mss(octets: &mut [u8], mtu: usize) {
    let Some(header) = Header::read(octets) else { return };
    if header.protocol != TCP || !header.has_ports {
        return;
    }
    let fixed = if header.source.is_ipv4() { 20 } else { 40 };
    let most = mtu.saturating_sub(fixed + TCP_HEADER).min(usize::from(u16::MAX)) as u16;
    let at = header.transport_at;
    if let Some(place) = announced(&octets[at..]) {
        let place = at + place;
        let before = u16::from_be_bytes([octets[place], octets[place + 1]]);
        if before > most {
            set(octets, at, place, most);
        }
    }
}

/// The offset of the segment size in the TCP header of a SYN. `None`: there is none.
fn announced(tcp: &[u8]) -> Option<usize> {
    let fixed = tcp.first_chunk::<TCP_HEADER>()?;
    let end = usize::from(fixed[12] >> 4) * 4;
    if fixed[TCP_FLAGS_AT] & SYN == 0 || end < TCP_HEADER || tcp.len() < end {
        return None;
    }
    let mut at = TCP_HEADER;
    while at < end {
        let len = match tcp[at] {
            END => return None,
            NO_OPERATION => 1,
            _ => usize::from(*tcp.get(at + 1).filter(|&&len| len >= 2)?),
        };
        if tcp[at] == MSS && len == 4 && at + 4 <= end {
            return Some(at + 2);
        }
        at += len;
    }
    None
}

/// Writes the segment size and corrects the checksum. At an odd offset the value lies in two words
/// of the checksum.
fn set(octets: &mut [u8], tcp_at: usize, place: usize, value: u16) {
    let start = place - (place - tcp_at) % 2;
    // The second word may lie behind the packet's end. Then it holds nothing of the option.
    let word =
        |octets: &[u8], at: usize| [0, 1].map(|place: usize| octets.get(at + place).copied().unwrap_or(0));
    let before = [start, start + 2].map(|at| (at, word(octets, at)));
    octets[place..place + 2].copy_from_slice(&value.to_be_bytes());
    for (at, before) in before {
        let after = word(octets, at);
        if after != before {
            patch(octets, tcp_at + CHECKSUM, before, after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ipv4, sum};
    use super::*;

    fn pseudo(octets: &[u8]) -> Vec<u8> {
        let mut all = octets[12..20].to_vec();
        let len = (octets.len() - 20) as u16;
        all.extend_from_slice(&[0, TCP]);
        all.extend_from_slice(&len.to_be_bytes());
        all.extend_from_slice(&octets[20..]);
        all
    }

    fn syn(flags: u8, options: &[u8]) -> Vec<u8> {
        let mut tcp = vec![0x12, 0x34, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0, flags, 0xff, 0xff, 0, 0, 0, 0];
        tcp.extend_from_slice(options);
        tcp[12] = (tcp.len() as u8 / 4) << 4;
        let mut octets = ipv4(0, TCP, &tcp);
        let sum = !sum(&pseudo(&octets));
        octets[36..38].copy_from_slice(&sum.to_be_bytes());
        octets
    }

    #[test]
    fn a_syn_that_announces_too_much_is_lowered_at_any_place() {
        for lead in 0..4 {
            let mut options = vec![NO_OPERATION; lead];
            options.extend_from_slice(&[MSS, 4, 0x05, 0xb4]);
            options.resize(8, END);
            let mut octets = syn(SYN, &options);
            clamp_mss(&mut octets, 1400);
            let place = 40 + lead + 2;
            assert_eq!(u16::from_be_bytes([octets[place], octets[place + 1]]), 1360, "behind {lead} octets");
            assert_eq!(sum(&pseudo(&octets)), 0xffff, "behind {lead} octets");
        }
    }

    #[test]
    fn a_packet_may_end_with_the_option() {
        let mut octets = syn(SYN, &[MSS, 4, 0x05, 0xb4]);
        clamp_mss(&mut octets, 1400);
        assert_eq!(octets[42..], 1360u16.to_be_bytes());
        assert_eq!(sum(&pseudo(&octets)), 0xffff);
    }

    #[test]
    fn what_fits_and_what_is_no_syn_stays() {
        for (flags, mss) in [(SYN, 1300u16), (0x10, 1460)] {
            let octets = syn(flags, &[&[MSS, 4][..], &mss.to_be_bytes()].concat());
            let mut clamped = octets.clone();
            clamp_mss(&mut clamped, 1400);
            assert_eq!(clamped, octets);
        }
    }
}
