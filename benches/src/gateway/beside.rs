//! One flow through the tunnel beside a flow on each line that is outside of it. All have CUBIC.

use crate::alone::Alone;
use crate::{Bar, Value, tunnel};
use ropewalk_gateway::demo::{Lines, Plan, Scene, Tcp, flow, mean};
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

/// Mbit/s of all, in the same seconds.
struct Carried {
    inside: f64,
    outside: Vec<f64>,
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

/// The flow inside, beside one on each of these lines. `meanwhile` is done beside, when the first second of the flow inside is over.
fn carried<R>(
    ends: &impl AsRef<Lines>,
    beside: &[&str],
    duration: Duration,
    meanwhile: impl FnOnce() -> R,
) -> io::Result<(Carried, R)> {
    let lines = ends.as_ref();
    let failed = |_| io::Error::other("a flow failed");
    thread::scope(|scope| {
        let others =
            beside.iter().map(|line| scope.spawn(|| outside(lines, line, duration))).collect::<Vec<_>>();
        thread::sleep(HEAD);
        let tcp = Tcp { control: Some("cubic"), ..Tcp::inside(7000) };
        let own = scope.spawn(move || flow(lines, tcp, duration));
        thread::sleep(FIRST);
        let result = meanwhile();
        let inside = mean(&own.join().map_err(failed)??);
        let outside = others.into_iter().map(|other| other.join().map_err(failed)?);
        Ok((Carried { inside, outside: outside.collect::<io::Result<_>>()? }, result))
    })
}

/// Mbit/s that the bond sends on each line in a while.
fn sent(scene: &Scene, duration: Duration) -> io::Result<[f64; 2]> {
    let before = scene.sent()?;
    thread::sleep(duration);
    let after = scene.sent()?;
    Ok([0, 1].map(|line| (after[line] - before[line]) as f64 * 8e-6 / duration.as_secs_f64()))
}

/// What a flow has through a tunnel over one line that bonds nothing, beside the flow on that line.
fn alone(line: &str, duration: Duration) -> io::Result<f64> {
    let alone = Alone::new(&Plan::new("rate-aware"), line, tunnel::copier)?;
    Ok(carried(&alone, &[line], duration, || ())?.0.inside)
}

/// The bars of the bonding gates for flows outside, with the usual queues.
pub(crate) fn cubic(duration: Duration) -> io::Result<Vec<Value>> {
    let scene = Scene::new(&Plan::new("rate-aware"))?;
    scene.settle()?;
    let (all, sent) = carried(&scene, &LINES, duration, || sent(&scene, duration))?;
    drop(scene);
    let best = alone(LINES[0], duration)?.max(alone(LINES[1], duration)?);
    let [dsl, lte] = [all.outside[0], all.outside[1]];
    let [own_dsl, own_lte] = sent?.map(|mbps| mbps * DATA);
    let shares = [own_dsl / dsl, own_lte / lte];
    Ok(vec![
        Value::new("Mbit/s inside", all.inside, Bar::None),
        Value::new("Mbit/s inside, the best line alone", best, Bar::None),
        Value::new("times the best line alone", all.inside / best, Bar::Least(0.85)),
        Value::new("Mbit/s outside, DSL", dsl, Bar::None),
        Value::new("Mbit/s outside, LTE", lte, Bar::None),
        Value::new("times the flow outside, least", shares[0].min(shares[1]), Bar::Least(0.5)),
        Value::new("times the flow outside, most", shares[0].max(shares[1]), Bar::Most(2.0)),
    ])
}
