//! Scenarios whose hosts are Linux's: they run on this machine, in namespaces of their own, for a
//! few seconds each. How fast they are is compared with room for a machine that has much else to
//! do.

mod foreign;
mod gateways;
mod machine;
mod mixed;
mod scenarios;
mod traces;
#[path = "../witness/mod.rs"]
mod witness;

use machine::{judged, turn};
use ropewalk_live::RunError;
use ropewalk_scenario::{Outcome, RunOptions};
use scenarios::{
    Emulated, chosen_losses, cut, dark_path, fast, one_link, passing_endpoint, programs, shared_server, talk,
    transfer, two_links,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use traces::Traces;

/// The only or first connection's goodput.
fn goodput(outcome: &Outcome) -> f64 {
    outcome.connections[0].goodput_mbps
}

/// Is it close to what it should be?
fn close(measured: f64, expected: f64, part: f64) -> bool {
    (measured / expected - 1.0).abs() < part
}

/// The goodput of both comes close.
fn agreeing_with(outcome: &Outcome, simulated: &Outcome, part: f64) {
    let measured = [outcome, simulated].map(goodput);
    assert!(close(measured[0], measured[1], part), "{measured:.3?} Mbit/s, {:?}", outcome.lateness);
}

/// Both runs of a scenario, the emulated one first, if their measures come close.
fn agreeing(scenario: &Emulated, part: f64, measure: fn(&Outcome) -> f64) -> [Outcome; 2] {
    let (emulated, simulated) = (scenario.run(), scenario.simulate());
    let measured = [&emulated, &simulated].map(measure);
    println!("emulated and simulated {measured:.4?}, {:?}", emulated.lateness);
    assert!(close(measured[0], measured[1], part), "it is not the same experiment in both worlds");
    [emulated, simulated]
}

#[test]
fn a_clean_link_is_filled_in_both_worlds() {
    judged(|| {
        let [emulated, _] = agreeing(&one_link(), 0.05, goodput);
        let rate = 8.0 * 1448.0 / 1500.0;
        assert!(close(goodput(&emulated), rate, 0.06), "the link's rate without headers is {rate:.2} Mbit/s");
        let link = &emulated.links[0];
        assert_eq!((link.name.as_str(), link.direction.as_str()), ("dsl", "client->server"));
        assert!(link.bytes > emulated.connections[0].bytes, "headers count too");
        assert!(emulated.lateness.is_some_and(|late| late.packets > 1000));
        assert_eq!(emulated.subflows.len(), 1);
        assert!(emulated.subflows[0].srtt_ms.is_some_and(|srtt| srtt > 20.0), "{:?}", emulated.subflows);
    });
}

/// Packets that the client's kernel says to have sent at its interface, of which one may have been
/// many.
fn handed_over(outcome: &Outcome) -> u64 {
    let count = outcome.commands.iter().find(|row| row.name == "count").expect("it is told");
    let line = count.output.lines().find_map(|line| line.trim().strip_prefix("dsl:"));
    let sent = line.and_then(|line| line.split_whitespace().nth(9)).and_then(|number| number.parse().ok());
    sent.unwrap_or_else(|| panic!("{count:?}"))
}

/// A link splits what a kernel hands over as one before it queues, loses or counts.
#[test]
fn the_same_packets_are_lost_with_and_without_offloads() {
    judged(|| {
        let [plain, joined] = [false, true].map(|offloads| chosen_losses(offloads).run());
        for outcome in [&plain, &joined] {
            let (link, row) = (&outcome.links[0], &outcome.connections[0]);
            println!("{} packets, {} handed over, end {:?}", link.packets, handed_over(outcome), row.end);
            assert!(row.completed && row.bytes == 500_000, "{row:?}");
            assert_eq!(link.drops_loss, 2, "{link:?}");
            assert_eq!(outcome.subflows[0].retransmissions, 2, "{:?}", outcome.subflows);
            // Full segments of 1 448 octets, the two that were lost once more, and some without
            // data.
            assert!((348..370).contains(&(link.packets + link.drops_loss)), "{link:?}");
        }
        assert!(handed_over(&plain) >= 348 && handed_over(&joined) < 300, "as many as one each");
        let ends =
            [&plain, &joined].map(|outcome| outcome.connections[0].end.expect("it ends").as_secs_f64());
        assert!(close(ends[1], ends[0], 0.05), "{ends:?}");
    });
}

/// What two kernels carry over 500 Mbit/s depends on the machine: it is printed, and less than half
/// is too little.
#[test]
fn offloads_carry_a_fast_link() {
    judged(|| {
        for offloads in [false, true] {
            let outcome = fast(offloads).run();
            println!("offloads {offloads}: {:.1} Mbit/s, {:?}", goodput(&outcome), outcome.lateness);
            assert!(!offloads || goodput(&outcome) > 250.0, "{:?}", outcome.lateness);
        }
    });
}

#[test]
fn a_transfer_ends_when_its_last_octet_has_come() {
    judged(|| {
        let (emulated, simulated) = (transfer().run(), transfer().simulate());
        for (row, simulated) in emulated.connections.iter().zip(&simulated.connections) {
            let ends = [row, simulated].map(|row| row.end.expect("it ends").as_secs_f64());
            println!("{}: emulated {:.3}, simulated {:.3} s", row.name, ends[0], ends[1]);
            assert!(row.completed && row.bytes == 500_000, "{row:?}");
            assert!(close(ends[0], ends[1], 0.2), "{row:?} against {simulated:?}");
        }
        assert_eq!(emulated.connections[0].name, "way-back");
    });
}

#[test]
fn two_paths_carry_the_data_of_one_connection() {
    judged(|| {
        for scenario in [two_links(), shared_server()] {
            let [emulated, _] = agreeing(&scenario, 0.1, goodput);
            let paths = emulated.subflows.iter().map(|subflow| subflow.path.as_str()).collect::<Vec<_>>();
            assert_eq!(paths, ["dsl", "lte"], "{:?}", emulated.subflows);
            assert!(
                emulated.subflows.iter().all(|subflow| subflow.bytes > 500_000),
                "{:?}",
                emulated.subflows
            );
        }
    });
}

#[test]
fn an_endpoint_comes_and_goes_while_data_flow() {
    judged(|| {
        let v6 = || passing_endpoint().over_ipv6();
        for outcome in [passing_endpoint().run(), passing_endpoint().simulate(), v6().run(), v6().simulate()]
        {
            let [dsl, lte] = &outcome.subflows[..] else { panic!("{:?}", outcome.subflows) };
            println!("{} octets over lte, {} over dsl", lte.bytes, dsl.bytes);
            assert_eq!((dsl.path.as_str(), lte.path.as_str()), ("dsl", "lte"));
            // At 4 Mbit/s a second and a half carry 750 kB, and the three seconds to the end
            // 1.5 MB.
            assert!(
                (300_000..900_000).contains(&lte.bytes) && dsl.bytes > 3_000_000,
                "{:?}",
                outcome.subflows
            );
        }
    });
}

#[test]
fn both_worlds_speak_ipv6() {
    judged(|| {
        let [emulated, _] = agreeing(&one_link().over_ipv6(), 0.05, goodput);
        let link = &emulated.links[0];
        assert!(emulated.subflows[0].srtt_ms.is_some_and(|srtt| srtt > 20.0), "{:?}", emulated.subflows);
        // Each full packet has 1 428 octets of payload.
        let carried = emulated.connections[0].bytes as f64 / link.packets as f64;
        assert!((1_390.0..=1_428.0).contains(&carried), "{carried} octets of payload in a packet");
        let [emulated, simulated] = agreeing(&two_links().over_ipv6(), 0.1, goodput);
        for outcome in [&emulated, &simulated] {
            let paths: Vec<&str> = outcome.subflows.iter().map(|subflow| subflow.path.as_str()).collect();
            assert_eq!(paths, ["dsl", "lte"], "{:?}", outcome.subflows);
            assert!(outcome.subflows.iter().all(|subflow| subflow.bytes > 500_000), "{:?}", outcome.subflows);
        }
        let outcome = talk().over_ipv6().run();
        let call = outcome.connections[0].datagrams.expect("it is UDP");
        assert_eq!((call.sent, outcome.links[0].drops_loss), (400, 2), "the losses of the same two packets");
        assert_eq!(outcome.connections[2].transactions, 10);
        let dark = dark_path().over_ipv6().run();
        assert!(dark.connections[0].reinjected_bytes.is_some_and(|octets| octets > 1_400), "{dark:?}");
    });
}

#[test]
fn what_was_on_a_path_that_goes_dark_is_sent_again_by_the_other() {
    judged(|| {
        let [outcome, _] = agreeing(&dark_path(), 0.1, goodput);
        let row = &outcome.connections[0];
        let reinjected = row.reinjected_bytes.expect("kernels with CONFIG_INET_MPTCP_DIAG tell it");
        println!("{reinjected} octets reinjected of {}", row.bytes);
        // The dark link's queue and what was in flight are less than 100 packets; the kernel
        // repeats some twice.
        assert!((1_400..280_000).contains(&reinjected), "{row:?}");
    });
}

#[test]
fn a_link_that_goes_down_loses_what_is_on_its_way_if_it_shall() {
    judged(|| {
        // A datagram each 5 ms until 1 s: those of the last 250 ms are on their way at 1.05 s.
        for (loses, expected) in [(false, 200), (true, 150)] {
            let received = |outcome: &Outcome| {
                let call = outcome.connections[0].datagrams.expect("it is UDP");
                assert_eq!(call.sent, 200);
                assert_eq!(call.received + outcome.links[0].drops_loss, 200, "the link counts what it loses");
                call.received as f64
            };
            for outcome in [cut(loses).run(), cut(loses).simulate()] {
                assert!((received(&outcome) - f64::from(expected)).abs() <= 3.0, "{:?}", outcome.connections);
            }
        }
    });
}

#[test]
fn every_application_does_the_same_in_both_worlds() {
    judged(|| {
        // The answers show both ends' applications at work: a request has to be answered when it
        // comes.
        let response = |outcome: &Outcome| outcome.connections[2].mean_response_s.expect("there are some");
        let [emulated, simulated] = agreeing(&talk(), 0.1, response);
        let row = |outcome: &Outcome, index: usize| outcome.connections[index].clone();
        for index in 0..3 {
            println!("{:?}\n{:?}", row(&emulated, index), row(&simulated, index));
            assert!(row(&emulated, index).completed && row(&emulated, index).error.is_none());
        }
        let calls = [row(&emulated, 0), row(&simulated, 0)];
        let [call, expected] = calls.map(|row| row.datagrams.expect("it is UDP"));
        assert_eq!((call.sent, expected.sent), (400, 400), "a datagram each 5 ms for 2 s");
        let lost = emulated.links[0].drops_loss;
        assert_eq!(
            (lost, simulated.links[0].drops_loss),
            (2, 2),
            "the same number of packets in both worlds"
        );
        assert!((398..=400).contains(&call.received), "{call:?}");
        assert!(call.delay_median_ms.is_some_and(|delay| (10.0..30.0).contains(&delay)), "{call:?}");
        assert!(close(row(&emulated, 1).goodput_mbps, row(&simulated, 1).goodput_mbps, 0.1));
        let [web, expected] = [row(&emulated, 2), row(&simulated, 2)];
        assert_eq!((web.transactions, expected.transactions, web.bytes), (10, 10, 200_000));
    });
}

#[test]
fn a_kernel_says_nothing_where_it_does_not_know() {
    judged(|| {
        let outcome = transfer().run();
        let row = &outcome.connections[0];
        assert_eq!((row.hol_blocked_s, row.reorder_buffer_max, row.duplicate_bytes), (None, None, None));
        assert_eq!(outcome.subflows[0].fast_recoveries, None);
        assert!(
            outcome.subflows[0].timeouts.is_some() && outcome.subflows[0].bytes == 500_000,
            "{:?}",
            outcome.subflows
        );
    });
}

#[test]
fn nothing_is_left_of_a_run() {
    let Some(_turn) = turn() else { return };
    let before = Traces::of_this_process();
    assert!(before.is_empty(), "{before:?}");
    transfer().run();
    let after = Traces::of_this_process();
    assert!(after.is_empty(), "{after:?}");
}

#[test]
fn a_stop_ends_a_run_and_leaves_nothing() {
    let Some(_turn) = turn() else { return };
    let stop = AtomicBool::new(false);
    let options = RunOptions { stop: Some(&stop), ..RunOptions::default() };
    let scenario = one_link().load(&[("scenario.duration", "1 h")]);
    let result = thread::scope(|scope| {
        let run = scope.spawn(|| ropewalk_live::run(&scenario, &options));
        traces::wait_for(|| Traces::of_this_process().namespaces.len() == 2);
        stop.store(true, Ordering::Relaxed);
        run.join().expect("it does not panic")
    });
    assert!(matches!(result, Err(RunError::Interrupted { .. })), "{result:?}");
    assert!(Traces::of_this_process().is_empty(), "{:?}", Traces::of_this_process());
}

/// Says to this program, run once more, that it is to be killed.
const VICTIM: &str = "ROPEWALK_VICTIM";

#[test]
fn what_a_killed_run_leaves_the_next_one_removes() {
    let Some(_turn) = turn() else { return };
    if std::env::var_os(VICTIM).is_some() {
        let scenario = one_link().load(&[("scenario.duration", "1 h")]);
        let result = ropewalk_live::run(&scenario, &RunOptions::default());
        panic!("it was not killed: {result:?}");
    }
    let mut victim = machine::this_test("what_a_killed_run_leaves_the_next_one_removes");
    let mut victim = victim.env(VICTIM, "1").spawn().expect("this program");
    let left = || Traces::of(victim.id());
    traces::wait_for(|| left().namespaces.len() == 2);
    // Its owner lives: nobody takes it away.
    ropewalk_live::clean().expect("root may look");
    assert_eq!(left().namespaces.len(), 2);
    let number = victim.id();
    victim.kill().expect("it runs");
    victim.wait().expect("it has ended");
    assert_eq!(Traces::of(number).namespaces.len(), 2, "nobody has removed them");
    ropewalk_live::run(&transfer().load(&[]), &RunOptions::default()).expect("another run");
    assert!(Traces::of(number).is_empty(), "{:?}", Traces::of(number));
}

#[test]
fn two_runs_at_once_do_not_meet() {
    judged(|| {
        let outcomes = thread::scope(|scope| {
            let runs = [transfer(), shared_server()].map(|scenario| scope.spawn(move || scenario.run()));
            runs.map(|run| run.join().expect("it does not panic"))
        });
        for outcome in outcomes {
            assert!(
                outcome.connections.iter().all(|row| row.bytes > 0 && row.error.is_none()),
                "{outcome:?}"
            );
        }
    });
}

#[test]
fn the_series_has_what_the_kernel_tells_over_time() {
    judged(|| {
        let options = RunOptions { series: true, ..RunOptions::default() };
        let outcome = ropewalk_live::run(&two_links().load(&[]), &options).expect("it runs");
        let subflow = |number| {
            let rows = outcome.series.iter().filter_map(|row| Some((row.subflow?, row.throughput_mbps)));
            rows.filter(|(sample, _)| sample.subflow == number).collect::<Vec<_>>()
        };
        for number in [0, 1] {
            let rows = subflow(number);
            assert!(rows.len() >= 5, "{} samples of subflow {number}", rows.len());
            assert!(rows.iter().all(|(sample, _)| sample.path == number), "{rows:?}");
            assert!(rows.iter().any(|(sample, mbps)| sample.cwnd > 0 && *mbps > 1.0), "{rows:?}");
        }
        let delivered: f64 =
            outcome.series.iter().filter(|row| row.subflow.is_none()).map(|row| row.throughput_mbps).sum();
        assert!(delivered > 0.0);
    });
}

/// The connection's own counters at its sender, over time. What came with Linux 6.5 or later may be
/// empty.
fn check_multipath(outcome: &Outcome) {
    let rows = &outcome.mptcp_series;
    assert!(rows.len() >= 5, "{} samples", rows.len());
    for pair in rows.windows(2) {
        let [before, after] = [&pair[0], &pair[1]];
        assert!(
            before.time < after.time && before.sample.acked_bytes <= after.sample.acked_bytes,
            "{pair:?}"
        );
    }
    for row in rows {
        let sample = row.sample;
        let unacked = sample.write_seq.zip(sample.snd_una).map(|(end, start)| end.wrapping_sub(start));
        assert!(unacked.is_some_and(|octets| octets < 50_000_000), "{sample:?}");
        assert_eq!(sample.is_fallen_back, Some(false));
        assert!(sample.acked_bytes <= sample.sent_bytes, "{sample:?}");
    }
    let last = &rows[rows.len() - 1].sample;
    let mut expected = rows.iter().filter_map(|row| row.sample.rcv_nxt);
    assert!(expected.all(|dsn| Some(dsn) == last.rcv_nxt), "the receiver sends no data");
    assert!(last.rcv_nxt.is_some());
    assert!(last.acked_bytes.is_none_or(|octets| octets > outcome.connections[0].bytes / 2), "{last:?}");
}

#[test]
fn what_the_kernel_tells_of_multipath_tcp_is_sampled() {
    judged(|| {
        let options = RunOptions { series: true, ..RunOptions::default() };
        let outcome = ropewalk_live::run(&passing_endpoint().load(&[]), &options).expect("it runs");
        check_multipath(&outcome);
        let mut further =
            outcome.mptcp_series.iter().map(|row| row.sample.further_subflows).collect::<Vec<_>>();
        further.dedup();
        assert_eq!(further, [Some(0), Some(1), Some(0)], "an endpoint comes and goes");
        for row in &outcome.mptcp_series {
            let sample = row.sample;
            let all = sample.further_subflows.map(|further| further + 1);
            assert!(sample.subflows.is_none() || sample.subflows == all, "{sample:?}");
        }
        let told = outcome.mptcp_series.last().and_then(|row| row.sample.reinjected_bytes);
        assert!(told <= outcome.connections[0].reinjected_bytes);
    });
}

#[test]
fn tcp_has_no_samples_of_multipath_tcp() {
    judged(|| {
        let options = RunOptions { series: true, ..RunOptions::default() };
        let outcome = ropewalk_live::run(&one_link().load(&[]), &options).expect("it runs");
        assert!(!outcome.series.is_empty() && outcome.mptcp_series.is_empty());
    });
}

#[test]
fn programs_run_at_their_hosts_and_end_with_the_run() {
    judged(|| {
        let outcome = programs().run();
        println!("{:#?}\n{:#?}", outcome.commands, outcome.sockets);
        let command = |name: &str| outcome.commands.iter().find(|row| row.name == name).expect("it is told");
        let source = command("source");
        assert_eq!((source.exit_code, source.signal, source.error.as_deref()), (Some(3), None, None));
        assert!(source.start < source.end && source.start.is_some_and(|start| start.as_secs_f64() >= 0.5));
        assert_eq!(source.output, "10.0.0.2\n", "what it writes to its standard error is kept too");
        let sink = command("sink");
        assert_eq!((sink.end, sink.exit_code, sink.output_bytes as usize), (None, None, sink.output.len()));
        assert!(sink.output.contains("100000 octets"), "{sink:?}");
        for row in [sink, command("stubborn")] {
            assert_eq!((row.end, row.exit_code, row.signal), (None, None, None), "it was ended with the run");
            let number = row.output.lines().next().expect("it has told its number");
            assert!(!std::path::Path::new("/proc").join(number).exists(), "{} is still there", row.name);
        }
        let socket = |name: &str| {
            let mut rows = outcome.sockets.iter().filter(|row| row.command.as_deref() == Some(name));
            rows.next().unwrap_or_else(|| panic!("no socket of {name}"))
        };
        assert!(socket("source").acked_bytes >= 100_000 && socket("source").remote == "10.0.0.2:80");
        assert!(socket("sink").received_bytes >= 100_000);
        assert!(outcome.links[0].bytes > 100_000 && outcome.connections.is_empty());
    });
}

#[test]
fn captures_are_refused() {
    let Some(_turn) = turn() else { return };
    let options = RunOptions { capture: Some(std::env::temp_dir()), ..RunOptions::default() };
    let scenario = one_link().load(&[]);
    let error = ropewalk_live::run(&scenario, &options).expect_err("there are none");
    assert!(error.to_string().contains("no captures"), "{error}");
}

#[test]
fn links_tell_why_a_scenario_cannot_be_read() {
    let mut links = std::process::Command::new(env!("CARGO_BIN_EXE_ropewalk-links"));
    let output = links.arg("/nowhere/scenario.toml").output().expect("the program of this crate");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("/nowhere/scenario.toml: No such file"), "{said}");
}
