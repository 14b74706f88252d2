//! What goes through the tunnel beside a flow with CUBIC on each line that is outside of it.

use crate::alone::Alone;
use crate::lines::bad;
use crate::{Bar, Value, tunnel};
use ropewalk_gateway::demo::{Lines, Plan, Scene, Tcp, Udp, datagrams, flow, mean};
use std::io;
use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;

const LINES: [&str; 2] = ["dsl", "lte"];
/// Those outside are there so long before the one inside.
const HEAD: Duration = Duration::from_secs(5);
/// Of what a flow carries the first second is not counted.
const FIRST: Duration = Duration::from_secs(1);
/// Of a packet of 1500 octets so much is TCP's data.
const DATA: f64 = 1448.0 / 1500.0;

/// What is sent through the tunnel.
#[derive(Clone, Copy)]
enum Load {
    /// One flow with CUBIC.
    Flow,
    /// So many Mbit/s of packets with 1400 octets.
    Datagrams(u32),
}

/// What came of it.
struct Inside {
    mbps: f64,
    lost_percent: Option<f64>,
}

impl Load {
    fn carried(self, lines: &Lines, duration: Duration) -> io::Result<Inside> {
        match self {
            Self::Flow => {
                let tcp = Tcp { control: Some("cubic"), ..Tcp::inside(7000) };
                Ok(Inside { mbps: mean(&flow(lines, tcp, duration)?), lost_percent: None })
            }
            Self::Datagrams(mbps) => {
                let udp = datagrams(lines, Udp::mbps(mbps), duration)?;
                Ok(Inside { mbps: udp.mbps(), lost_percent: Some(udp.lost_percent()) })
            }
        }
    }
}

/// What was carried in the same seconds.
struct Carried {
    inside: Inside,
    /// Mbit/s. Datagrams that nothing slows down may leave a flow too little to go on.
    outside: Vec<io::Result<f64>>,
}

fn parsed(address: &str) -> io::Result<Ipv4Addr> {
    address.parse().map_err(io::Error::other)
}

/// A flow on a line, outside of the tunnel.
fn outside(lines: &Lines, line: &str, duration: Duration) -> io::Result<f64> {
    let from = parsed(&lines.address("site", line)?)?;
    let to = (parsed(&lines.address("hub", line)?)?, 7100);
    let seconds = flow(lines, Tcp { from, to, control: Some("cubic") }, HEAD + duration)?;
    Ok(mean(&seconds[HEAD.as_secs() as usize..]))
}

/// The load inside, beside a flow on each of these lines. `meanwhile` is done beside, when the first second of the load is over.
fn carried<R>(
    ends: &impl AsRef<Lines>,
    beside: &[&str],
    load: Load,
    duration: Duration,
    meanwhile: impl FnOnce() -> R,
) -> io::Result<(Carried, R)> {
    let lines = ends.as_ref();
    let failed = |_| io::Error::other("a flow failed");
    thread::scope(|scope| {
        let others =
            beside.iter().map(|line| scope.spawn(|| outside(lines, line, duration))).collect::<Vec<_>>();
        thread::sleep(HEAD);
        let own = scope.spawn(move || load.carried(lines, duration));
        thread::sleep(FIRST);
        let result = meanwhile();
        let inside = own.join().map_err(failed)??;
        let outside = others.into_iter().map(|other| other.join().map_err(failed).flatten());
        Ok((Carried { inside, outside: outside.collect() }, result))
    })
}

/// Mbit/s that the bond sends on each line in a while.
fn sent(scene: &Scene, duration: Duration) -> io::Result<[f64; 2]> {
    let before = scene.sent()?;
    thread::sleep(duration);
    let after = scene.sent()?;
    Ok([0, 1].map(|line| (after[line] - before[line]) as f64 * 8e-6 / duration.as_secs_f64()))
}

/// What the load has through a tunnel over one line that bonds nothing, beside the flow on that line.
fn alone(plan: &Plan, line: &str, load: Load, duration: Duration) -> io::Result<f64> {
    let alone = Alone::new(plan, line, tunnel::copier)?;
    Ok(carried(&alone, &[line], load, duration, || ())?.0.inside.mbps)
}

/// Measures a load through the bond and through the best line alone, with the usual queues. The bars are those of the bonding gates. The
/// shares of those lines are judged that the bond wants more of than it gets.
fn beside(plan: &Plan, load: Load, judged: &[usize], duration: Duration) -> io::Result<Vec<Value>> {
    let scene = Scene::new(plan)?;
    scene.settle()?;
    let (all, sent) = carried(&scene, &LINES, load, duration, || sent(&scene, duration))?;
    let outside = all.outside.into_iter().collect::<io::Result<Vec<_>>>()?;
    drop(scene);
    let best = alone(plan, LINES[0], load, duration)?.max(alone(plan, LINES[1], load, duration)?);
    let sent = sent?;
    let shares = [0, 1].map(|line| sent[line] * DATA / outside[line]);
    let share = |line: usize| if judged.contains(&line) { Bar::Within(0.5, 2.0) } else { Bar::None };
    let mut values = vec![
        Value::new("Mbit/s inside", all.inside.mbps, Bar::None),
        Value::new("Mbit/s inside, the best line alone", best, Bar::None),
        Value::new("times the best line alone", all.inside.mbps / best, Bar::Least(0.85)),
        Value::new("Mbit/s outside, DSL", outside[0], Bar::None),
        Value::new("Mbit/s outside, LTE", outside[1], Bar::None),
        Value::new("times the flow outside, DSL", shares[0], share(0)),
        Value::new("times the flow outside, LTE", shares[1], share(1)),
        Value::new("% of octets on LTE", 100.0 * sent[1] / (sent[0] + sent[1]), Bar::None),
    ];
    values.extend(all.inside.lost_percent.map(|lost| Value::new("% lost", lost, Bar::None)));
    Ok(values)
}

pub(crate) fn one_flow(duration: Duration) -> io::Result<Vec<Value>> {
    beside(&Plan::new("rate-aware"), Load::Flow, &[0, 1], duration)
}

pub(crate) fn one_bad(duration: Duration) -> io::Result<Vec<Value>> {
    beside(&bad(), Load::Flow, &[0], duration)
}

/// The second line has what the first does not take, which need not be as much as it would give.
pub(crate) fn cost_first_50(duration: Duration) -> io::Result<Vec<Value>> {
    beside(&Plan::new("cost-first"), Load::Datagrams(50), &[0], duration)
}

pub(crate) fn cost_first_80(duration: Duration) -> io::Result<Vec<Value>> {
    beside(&Plan::new("cost-first"), Load::Datagrams(80), &[0, 1], duration)
}
