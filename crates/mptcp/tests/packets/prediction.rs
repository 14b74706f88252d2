//! Header prediction (`crates/mptcp/src/connection/expected.rs`): what it does with a segment, all stages do too. It needs
//! timestamps.

use crate::script::{Script, config, small_window};
use ropewalk_mptcp::Config;

fn stamped(mut config: Config) -> Config {
    config.tcp.timestamps = true;
    config
}

/// A server with two subflows, whose peer's windows are scaled.
fn server(config: Config) -> Script {
    let mut server = Script::accept(stamped(config), "S 0:1 win 300 mss 1024 sackok wscale 7 ts 1 0 capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 300 ts 2 0 capable
         +1 1 < S 0:1 win 300 mss 1024 sackok wscale 7 ts 3 0 join
         1 > S. 0:1 ack 1 join
         +20 1 < . 1:1 ack 1 win 300 ts 4 0 join
         1 > . 1:1 ack 1",
    );
    server
}

/// Takes a segment, and sees that a copy which takes it by all stages becomes the same. Returns whether it was expected.
fn is_expected(script: &mut Script, at: usize, words: &str) -> bool {
    let segment = script.segment(at, words);
    let id = script.ends[at].id.expect("it is there");
    let expected = script.connection.expects(id, &segment);
    let mut by_stages = script.connection.clone();
    by_stages.handle_by_stages(script.now, id, &segment);
    script.connection.handle_segment(script.now, id, &segment);
    assert_eq!(format!("{:?}", script.connection), format!("{by_stages:?}"), "{words}");
    expected
}

#[test]
fn data_that_goes_on_where_the_last_ended_are_expected_and_nothing_else_is() {
    assert!(is_expected(&mut server(config()), 0, ". 1:101 ack 1 win 300 ts 5 0 dack 0 map 0 1 100"));
    for unexpected in [
        ". 1:101 ack 1 win 300 ts 5 0 dack 0 map 0 1 100 prio 1",
        ". 1:101 ack 1 win 300 ts 5 0 dack 0 map 0 1 100 sum",
        ". 1:101 ack 1 win 300 ts 5 0 dack 0 map 0 1 101 fin",
        ". 1:101 ack 1 win 300 ts 5 0 dack 0 map 0 1 200",
        ". 1:101 ack 1 win 300 ts 5 0 map 0 1 100",
        ". 1:101 ack 1 win 300 ts 5 0 dack 0",
    ] {
        assert!(!is_expected(&mut server(config()), 0, unexpected), "{unexpected}");
    }
}

#[test]
fn data_at_the_edge_of_the_window_are_not_expected() {
    assert!(is_expected(
        &mut server(small_window()),
        0,
        ". 1:101 ack 1 win 300 ts 5 0 dack 0 map 9999 1 100"
    ));
    assert!(!is_expected(
        &mut server(small_window()),
        0,
        ". 1:101 ack 1 win 300 ts 5 0 dack 0 map 10000 1 100"
    ));
}

#[test]
fn an_acknowledgement_with_a_mapping_is_not_expected() {
    for (mapping, expected) in [("", true), ("map 0 1 0", false)] {
        let mut server = server(config());
        server.run("1 < . 1:1 ack 1 win 300 ts 5 0 dack 0 prio 1\n push 100\n 0 > . 1:101 ack 1");
        let words = format!(". 1:1 ack 101 win 300 ts 6 0 dack 100 {mapping}");
        assert_eq!(is_expected(&mut server, 0, &words), expected, "{mapping}");
    }
}

/// It proves that the server has both keys.
#[test]
fn a_client_s_first_dss_is_not_expected() {
    let mut client = Script::connect(stamped(config()));
    client.run(
        "0 > S 0:1 capable
         +20 0 < S. 0:1 ack 1 win 300 mss 1024 sackok wscale 7 ts 1 0 capable
         0 > . 1:1 ack 1 capable",
    );
    assert!(!is_expected(&mut client, 0, ". 1:101 ack 1 win 300 ts 2 0 dack 0 map 0 1 100"));
    assert!(is_expected(&mut client, 0, ". 101:201 ack 1 win 300 ts 3 0 dack 0 map 100 101 100"));
}

/// Subflow 1 has carried data, and what is said of it comes with data on subflow 0.
#[test]
fn a_data_ack_and_a_window_beside_expected_data_count() {
    for acknowledgement in ["dack", "dack32"] {
        let mut server = server(config());
        server.run("0 < . 1:1 ack 1 win 300 ts 5 0 dack 0 prio 1\n push 988\n 1 > . 1:989 ack 1");
        let mut hear = |words: &str| {
            assert!(is_expected(&mut server, 0, words), "{words}");
            server.connection.stats().bytes_acked
        };
        assert_eq!(hear(&format!(". 1:101 ack 1 win 300 ts 6 0 {acknowledgement} 0 map 0 1 100")), 0);
        assert_eq!(
            hear(&format!(". 101:201 ack 1 win 300 ts 7 0 {acknowledgement} 988 map 100 101 100")),
            988
        );
        assert_eq!(
            hear(&format!(". 201:301 ack 1 win 400 ts 8 0 {acknowledgement} 988 map 200 201 100")),
            988
        );
    }
}

#[test]
fn a_window_that_data_open_lets_data_out() {
    let mut server =
        Script::accept(stamped(config()), "S 0:1 win 1000 mss 1024 sackok wscale 7 ts 1 0 capable");
    server.run(
        "0 > S. 0:1 ack 1 capable
         +20 0 < . 1:1 ack 1 win 10 ts 2 0 capable
         push 988
         0 > . 1:989 ack 1
         +20 0 < . 1:1 ack 989 win 0 ts 3 0 dack 988
         push 2000",
    );
    let _ = server.take_out();
    server.run("+1 0 < . 1:101 ack 989 win 10 ts 4 0 dack 988 map 0 1 100");
    assert!(server.take_out().iter().any(|(_, segment)| segment.payload.len > 0));
}
