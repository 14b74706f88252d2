//! What the columns of an outcome count, where arithmetic knows it: datagrams at regular times over lines whose losses are
//! listed.

use crate::support;
use ropewalk_scenario::{LinkRow, Outcome};

/// 100 datagrams of 972 octets in a second, 1000 on the line, from a host over a line of 8 Mbit/s and 10 ms: a millisecond
/// each.
fn outcome(link: &str) -> Outcome {
    at_rate("8 Mbit/s", link)
}

fn at_rate(rate: &str, link: &str) -> Outcome {
    let text = format!(
        "[scenario]\nname = \"values\"\nduration = \"2 s\"\n[hosts.a]\n[hosts.b]\n[links.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"{rate}\"\ndelay = \"10 ms\"\n{link}\n[connections.x]\nprotocol = \"udp\"\nfrom = \"a\"\nto = \"b\"\n\
         application = {{ kind = \"constant-rate\", rate = \"777600 bit/s\", packet_size = \"972 B\", duration = \"1 s\" }}\n"
    );
    support::outcome(&text, &[])
}

fn link<'a>(outcome: &'a Outcome, direction: &str) -> &'a LinkRow {
    outcome.links.iter().find(|row| row.direction == direction).expect("a direction")
}

#[test]
fn what_is_sent_is_delivered_and_takes_its_time() {
    let outcome = outcome("");
    let forward = link(&outcome, "a->b");
    assert_eq!((forward.offered, forward.packets, forward.delivered), (100, 100, 100));
    assert_eq!((forward.bytes, forward.queued), (100_000, 0));
    assert_eq!(
        (forward.drops_queue, forward.drops_loss, forward.duplicates, forward.ecn_marks),
        (0, 0, 0, 0)
    );
    // 100 ms of transmission in 2 s.
    let utilisation = forward.utilisation.expect("a wire's");
    assert!((utilisation - 0.05).abs() < 1e-9, "{utilisation}");
    assert_eq!(link(&outcome, "b->a").packets, 0, "nothing comes back");
    let row = &outcome.connections[0];
    let counts = row.datagrams.expect("datagrams");
    assert_eq!((counts.sent, counts.received, counts.reordered), (100, 100, 0));
    assert_eq!(row.bytes, 97_200);
    // Each is 1 ms in transmission and 10 ms on its way; the histogram has three significant digits.
    for delay in [counts.delay_median_ms, counts.delay_p99_ms] {
        assert!((delay.expect("some came") / 11.0 - 1.0).abs() < 1e-3, "{delay:?}");
    }
}

#[test]
fn listed_losses_are_transmitted_and_not_delivered() {
    let outcome = outcome("loss = { model = \"exact\", packets = [1, 50, 100] }");
    let forward = link(&outcome, "a->b");
    assert_eq!((forward.offered, forward.packets, forward.delivered, forward.drops_loss), (100, 100, 97, 3));
    assert_eq!(outcome.connections[0].datagrams.expect("datagrams").received, 97);
}

#[test]
fn a_line_that_is_down_loses_what_is_offered() {
    // Down from 0.5 s to 0.7 s. Datagrams leave each 10 ms, the first at once: 20 of them come while it is down.
    let outcome =
        outcome("changes = [{ at = \"495 ms\", state = \"down\" }, { at = \"695 ms\", state = \"up\" }]");
    let forward = link(&outcome, "a->b");
    assert_eq!((forward.offered, forward.drops_loss, forward.delivered), (100, 20, 80));
    assert_eq!(forward.packets, 80, "what came while it was down was never transmitted");
}

#[test]
fn copies_are_counted_apart_from_what_was_offered() {
    let outcome = outcome("duplicate = 1.0");
    let forward = link(&outcome, "a->b");
    assert_eq!((forward.offered, forward.packets, forward.duplicates), (100, 100, 100));
    assert_eq!(forward.delivered, 200);
    let counts = outcome.connections[0].datagrams.expect("datagrams");
    assert_eq!((counts.sent, counts.received), (100, 100), "a datagram counts once");
}

#[test]
fn a_narrow_line_drops_by_its_queue_and_keeps_a_rest() {
    // A datagram takes 267 ms. The queue holds 5, the one in transmission included; 3 more find a place while datagrams
    // are sent. Of these 8 the last is in transmission at the end.
    let outcome = at_rate("30 kbit/s", "queue = \"5 packets\"");
    let forward = link(&outcome, "a->b");
    assert_eq!((forward.offered, forward.drops_queue, forward.drops_loss), (100, 92, 0));
    assert_eq!((forward.packets, forward.delivered, forward.queued), (7, 7, 1));
    // Of the 7500 octets that the line could have carried.
    let utilisation = forward.utilisation.expect("a wire's");
    assert!((utilisation - 7000.0 / 7500.0).abs() < 1e-9, "{utilisation}");
    assert_eq!(outcome.connections[0].bytes, 7 * 972);
}
