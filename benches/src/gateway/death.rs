//! A line that dies, in three ways, while datagrams go through the tunnel.

use crate::{Bar, Value, alone};
use ropewalk_gateway::demo::{Plan, Scene, Udp, datagrams};
use std::io;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// A line that dies stays so for this.
const DEAD: Duration = Duration::from_secs(20);
/// It dies so long after the first datagram.
const BEFORE: Duration = Duration::from_secs(4);
/// A line that dies in the middle does so by the clock of the lines, which begins a few seconds before the datagrams do.
const DOWN: Duration = Duration::from_secs(16);
/// Datagrams go on so long after the line's return.
const AFTER: Duration = Duration::from_secs(6);
/// Datagrams in a second.
const RATE: u32 = 500;
const FLOW: Udp = Udp { per_second: RATE, len: 600, port: 7000 };

type Values = io::Result<Vec<Value>>;

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

/// Lines of which the first is a black hole for a while.
fn black_hole() -> Plan {
    let mut plan = Plan::new("rate-aware");
    if let Some(lines) = &mut plan.lines {
        let change =
            |at: Duration, state: &str| format!("{{ at = \"{} s\", state = \"{state}\" }}", at.as_secs());
        lines[0] += &format!("changes = [{}, {}]\n", change(DOWN, "down"), change(DOWN + DEAD, "up"));
    }
    plan
}

/// Lost datagrams, and how long after its return the line is used.
fn die(death: Death) -> Values {
    let plan = if death == Death::Middle { black_hole() } else { Plan::new("rate-aware") };
    let began = Instant::now();
    let scene = Scene::new(&plan)?;
    scene.settle()?;
    let early = if death == Death::Middle { DOWN.saturating_sub(began.elapsed()) } else { BEFORE };
    let (udp, again) = thread::scope(|scope| {
        let flow = scope.spawn(|| datagrams(&scene, FLOW, early + DEAD + AFTER));
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
    let mut values = die(Death::Middle)?;
    values.extend(alone::wireguard(&black_hole(), ["lost, wireguard-go over DSL"], |alone| {
        let early = DOWN.saturating_sub(alone.began_at().elapsed());
        Ok([datagrams(alone, FLOW, early + DEAD + AFTER)?.lost() as f64])
    })?);
    Ok(values)
}

pub(crate) fn dies_far(_: Duration) -> Values {
    die(Death::End("hub"))
}

pub(crate) fn dies_near(_: Duration) -> Values {
    die(Death::End("site"))
}
