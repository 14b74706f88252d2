//! What the schedulers must achieve on two links with drop-tail queues of 100 packets: DSL
//! (64 Mbit/s, 13 ms round trip) and LTE (60 Mbit/s, 35 ms round trip). Every figure includes what
//! the start costs, unless a test says otherwise.

use crate::apps::{ConstantRate, Flow};
use crate::net::{Bond, at, line, ms};
use ropewalk_bonding::{Config, CostFirstConfig, PathConfig, SchedulerConfig};
use ropewalk_testnet::{Line, both_ways};

fn config(scheduler: SchedulerConfig) -> Config {
    Config::new(vec![PathConfig::new("dsl", Some(1)), PathConfig::new("lte", Some(2))], scheduler)
}

fn cost_first() -> Config {
    config(SchedulerConfig::CostFirst(CostFirstConfig::default()))
}

fn rate_aware() -> Config {
    config(SchedulerConfig::RateAware)
}

fn dsl_and_lte() -> Vec<[Line; 2]> {
    vec![both_ways(line(64.0, 6.5)), both_ways(line(60.0, 17.5))]
}

/// LTE whose one-way delay swings from 12.5 to 22.5 ms.
fn swinging() -> Vec<[Line; 2]> {
    // A second up, a second down, in steps of 5 ms.
    let extra = |step: u32| ms(10.0 * (1.0 - (2.0 * f64::from(step % 400) / 400.0 - 1.0).abs()));
    let delays = (0..6000).map(|step| (at(0.005 * f64::from(step)), ms(12.5) + extra(step))).collect();
    let lte = Line { delays, ..line(60.0, 12.5) };
    vec![both_ways(line(64.0, 6.5)), both_ways(lte)]
}

/// A flow of `mbps` Mbit/s, in IP packets of 1452 octets: 1500 octets on the wire.
fn offered(mbps: f64) -> Flow {
    Flow::new(1, mbps, 1452)
}

fn udp(config: &Config, links: Vec<[Line; 2]>, mbps: f64) -> (Bond, ConstantRate) {
    let mut bond = Bond::new(config, links, 1);
    let mut flow = offered(mbps);
    flow.stop = at(29.5);
    let mut app = ConstantRate::new(vec![flow]);
    bond.run(at(30.0), &mut app);
    (bond, app)
}

fn share_of_second(bond: &Bond) -> f64 {
    bond.data_bytes()[1] as f64 / (bond.data_bytes()[0] + bond.data_bytes()[1]) as f64
}

#[test]
fn cost_first_leaves_the_costly_line_alone_while_the_cheap_one_suffices() {
    for links in [dsl_and_lte(), swinging()] {
        let (bond, app) = udp(&cost_first(), links, 50.0);
        let (share, loss) = (share_of_second(&bond), app.tallies[0].loss_from(0));
        println!("50 Mbit/s: LTE share {share}, loss {loss}");
        assert!(share <= 0.01, "LTE share {share}");
        assert!(loss <= 0.001, "loss {loss}");
    }
}

#[test]
fn cost_first_sends_only_the_excess_over_the_costly_line() {
    for links in [dsl_and_lte(), swinging()] {
        let (bond, app) = udp(&cost_first(), links, 80.0);
        let first_second = app.tallies[0].sent as usize * 2 / 59;
        let loss = app.tallies[0].loss_from(first_second);
        let share = share_of_second(&bond);
        // 80 Mbit/s of 1452 octets are 1500 on the wire.
        let least = 1.0 - 64.0 / (80.0 * 1500.0 / 1452.0);
        println!(
            "80 Mbit/s: LTE share {share} of at least {least}, loss {loss}, median {} ms",
            app.tallies[0].median_ms()
        );
        assert!(share <= least + 0.03, "LTE share {share}, least {least}");
        assert!(loss <= 0.005, "loss {loss}");
    }
}

/// A packet takes 2.2 ms on the cheap line, and one comes each 1.6 ms.
#[test]
fn a_slow_cheap_line_is_filled_before_the_costly_one() {
    for (mbps, offered) in [(5.48, 6.97), (2.0, 3.0)] {
        let links = vec![both_ways(line(mbps, 10.8)), both_ways(line(mbps, 18.1))];
        let (bond, app) = udp(&cost_first(), links, offered);
        let (share, loss) = (share_of_second(&bond), app.tallies[0].loss_from(0));
        let least = 1.0 - mbps / (offered * 1500.0 / 1452.0);
        println!("{offered} Mbit/s: share of the costly line {share} of at least {least}, loss {loss}");
        assert!(share <= least + 0.03 && loss <= 0.005, "{share}, at least {least}, {loss} lost");
    }
}

/// The costly line is the shorter one. The receiver sends nothing by it itself, and its reports of both lines go by it for as long as
/// data come by it: they do not change their way when it has sent no data for a second.
#[test]
fn a_costly_line_that_data_come_by_carries_the_reports() {
    let links = vec![both_ways(line(22.4, 88.9)), both_ways(line(15.0, 44.8))];
    let mut bond = Bond::new(&cost_first(), links, 1);
    let mut app = ConstantRate::new(vec![Flow { stop: at(5.0), ..Flow::new(1, 24.0, 1400) }]);
    bond.run(at(1.0), &mut app);
    let before = bond.data_bytes()[0];
    bond.run(at(4.0), &mut app);
    let mbps = (bond.data_bytes()[0] - before) as f64 * 8.0 / 3e6;
    assert!(mbps >= 0.95 * 22.4, "{mbps} Mbit/s by the cheap line");
}

#[test]
fn nearly_full_both_lines_keep_order_and_delay() {
    for (links, slower) in [(dsl_and_lte(), 17.5), (swinging(), 17.5)] {
        for config in [rate_aware(), cost_first()] {
            let (_, app) = udp(&config, links.clone(), 110.0);
            let tally = &app.tallies[0];
            let share = tally.out_of_order as f64 / tally.delivered as f64;
            println!(
                "110: out {share} loss {} median {} p99 {}",
                tally.loss_from(0),
                tally.median_ms(),
                tally.percentile_ms(0.99)
            );
            assert!(share < 0.005, "{share} out of order");
            assert_eq!(tally.duplicates, 0);
            assert!((tally.median_ms() - slower).abs() <= 5.0, "median {} ms", tally.median_ms());
        }
    }
}
