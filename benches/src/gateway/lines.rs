//! What goes over shaped lines: 64 Mbit/s and 13 ms, 60 Mbit/s and 35 ms.

use crate::{Bar, Value, alone};
use ropewalk_gateway::demo::{Plan, Scene, Tcp, Udp, UdpResult, datagrams, flow, mean, stream};
use std::io;
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

/// Mbit/s of the cheap line.
const LINE: f64 = 64.0;
/// The first packet is waited for so long.
const PATIENCE: Duration = Duration::from_secs(20);
/// Seconds.
const MINUTE: usize = 60;

type Values = io::Result<Vec<Value>>;

fn scene(scheduler: &str) -> io::Result<Scene> {
    let scene = Scene::new(&Plan::new(scheduler))?;
    scene.settle()?;
    Ok(scene)
}

/// The share of the second line in what the site sends meanwhile, in per cent.
fn share<R>(scene: &Scene, work: impl FnOnce() -> io::Result<R>) -> io::Result<(f64, R)> {
    let before = scene.sent()?;
    let result = work()?;
    let after = scene.sent()?;
    let [dsl, lte] = [after[0] - before[0], after[1] - before[1]];
    Ok((100.0 * lte as f64 / (dsl + lte).max(1) as f64, result))
}

/// From the start of both daemons until a datagram of the site's has come out at the hub. One is sent each 5 ms.
pub(crate) fn first_packet(_: Duration) -> Values {
    let scene = Scene::new(&Plan::new("rate-aware"))?;
    let bind = |host: &str, port: u16| scene.at(host, || UdpSocket::bind(("0.0.0.0", port)));
    let (receiver, sender) = (bind("hub", 7002)?, bind("site", 0)?);
    receiver.set_read_timeout(Some(Duration::from_millis(5)))?;
    let mut octets = [0; 8];
    while receiver.recv(&mut octets).is_err() {
        if scene.began_at().elapsed() > PATIENCE {
            return Err(io::Error::other("nothing came"));
        }
        // Before there is a route it cannot be sent.
        let _ = sender.send_to(b"ropewalk", ("10.9.0.1", 7002));
    }
    Ok(vec![Value::new("s", scene.began_at().elapsed().as_secs_f64(), Bar::Most(1.0))])
}

/// Lost of what wireguard-go has for the first line.
fn lost_alone(udp: Udp, duration: Duration) -> Values {
    alone::wireguard(&Plan::new("cost-first"), ["% lost, wireguard-go over DSL"], |alone| {
        Ok([datagrams(alone, udp, duration)?.lost_percent()])
    })
}

pub(crate) fn cost_first_50(duration: Duration) -> Values {
    cost_first(Udp::mbps(50), [1.0, 0.1], duration)
}

pub(crate) fn cost_first_80(duration: Duration) -> Values {
    // In the bond a packet of 1400 octets is 65 longer.
    let least = 100.0 * (1.0 - LINE / (80.0 * 1465.0 / 1400.0));
    cost_first(Udp::mbps(80), [(least + 3.0).round(), 0.5], duration)
}

/// At most so much by the second line, and lost.
fn cost_first(udp: Udp, [most, lost]: [f64; 2], duration: Duration) -> Values {
    let scene = scene("cost-first")?;
    let (lte, came) = share(&scene, || datagrams(&scene, udp, duration))?;
    drop(scene);
    let mut values = vec![
        Value::new("% of octets on LTE", lte, Bar::Most(most)),
        Value::new("% lost", came.lost_percent(), Bar::Most(lost)),
    ];
    values.extend(lost_alone(udp, duration)?);
    Ok(values)
}

pub(crate) fn one_flow(duration: Duration) -> Values {
    bulk(&Plan::new("rate-aware"), 113.0, duration)
}

/// The second line is a bad one.
pub(crate) fn bad() -> Plan {
    let mut plan = Plan::new("rate-aware");
    if let Some(lines) = &mut plan.lines {
        lines[1] = "rate = \"2 Mbit/s\"\ndelay = \"80 ms\"\nloss = \"1 %\"\n".into();
    }
    plan
}

pub(crate) fn one_bad(duration: Duration) -> Values {
    bulk(&bad(), 58.0, duration)
}

/// One TCP flow with CUBIC, Linux's own default, which has to have so many Mbit/s.
fn bulk(plan: &Plan, least: f64, duration: Duration) -> Values {
    let seconds = through(plan, Tcp { control: Some("cubic"), ..Tcp::inside(7000) }, duration)?;
    let mut values = vec![Value::new("Mbit/s with CUBIC", mean(&seconds), Bar::Least(least))];
    values.extend(as_at_first(&seconds));
    values.extend(alone::wireguard(plan, ["Mbit/s, wireguard-go over DSL"], |alone| {
        Ok([mean(&stream(alone, 7000, duration)?)])
    })?);
    Ok(values)
}

/// Lines of 30 Mbit/s whose other direction carries a hundredth of that. An acknowledgement for each pair of packets would need three times as much.
fn few_back() -> Plan {
    let line = |delay: u32| {
        format!("rate = \"30 Mbit/s\"\nbackward = {{ rate = \"0.3 Mbit/s\" }}\ndelay = \"{delay} ms\"\n")
    };
    Plan { lines: Some([line(13), line(35)]), ..Plan::new("rate-aware") }
}

/// One TCP flow whose acknowledgements come by slow lines.
pub(crate) fn slow_back(duration: Duration) -> Values {
    let scene = Scene::new(&few_back())?;
    scene.settle()?;
    let mbps = mean(&flow(&scene, Tcp { control: Some("cubic"), ..Tcp::inside(7000) }, duration)?);
    let status = scene.status("hub")?;
    drop(scene);
    let bond = &status["peers"][0]["bond"];
    let part = |what: &str| {
        100.0 * bond[what].as_f64().unwrap_or(f64::NAN) / bond["offered"].as_f64().unwrap_or(f64::NAN)
    };
    let mut values = vec![
        Value::new("Mbit/s with CUBIC", mbps, Bar::Least(45.0)),
        Value::new("% of acknowledgements superseded", part("superseded"), Bar::Least(1.0)),
        Value::new("% of acknowledgements dropped", part("dropped_waiting"), Bar::Most(1.0)),
    ];
    values.extend(alone::wireguard(&few_back(), ["Mbit/s, wireguard-go over DSL"], |alone| {
        Ok([mean(&stream(alone, 7000, duration)?)])
    })?);
    Ok(values)
}

pub(crate) fn one_flow_usual(duration: Duration) -> Values {
    usual(&Plan::new("rate-aware"), duration)
}

pub(crate) fn one_bad_usual(duration: Duration) -> Values {
    usual(&bad(), duration)
}

/// What a flow has with the control that this machine has set. It is told and not judged.
fn usual(plan: &Plan, duration: Duration) -> Values {
    let seconds = through(plan, Tcp::inside(7000), duration)?;
    Ok(vec![Value::new("Mbit/s", mean(&seconds), Bar::None)])
}

/// What a flow through a bond carries.
fn through(plan: &Plan, tcp: Tcp, duration: Duration) -> io::Result<Vec<f64>> {
    let scene = Scene::new(plan)?;
    scene.settle()?;
    flow(&scene, tcp, duration)
}

/// Of a run of several minutes: does it go on as it begins?
fn as_at_first(seconds: &[f64]) -> Option<Value> {
    if seconds.len() < 2 * MINUTE {
        return None;
    }
    let (first, last) = (&seconds[..MINUTE], &seconds[seconds.len() - MINUTE..]);
    Some(Value::new("last minute over the first", mean(last) / mean(first), Bar::Least(0.98)))
}

pub(crate) fn udp_110(duration: Duration) -> Values {
    let scene = scene("rate-aware")?;
    let udp = datagrams(&scene, Udp::mbps(110), duration)?;
    drop(scene);
    let median = |udp: &UdpResult| udp.delay(0.5).as_secs_f64() * 1e3;
    let mut values = vec![
        Value::new("% out of order", udp.late_percent(), Bar::Most(0.5)),
        Value::new("came twice", udp.twice() as f64, Bar::Most(0.0)),
        Value::new("median one-way, ms", median(&udp), Bar::Most(40.0)),
        Value::new("% lost", udp.lost_percent(), Bar::None),
    ];
    let whats = ["% lost, wireguard-go over DSL", "% out of order, the same", "median one-way, ms, the same"];
    values.extend(alone::wireguard(&Plan::new("rate-aware"), whats, |alone| {
        let udp = datagrams(alone, Udp::mbps(110), duration)?;
        Ok([udp.lost_percent(), udp.late_percent(), median(&udp)])
    })?);
    Ok(values)
}

pub(crate) fn voice(duration: Duration) -> Values {
    let scene = scene("rate-aware")?;
    let calls = Udp { per_second: 50, len: 200, port: 7001 };
    let (bulk, voice) = thread::scope(|scope| {
        let bulk = scope.spawn(|| stream(&scene, 7000, duration + Duration::from_secs(2)));
        thread::sleep(Duration::from_secs(1));
        let voice = datagrams(&scene, calls, duration);
        (bulk.join(), voice)
    });
    let bulk = bulk.map_err(|_| io::Error::other("the bulk flow failed"))??;
    let voice = voice?;
    Ok(vec![
        Value::new("99th percentile of voice, ms", voice.delay(0.99).as_secs_f64() * 1e3, Bar::Most(33.0)),
        Value::new("% of voice lost", voice.lost_percent(), Bar::None),
        Value::new("Mbit/s of bulk", mean(&bulk), Bar::None),
    ])
}

#[cfg(test)]
mod tests {
    use super::{MINUTE, as_at_first};

    #[test]
    fn the_last_minute_is_compared_with_the_first() {
        let seconds = [vec![100.0; MINUTE], vec![7.0; 30], vec![50.0; MINUTE]].concat();
        let value = as_at_first(&seconds).expect("it is long enough");
        assert_eq!(value.got, Some(0.5));
        assert!(as_at_first(&seconds[..2 * MINUTE - 1]).is_none());
    }
}
