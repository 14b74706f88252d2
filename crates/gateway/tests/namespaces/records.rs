//! A run that was recorded is played again.

use crate::net::{GATEWAY, Net, possible, shell};
use std::fs;

#[test]
fn a_record_gives_the_same_octets_again() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    // The record keeps what the name stood for. The replay runs where the name is not known.
    net.name_hub("hub.example.org");
    let records = ["hub", "site"].map(|end| net.path(&format!("{end}.record")));
    for (end, record) in ["hub", "site"].into_iter().zip(&records) {
        net.start_with(end, &["--record", record.to_str().expect("a name")]);
    }
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    assert!(net.transfer(2_000_000));
    let control = format!("--control {}", net.path("site.sock").display());
    assert!(shell(&format!("{GATEWAY} path {control} remove lte")).status.success());
    net.until("it works with one path", || net.pings("site", "10.9.0.1"));
    net.end("site", "TERM");
    net.end("hub", "TERM");
    for (end, record) in ["hub", "site"].into_iter().zip(&records) {
        let config = net.path(&format!("{end}.toml"));
        let replay = || shell(&format!("{GATEWAY} replay {} {}", config.display(), record.display()));
        let played = replay();
        let (out, error) = (String::from_utf8_lossy(&played.stdout), String::from_utf8_lossy(&played.stderr));
        assert!(played.status.success() && out.contains("each as recorded"), "{end}: {out}{error}");
        // With another input the output differs from the record's digests.
        let mut octets = fs::read(record).expect("it is there");
        let place = octets.len() / 2;
        octets[place] ^= 0xff;
        fs::write(record, octets).expect("it is this test's");
        assert!(!replay().status.success(), "{end}: one changed octet is noticed");
    }
}
