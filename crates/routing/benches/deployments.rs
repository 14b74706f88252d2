//! The cost of random deployments: user CPU time of the three searches that the papers need, on one core.
//!
//! `cargo bench -p ropewalk-routing --bench deployments` prints, for each, how many deployments were drawn and found,
//! and the best of five runs with the routes of all three greedy algorithms. On a shared machine the least disturbed
//! run is the one that measures the program.

use ropewalk_routing::{Condition, Effort, Record, Search, Sets, TieRule};
use std::hint::black_box;

/// User CPU time of this process so far, in seconds.
fn user_seconds() -> f64 {
    // Field 14 of /proc/self/stat, in ticks of 10 ms; the name in field 2 may hold blanks but ends with ')'.
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux has /proc");
    let after_name = stat.rsplit(')').next().expect("the name ends with a parenthesis");
    let ticks: u64 = after_name.split_whitespace().nth(11).and_then(|t| t.parse().ok()).expect("utime");
    ticks as f64 / 100.0
}

/// Searches for 1 000 deployments and prints the line of it.
fn measure(name: &str, nodes: usize, condition: Condition) {
    let search = Search { condition, ..Search::papers(nodes, 1) };
    let mut best = f64::INFINITY;
    let mut line = String::new();
    for _ in 0..5 {
        let before = user_seconds();
        let make = |deployment| Record::new(&deployment, TieRule::LowestNode, 1, Sets::Greedy);
        let found = search.run(1_000, Effort::default(), make).expect("they are rare, but not that rare");
        best = best.min(user_seconds() - before);
        line = format!("{:>8} drawn {:>6} connected", found.drawn, found.connected);
        black_box(found.items);
    }
    println!("{name:<28} {line} {best:>6.2} s user");
}

fn main() {
    measure("32 nodes, connected", 32, Condition::Connected);
    measure("32 nodes, all multipath", 32, Condition::AllMultipath);
    measure("20 nodes, connected", 20, Condition::Connected);
}
