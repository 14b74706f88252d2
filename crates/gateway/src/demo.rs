//! A hub and a site on this machine, with two shaped lines between them: what goes where.
//!
//! The lines are another program's, `ropewalk-links`, so that the daemon does not hold a simulator.

#![expect(clippy::disallowed_methods, reason = "it waits for other processes and measures in real time")]

mod scene;
mod traffic;

use scene::Scene;
use std::io;
use std::time::Duration;
use traffic::{Flow, Result as Measured, Udp};

/// Before a measurement, so that the paths are known.
const SETTLE: Duration = Duration::from_secs(3);

/// One row of what the demo shows.
struct Row {
    what: &'static str,
    scheduler: &'static str,
    flow: Flow,
}

const ROWS: [Row; 3] = [
    Row {
        what: "50 Mbit/s of UDP, the cheap line first",
        scheduler: "cost-first",
        flow: Flow::Udp(Udp { mbps: 50 }),
    },
    Row {
        what: "80 Mbit/s of UDP, the cheap line first",
        scheduler: "cost-first",
        flow: Flow::Udp(Udp { mbps: 80 }),
    },
    Row { what: "one TCP flow over both lines", scheduler: "rate-aware", flow: Flow::Tcp },
];

/// Shows all rows, each for so long.
///
/// # Errors
/// Namespaces, links or daemons cannot be had. What was made is gone then.
pub fn show(duration: Duration) -> io::Result<()> {
    println!(
        "dsl: 64 Mbit/s, 13 ms; lte: 60 Mbit/s, 35 ms. From the site to the hub, {} s each.",
        duration.as_secs()
    );
    for row in &ROWS {
        let scene = Scene::new(row.scheduler)?;
        scene.wait()?;
        std::thread::sleep(SETTLE);
        let before = scene.sent()?;
        let measured = traffic::run(&scene, row.flow, duration)?;
        let after = scene.sent()?;
        tell(row, &measured, [after[0] - before[0], after[1] - before[1]]);
    }
    Ok(())
}

fn tell(row: &Row, measured: &Measured, sent: [u64; 2]) {
    let all = (sent[0] + sent[1]).max(1) as f64;
    let share = |octets: u64| 100.0 * octets as f64 / all;
    println!("{}: {:.1} Mbit/s arrived", row.what, measured.mbps);
    if let Some(udp) = measured.udp {
        println!(
            "  lost {:.2} %, out of order {:.2} %, twice {}",
            udp.lost_percent, udp.late_percent, udp.twice
        );
    }
    println!("  dsl {:.1} % of the octets, lte {:.1} %", share(sent[0]), share(sent[1]));
}
