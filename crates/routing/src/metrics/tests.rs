use super::{Hop, MicSetting, ett, etx, mic, wcett};

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-12
}

#[test]
fn etx_counts_both_directions() {
    assert!(close(etx(0.5, 0.8), 2.5));
    assert!(etx(0.0, 1.0).is_infinite());
}

#[test]
fn ett_is_the_time_of_all_transmissions() {
    // 1500 octets at 6 Mbit/s take 2 ms, two and a half times 5 ms.
    assert!(close(ett(2.5, 1500, 6e6), 5e-3));
}

fn hop(channel: u32, ett: f64, interfered: u32) -> Hop {
    Hop { channel, ett, interfered }
}

#[test]
fn wcett_weighs_the_sum_against_the_busiest_channel() {
    let hops = [hop(1, 2.0, 0), hop(2, 3.0, 0), hop(1, 4.0, 0)];
    assert!(close(wcett(&hops, 0.0), 9.0));
    assert!(close(wcett(&hops, 1.0), 6.0));
    assert!(close(wcett(&hops, 0.25), 0.75 * 9.0 + 0.25 * 6.0));
}

#[test]
fn mic_counts_interference_and_channel_changes() {
    let setting = MicSetting { nodes: 10, least_ett: 0.5, switches: 0.5, stays: 2.0 };
    // IRU: 1·3 + 2·4 = 11 over 10 · 0.5; the middle node keeps its channel.
    assert!(close(mic(&[hop(1, 1.0, 3), hop(1, 2.0, 4)], setting), 11.0 / 5.0 + 2.0));
    assert!(close(mic(&[hop(1, 1.0, 3), hop(2, 2.0, 4)], setting), 11.0 / 5.0 + 0.5));
}
