use super::*;
use crate::phy::Standard;

fn air(standard: Standard, channel: u8) -> Air {
    Air { channel: Channel::new(standard, channel).expect("a channel"), preamble: Preamble::Long }
}

fn data(octets: u32) -> Frame {
    Frame {
        kind: FrameKind::Data,
        to: 1,
        rate: Rate::Mbps5_5,
        octets,
        reserved: Duration::from_nanos(314_001),
        sequence: 0x123,
        is_retry: true,
    }
}

#[test]
fn a_data_frame_has_its_rate_channel_addresses_and_number() {
    let ends = Ends { from: 7, to: Some(258) };
    let found =
        sniffed(Instant::ZERO, &data(136), ends, air(Standard::Dsss { short_preamble: false }, 6), true);
    let expected = [
        [0, 0, 14, 0, 0x0e, 0, 0, 0, 0, 11].as_slice(),
        &2437u16.to_le_bytes(),
        &[0xa0, 0],
        &[0x08, 0x08, 0x3b, 0x01], // data, a retry, 315 µs
        &[2, b'r', b'w', 0, 1, 2],
        &[2, b'r', b'w', 0, 0, 7],
        &[2, b'r', b'w', 0xff, 0xff, 0xff],
        &[0x30, 0x12],
    ]
    .concat();
    assert_eq!(found.header, expected);
    // LLC header and packet.
    assert_eq!(found.body, 136 - 24 - 4);
}

#[test]
fn control_frames_are_headers_alone() {
    for (kind, len) in [(FrameKind::Rts, 16), (FrameKind::Cts, 10), (FrameKind::Ack, 10)] {
        let frame = Frame::control(kind, 1, Rate::Mbps24, Duration::ZERO);
        let found =
            sniffed(Instant::ZERO, &frame, Ends { from: 0, to: Some(1) }, air(Standard::OfdmA, 36), false);
        assert_eq!((found.header.len(), found.body), (14 + len, 0), "{kind:?}");
        assert_eq!(found.header[12..14], [0x40, 0x01], "OFDM at 5 GHz");
    }
}

#[test]
fn a_broadcast_is_for_everybody() {
    let frame = Frame { to: BROADCAST, ..data(100) };
    let ends = Ends { from: 0, to: None };
    let found = sniffed(Instant::ZERO, &frame, ends, air(Standard::OfdmG, 1), true);
    assert_eq!(found.header[14 + 4..14 + 10], [0xff; 6]);
}
