//! The demo: a hub and a site on this machine, with two lines between them.
//!
//! Another program, `ropewalk-links`, makes the shaped lines, so that the daemon needs no
//! simulator.

#![expect(clippy::disallowed_methods, reason = "it waits for other processes and measures in real time")]

mod bare;
mod leave;
mod lines;
mod page;
mod process;
mod scene;
mod traffic;

pub use bare::Bare;
pub use lines::{Lines, Plan};
pub use page::Page;
pub use process::{Process, inside, program};
pub use scene::Scene;
pub use traffic::{Came, HUB, SITE, Tcp, Udp, UdpResult, datagrams, flow, mean, stream};

use std::io;
use std::time::Duration;

/// Time before a measurement, in which the paths' rates are found.
pub const SETTLE: Duration = Duration::from_secs(3);

enum Flow {
    Udp(Udp),
    Tcp,
}

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
        flow: Flow::Udp(Udp::mbps(50)),
    },
    Row {
        what: "80 Mbit/s of UDP, the cheap line first",
        scheduler: "cost-first",
        flow: Flow::Udp(Udp::mbps(80)),
    },
    Row { what: "one TCP flow over both lines", scheduler: "rate-aware", flow: Flow::Tcp },
];

/// Shows all rows. Each is measured for `duration`.
///
/// # Errors
/// Namespaces, links or daemons cannot be made. What was made before is removed then.
pub fn show(duration: Duration) -> io::Result<()> {
    println!(
        "dsl: 64 Mbit/s, 13 ms; lte: 60 Mbit/s, 35 ms. From the site to the hub, {} s each.",
        duration.as_secs()
    );
    leave::clear_up_on_signals()?;
    let page = Page::open()?;
    println!("The site shows itself at http://{}/", page.address());
    for row in &ROWS {
        let scene = Scene::new(&Plan::new(row.scheduler))?;
        page.show(scene.namespace("site"));
        scene.settle()?;
        let before = scene.sent()?;
        println!("{}:", row.what);
        match row.flow {
            Flow::Udp(udp) => tell(&datagrams(&scene, udp, duration)?),
            Flow::Tcp => println!("  {:.1} Mbit/s arrived", mean(&stream(&scene, 7000, duration)?)),
        }
        let sent = scene.sent()?;
        let sent = [sent[0] - before[0], sent[1] - before[1]];
        let share = |octets: u64| 100.0 * octets as f64 / (sent[0] + sent[1]).max(1) as f64;
        println!("  dsl {:.1} % of the octets, lte {:.1} %", share(sent[0]), share(sent[1]));
    }
    Ok(())
}

fn tell(udp: &UdpResult) {
    println!(
        "  {:.1} Mbit/s arrived, lost {:.2} %, out of order {:.2} %, twice {}",
        udp.mbps(),
        udp.lost_percent(),
        udp.late_percent(),
        udp.twice()
    );
}
