//! What goes over shaped lines: 64 Mbit/s and 13 ms, 60 Mbit/s and 35 ms.

use crate::{Bar, Value};
use ropewalk_gateway::demo::{Plan, Scene, Udp, datagrams, mean, stream};
use std::io;
use std::net::UdpSocket;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Mbit/s of the cheap line.
const LINE: f64 = 64.0;
/// A line that dies stays so for this.
const DEAD: Duration = Duration::from_secs(20);
/// It dies so long after the first datagram.
const BEFORE: Duration = Duration::from_secs(4);
/// Datagrams in a second.
const RATE: u32 = 500;

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
        if scene.began_at().elapsed() > DEAD {
            return Err(io::Error::other("nothing came"));
        }
        // Before there is a route it cannot be sent.
        let _ = sender.send_to(b"ropewalk", ("10.9.0.1", 7002));
    }
    Ok(vec![Value::new("s", scene.began_at().elapsed().as_secs_f64(), Bar::Most(1.0))])
}

pub(crate) fn cost_first_50(duration: Duration) -> Values {
    let scene = scene("cost-first")?;
    let (lte, udp) = share(&scene, || datagrams(&scene, Udp::mbps(50), duration))?;
    Ok(vec![
        Value::new("% of octets on LTE", lte, Bar::Most(1.0)),
        Value::new("% lost", udp.lost_percent(), Bar::Most(0.1)),
    ])
}

pub(crate) fn cost_first_80(duration: Duration) -> Values {
    let scene = scene("cost-first")?;
    let (lte, udp) = share(&scene, || datagrams(&scene, Udp::mbps(80), duration))?;
    // In the bond a packet of 1400 octets is 80 longer.
    let least = 100.0 * (1.0 - LINE / (80.0 * 1480.0 / 1400.0));
    Ok(vec![
        Value::new("% of octets on LTE", lte, Bar::Most((least + 3.0).round())),
        Value::new("% lost", udp.lost_percent(), Bar::Most(0.5)),
    ])
}

pub(crate) fn one_flow(duration: Duration) -> Values {
    let scene = scene("rate-aware")?;
    Ok(vec![Value::new("Mbit/s", mean(&stream(&scene, 7000, duration)?), Bar::Least(113.0))])
}

pub(crate) fn one_bad(duration: Duration) -> Values {
    let mut plan = Plan::new("rate-aware");
    if let Some(lines) = &mut plan.lines {
        lines[1] = "rate = \"2 Mbit/s\"\ndelay = \"80 ms\"\nloss = \"1 %\"\n".into();
    }
    let scene = Scene::new(&plan)?;
    scene.settle()?;
    Ok(vec![Value::new("Mbit/s", mean(&stream(&scene, 7000, duration)?), Bar::Least(58.0))])
}

pub(crate) fn udp_110(duration: Duration) -> Values {
    let scene = scene("rate-aware")?;
    let udp = datagrams(&scene, Udp::mbps(110), duration)?;
    Ok(vec![
        Value::new("% out of order", udp.late_percent(), Bar::Most(0.5)),
        Value::new("came twice", udp.twice() as f64, Bar::Most(0.0)),
        Value::new("median one-way, ms", udp.delay(0.5).as_secs_f64() * 1e3, Bar::Most(40.0)),
        Value::new("% lost", udp.lost_percent(), Bar::None),
    ])
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

/// How a line dies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Death {
    /// Nothing comes through.
    Middle,
    /// Its end at the hub, or at the site, is down.
    End(&'static str),
}

/// How the site sees a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Up,
    /// Suspected, down, or there is no answer.
    Lost,
}

fn line(scene: &Scene) -> Line {
    let status = scene.status("site").unwrap_or_default();
    let is_up = status["peers"][0]["bond"]["paths"][0]["state"] == "up";
    if is_up { Line::Up } else { Line::Lost }
}

fn set_line(scene: &Scene, host: &str, state: &str) -> io::Result<()> {
    let ip = || Command::new("ip").args(["link", "set", "dsl", state]).status();
    let status = scene.at(host, ip)?;
    if status.success() { Ok(()) } else { Err(io::Error::other("ip link set")) }
}

/// The routes of a host by its first line, without those that the kernel makes itself. They go when the interface is down.
fn routes(scene: &Scene, host: &str) -> io::Result<Vec<String>> {
    let shown =
        scene.at(host, || Command::new("ip").args("-4 route show table all dev dsl".split(' ')).output())?;
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let own = |line: &&str| !line.starts_with("local") && !line.starts_with("broadcast");
    Ok(text.lines().filter(own).map(str::to_owned).collect())
}

/// As a host with a line's address keeps its routes: they are back with the interface.
fn restore(scene: &Scene, host: &str, routes: &[String]) -> io::Result<()> {
    for route in routes {
        let command = format!("-4 route replace {} dev dsl", route.trim());
        scene.at(host, || Command::new("ip").args(command.split_whitespace()).status())?;
    }
    Ok(())
}

/// Lost datagrams, and how long after its return the line is used.
fn die(death: Death) -> Values {
    let mut plan = Plan::new("rate-aware");
    // By the clock of the lines, which begins a few seconds before the datagrams do.
    let (down, up) = (Duration::from_secs(16), Duration::from_secs(16) + DEAD);
    if let (Death::Middle, Some(lines)) = (death, &mut plan.lines) {
        let change =
            |at: Duration, state: &str| format!("{{ at = \"{} s\", state = \"{state}\" }}", at.as_secs());
        lines[0] += &format!("changes = [{}, {}]\n", change(down, "down"), change(up, "up"));
    }
    let began = Instant::now();
    let scene = Scene::new(&plan)?;
    scene.settle()?;
    let flow = Udp { per_second: RATE, len: 600, port: 7000 };
    let early = if death == Death::Middle { down.saturating_sub(began.elapsed()) } else { BEFORE };
    let duration = early + DEAD + Duration::from_secs(6);
    let (udp, again) = thread::scope(|scope| {
        let flow = scope.spawn(|| datagrams(&scene, flow, duration));
        let again = watch(&scene, death, early);
        (flow.join(), again)
    });
    let udp = udp.map_err(|_| io::Error::other("the flow failed"))??;
    Ok(vec![
        Value::new("lost of 500 each second", udp.lost() as f64, Bar::Most(0.3 * f64::from(RATE))),
        Value::new("used again after s", again?.as_secs_f64(), Bar::Most(1.0)),
        Value::new("came twice", udp.twice() as f64, Bar::Most(0.0)),
    ])
}

/// Waits until the line is down and up again; how long that took after its return. With a black hole the return is seen by the first answer
/// to a keepalive only: then it counts from when the line was down for its time.
fn watch(scene: &Scene, death: Death, early: Duration) -> io::Result<Duration> {
    let until = |state: Line| {
        let began = Instant::now();
        while line(scene) != state {
            if began.elapsed() > DEAD + Duration::from_secs(20) {
                return Err(io::Error::other("the line's state did not change"));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    };
    if let Death::End(host) = death {
        thread::sleep(early);
        let routes = routes(scene, host)?;
        set_line(scene, host, "down")?;
        let down = Instant::now();
        until(Line::Lost)?;
        thread::sleep(DEAD.saturating_sub(down.elapsed()));
        set_line(scene, host, "up")?;
        restore(scene, host, &routes)?;
        let up = Instant::now();
        until(Line::Up)?;
        return Ok(up.elapsed());
    }
    until(Line::Lost)?;
    let down = Instant::now();
    until(Line::Up)?;
    Ok(down.elapsed().saturating_sub(DEAD))
}

pub(crate) fn dies_in_the_middle(_: Duration) -> Values {
    die(Death::Middle)
}

pub(crate) fn dies_far(_: Duration) -> Values {
    die(Death::End("hub"))
}

pub(crate) fn dies_near(_: Duration) -> Values {
    die(Death::End("site"))
}
