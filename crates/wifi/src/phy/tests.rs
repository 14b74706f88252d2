use super::*;

const LONG: Standard = Standard::Dsss { short_preamble: false };
const SHORT: Standard = Standard::Dsss { short_preamble: true };

fn micros(standard: Standard, rate: Rate, octets: u32) -> u64 {
    let duration = ppdu_duration(standard, rate, octets);
    assert_eq!(duration.as_nanos() % 1_000, 0);
    duration.as_micros()
}

#[test]
fn dsss_frames_take_whole_microseconds_after_their_preamble() {
    // Measured in ns-3.
    assert_eq!(micros(LONG, Rate::Mbps11, 1488), 1275);
    assert_eq!(micros(LONG, Rate::Mbps11, ACK), 203);
    // By hand.
    assert_eq!(micros(LONG, Rate::Mbps1, ACK), 192 + 112);
    assert_eq!(micros(LONG, Rate::Mbps2, RTS), 192 + 80);
    assert_eq!(micros(LONG, Rate::Mbps5_5, ACK), 192 + 21);
    assert_eq!(micros(SHORT, Rate::Mbps11, 1488), 96 + 1083);
    assert_eq!(micros(SHORT, Rate::Mbps2, ACK), 96 + 56);
}

#[test]
fn one_mbps_never_has_a_short_preamble() {
    assert_eq!(micros(SHORT, Rate::Mbps1, ACK), micros(LONG, Rate::Mbps1, ACK));
}

#[test]
fn ofdm_frames_take_whole_symbols() {
    // 16 + 8·1500 + 6 bits: at 54 Mbit/s 216 per symbol, 56 symbols; at 6 Mbit/s 24, 501.
    assert_eq!(micros(Standard::OfdmA, Rate::Mbps54, 1500), 20 + 56 * 4);
    assert_eq!(micros(Standard::OfdmA, Rate::Mbps6, 1500), 20 + 501 * 4);
    assert_eq!(micros(Standard::OfdmA, Rate::Mbps6, ACK), 44);
    assert_eq!(micros(Standard::OfdmA, Rate::Mbps9, ACK), 20 + 4 * 4);
    assert_eq!(micros(Standard::OfdmG, Rate::Mbps24, ACK), 28 + 6);
    // 26 bits fill a symbol of 24 and open a second one, 22 do not.
    assert_eq!(micros(Standard::OfdmA, Rate::Mbps6, 0), 24);
    assert_eq!(micros(Standard::OfdmA, Rate::Mbps6, 1), 28);
}

#[test]
fn constants_are_those_of_the_tables() {
    let row = |standard: Standard| {
        let timing = standard.timing();
        let of = |duration: Duration| duration.as_micros();
        (of(timing.slot), of(timing.sifs), of(timing.difs), timing.cw_min, timing.cw_max, of(eifs(standard)))
    };
    assert_eq!(row(LONG), (20, 10, 50, 31, 1023, 364));
    assert_eq!(row(SHORT), (20, 10, 50, 31, 1023, 364));
    assert_eq!(row(Standard::OfdmA), (9, 16, 34, 15, 1023, 16 + 34 + 44));
    assert_eq!(row(Standard::OfdmG), (9, 10, 28, 15, 1023, 10 + 28 + 50));
    assert_eq!(response_timeout(LONG, Rate::Mbps11), Duration::from_micros(222));
}

#[test]
fn responses_use_the_highest_basic_rate_not_above_the_frame() {
    let basic = RateSet::of(&[Rate::Mbps1, Rate::Mbps2]);
    assert_eq!(control_rate(basic, Rate::Mbps11), Rate::Mbps2);
    assert_eq!(control_rate(basic, Rate::Mbps1), Rate::Mbps1);
    assert_eq!(control_rate(RateSet::DSSS, Rate::Mbps11), Rate::Mbps11);
    assert_eq!(control_rate(RateSet::DSSS, Rate::Mbps5_5), Rate::Mbps5_5);
    let ofdm = RateSet::of(&[Rate::Mbps6, Rate::Mbps12, Rate::Mbps24]);
    assert_eq!(control_rate(ofdm, Rate::Mbps54), Rate::Mbps24);
    assert_eq!(control_rate(ofdm, Rate::Mbps18), Rate::Mbps12);
    assert_eq!(control_rate(ofdm, Rate::Mbps9), Rate::Mbps6);
}

#[test]
fn a_network_has_the_mandatory_rates_for_basic_ones() {
    assert_eq!(LONG.basic_rates(), RateSet::DSSS);
    let ofdm = RateSet::of(&[Rate::Mbps6, Rate::Mbps12, Rate::Mbps24]);
    assert_eq!([Standard::OfdmA, Standard::OfdmG].map(Standard::basic_rates), [ofdm, ofdm]);
}

#[test]
fn responses_keep_the_modulation_of_their_frame() {
    // 11 Mbit/s is basic and below 54, but not OFDM: the highest mandatory OFDM rate answers.
    let basic = RateSet::of(&[Rate::Mbps11]);
    assert_eq!(control_rate(basic, Rate::Mbps54), Rate::Mbps24);
    assert_eq!(control_rate(basic, Rate::Mbps2), Rate::Mbps2);
    assert_eq!(control_rate(RateSet::EMPTY, Rate::Mbps9), Rate::Mbps6);
}

#[test]
fn rates_are_named_by_their_speed() {
    for rate in Rate::ALL {
        assert_eq!(rate.to_string().parse::<Rate>(), Ok(rate));
        assert!(RateSet::DSSS.contains(rate) != RateSet::OFDM.contains(rate));
    }
    assert!(Rate::ALL.windows(2).all(|pair| pair[0].bits_per_sec() < pair[1].bits_per_sec()));
    assert!("7 Mbit/s".parse::<Rate>().unwrap_err().contains("5.5"));
    assert!("fast".parse::<Rate>().is_err());
    let set: RateSet = RateSet::DSSS.iter().collect();
    assert_eq!(set, RateSet::DSSS);
    assert_eq!(set.difference(RateSet::MANDATORY), RateSet::EMPTY);
}
