//! The daemon itself: a hub and a site in network namespaces of this machine, with two lines between them.
//!
//! Needs root, `ip` and `/dev/net/tun`; without them each test says that it was skipped.

#![expect(clippy::disallowed_methods, reason = "it waits for other processes in real time")]

use nix::sched::{CloneFlags, setns};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const GATEWAY: &str = env!("CARGO_BIN_EXE_ropewalk-gateway");
/// What has to happen has so long, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(40);

fn shell(command: &str) -> Output {
    Command::new("sh").arg("-c").arg(command).output().expect("a shell")
}

fn must(command: &str) -> String {
    let output = shell(command);
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Is it possible here? If not, says why; fails if it must be.
fn possible() -> bool {
    let missing = if !shell("unshare --net true").status.success() {
        "no network namespace can be made: it needs root"
    } else if !shell("test -e /dev/net/tun && ip -V").status.success() {
        "there is no /dev/net/tun, or no ip"
    } else {
        return true;
    };
    assert!(
        std::env::var("ROPEWALK_MUST_RUN").is_err(),
        "ROPEWALK_MUST_RUN is set, and this cannot run: {missing}"
    );
    println!("skipped: {missing}");
    false
}

/// Two namespaces, `hub` and `site`, with lines `dsl` and `lte` between them.
struct Net {
    name: String,
    folder: TempDir,
    daemons: Vec<(&'static str, Child)>,
}

impl Net {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("rwg{}-{number}", std::process::id());
        let net = Self { name, folder: tempfile::tempdir().expect("a folder"), daemons: Vec::new() };
        for end in ["hub", "site"] {
            must(&format!("ip netns add {} && ip -n {} link set lo up", net.ns(end), net.ns(end)));
        }
        for (line, subnet) in [("dsl", 1), ("lte", 2)] {
            let (hub, site) = (net.ns("hub"), net.ns("site"));
            must(&format!("ip -n {site} link add {line} type veth peer name {line} netns {hub}"));
            for (ns, host) in [(&hub, 1), (&site, 2)] {
                must(&format!(
                    "ip -n {ns} address add 192.0.{subnet}.{host}/24 dev {line} && ip -n {ns} link set {line} up"
                ));
            }
        }
        net.configure();
        net
    }

    fn ns(&self, end: &str) -> String {
        format!("{}-{end}", self.name)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn configure(&self) {
        let keygen =
            |file: &str| must(&format!("{GATEWAY} keygen {}", self.path(file).display())).trim().to_owned();
        let (hub, site, _) = (keygen("hub.key"), keygen("site.key"), keygen("psk"));
        let socket = |end: &str| self.path(&format!("{end}.sock")).display().to_string();
        let text = format!(
            "[gateway]\nrole = \"hub\"\nkey = \"hub.key\"\ntun = \"bond0\"\naddresses = [\"10.9.0.1/24\", \"fd09::1/64\"]\n\
             listen = [\"0.0.0.0:4500\"]\ncontrol = \"{}\"\n\
             [[sites]]\nname = \"branch\"\nkey = \"{site}\"\npsk = \"psk\"\nprefixes = [\"10.9.0.2/32\", \"fd09::2/128\"]\n",
            socket("hub")
        );
        fs::write(self.path("hub.toml"), text).expect("a new file");
        let path = |name: &str, subnet: u8, cost: u8| {
            format!(
                "[[paths]]\nname = \"{name}\"\ninterface = \"{name}\"\nremote = \"192.0.{subnet}.1:4500\"\ncost = {cost}\n"
            )
        };
        let text = format!(
            "[gateway]\nrole = \"site\"\nkey = \"site.key\"\ntun = \"bond0\"\naddresses = [\"10.9.0.2/24\", \"fd09::2/64\"]\n\
             routes = [\"0.0.0.0/0\"]\nhttp = \"127.0.0.1:9464\"\ncontrol = \"{}\"\n[hub]\nkey = \"{hub}\"\npsk = \"psk\"\n{}{}",
            socket("site"),
            path("dsl", 1, 1),
            path("lte", 2, 2),
        );
        fs::write(self.path("site.toml"), text).expect("a new file");
    }

    fn inside(&self, end: &str, command: &str) -> Output {
        shell(&format!("ip netns exec {} {command}", self.ns(end)))
    }

    fn start(&mut self, end: &'static str) {
        let log = File::create(self.path(&format!("{end}.log"))).expect("a new file");
        let config = self.path(&format!("{end}.toml"));
        let daemon = Command::new("ip")
            .args(["netns", "exec", &self.ns(end), GATEWAY, "run"])
            .arg(config)
            .stderr(log)
            .stdout(Stdio::null())
            .spawn()
            .expect("ip");
        self.daemons.push((end, daemon));
    }

    fn end(&mut self, end: &str, signal: &str) {
        let place = self.daemons.iter().position(|(name, _)| *name == end).expect("it runs");
        let (_, mut daemon) = self.daemons.remove(place);
        must(&format!("kill -{signal} {}", daemon.id()));
        daemon.wait().expect("it was started here");
    }

    fn log(&self, end: &str) -> String {
        fs::read_to_string(self.path(&format!("{end}.log"))).unwrap_or_default()
    }

    /// Waits until it is so.
    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            let logs = || format!("hub:\n{}\nsite:\n{}", self.log("hub"), self.log("site"));
            assert!(began.elapsed() < PATIENCE, "not so in time: {what}\n{}", logs());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Does a datagram that is sent to an address come there, and the answer back? From the one end's own address.
    fn pings(&self, from: &str, to: &str) -> bool {
        let other = if from == "hub" { "site" } else { "hub" };
        let to: IpAddr = to.parse().expect("an address");
        let bind = move |address: IpAddr, port| {
            // It is not, before the daemon has given the address to its interface.
            let socket = UdpSocket::bind((address, port)).ok()?;
            socket.set_read_timeout(Some(Duration::from_millis(500))).ok()?;
            Some(socket)
        };
        let answers = self.work(other, move || {
            let socket = bind(to, 0)?;
            Some((socket.local_addr().ok()?.port(), socket))
        });
        let Some((port, socket)) = answers.join().expect("it does not panic") else { return false };
        let answer = thread::spawn(move || {
            let mut octets = [0; 8];
            let heard = socket.recv_from(&mut octets);
            heard.is_ok_and(|(len, from)| socket.send_to(&octets[..len], from).is_ok())
        });
        let any: IpAddr =
            if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let ask = self.work(from, move || {
            let Some(socket) = bind(any, 0) else { return false };
            let sent = socket.send_to(b"ropewalk", (to, port));
            let mut octets = [0; 8];
            sent.is_ok() && socket.recv(&mut octets).is_ok_and(|len| octets[..len] == *b"ropewalk")
        });
        let is_back = ask.join().expect("it does not panic");
        answer.join().expect("it does not panic") && is_back
    }

    fn status(&self, end: &str) -> serde_json::Value {
        let socket = self.path(&format!("{end}.sock"));
        let text = must(&format!("{GATEWAY} status --control {}", socket.display()));
        serde_json::from_str(&text).expect("the status is JSON")
    }

    /// Works in a namespace, on a thread of its own.
    fn work<R: Send + 'static>(
        &self,
        end: &str,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> thread::JoinHandle<R> {
        let namespace = File::open(format!("/run/netns/{}", self.ns(end))).expect("it was made here");
        thread::spawn(move || {
            setns(namespace, CloneFlags::CLONE_NEWNET).expect("root may");
            work()
        })
    }

    /// Sends octets by TCP from the site to the hub; gives whether they came as they were.
    fn transfer(&self, octets: usize) -> bool {
        let address = SocketAddr::from(([10, 9, 0, 1], 7000));
        let pattern = |place: usize| (place % 251) as u8;
        let listener = self.work("hub", move || TcpListener::bind(address).expect("it is free")).join();
        let listener = listener.expect("it does not panic");
        let receive = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            stream.set_read_timeout(Some(PATIENCE)).expect("a time");
            let mut all = Vec::new();
            stream.read_to_end(&mut all).expect("it ends");
            all
        });
        let send = self.work("site", move || {
            let mut stream = TcpStream::connect_timeout(&address, PATIENCE).expect("a connection");
            let all = (0..octets).map(pattern).collect::<Vec<_>>();
            stream.write_all(&all).expect("it is taken");
        });
        send.join().expect("it does not panic");
        let got = receive.join().expect("it does not panic");
        got.len() == octets && got.iter().enumerate().all(|(place, octet)| *octet == pattern(place))
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for (_, daemon) in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        for end in ["hub", "site"] {
            shell(&format!("ip netns del {}", self.ns(end)));
        }
    }
}

fn rules(net: &Net) -> String {
    must(&format!("ip -n {} rule show", net.ns("site")))
}

#[test]
fn two_lines_carry_ping_and_tcp_and_the_end_leaves_nothing() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let before = rules(&net);
    net.start("hub");
    net.start("site");
    net.until("the hub answers through the tunnel", || net.pings("site", "10.9.0.1"));
    assert!(net.pings("hub", "10.9.0.2") && net.pings("site", "fd09::1"), "both ways, and IPv6");
    assert!(net.transfer(8_000_000), "every octet as it was");
    let status = net.status("site");
    let paths = status["peers"][0]["bond"]["paths"].as_array().expect("a bond").clone();
    assert_eq!(paths.len(), 2, "{status}");
    assert!(paths.iter().all(|path| path["state"] == "up"), "{status}");
    let fetch = |what: &str| {
        let output = net.inside("site", &format!("curl -s http://127.0.0.1:9464/{what}"));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    if shell("curl --version").status.success() {
        assert!(
            fetch("metrics").contains("ropewalk_path_up{peer=\"hub\",path=\"dsl\"} 1"),
            "{}",
            fetch("metrics")
        );
        assert_eq!(fetch("healthz"), "ok\n");
        assert!(fetch("").contains("<title>Ropewalk gateway</title>"));
    }
    net.end("site", "TERM");
    assert_eq!(rules(&net), before);
    assert!(!must(&format!("ip -n {} link show", net.ns("site"))).contains("bond0"));
    net.until("the hub was told", || net.log("hub").contains("has ended the session"));
}

#[test]
fn a_line_that_dies_and_a_daemon_that_is_killed_are_borne() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    let before = rules(&net);
    net.start("hub");
    net.start("site");
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    must(&format!("ip -n {} link set dsl down", net.ns("hub")));
    net.until("the first line is given up", || net.log("site").contains("path dsl is down"));
    assert!(net.transfer(1_000_000), "the other line carries all");
    must(&format!("ip -n {} link set dsl up", net.ns("hub")));
    net.until("it is used again", || net.log("site").contains("path dsl is used again"));
    // A killed site leaves its rules; the next one removes them and makes its own, and its end leaves nothing.
    net.end("site", "KILL");
    assert_ne!(rules(&net), before);
    net.start("site");
    net.until("a new site has a session", || net.pings("site", "10.9.0.1"));
    net.end("site", "INT");
    assert_eq!(rules(&net), before);
    // A killed hub knows no session; the site asks for one by itself.
    net.start("site");
    net.until("the site is back", || net.pings("site", "10.9.0.1"));
    net.end("hub", "KILL");
    net.start("hub");
    net.until("the site found the new hub", || net.pings("site", "10.9.0.1"));
}

#[test]
fn paths_change_while_it_runs() {
    if !possible() {
        return;
    }
    let mut net = Net::new();
    net.start("hub");
    net.start("site");
    net.until("the tunnel works", || net.pings("site", "10.9.0.1"));
    let control = format!("--control {}", net.path("site.sock").display());
    let path = |change: &str| shell(&format!("{GATEWAY} path {control} {change}"));
    assert!(path("remove lte").status.success());
    let count = || {
        let status = net.status("site");
        status["peers"][0]["bond"]["paths"].as_array().map_or(0, Vec::len)
    };
    net.until("one path is left", || count() == 1);
    assert!(net.pings("site", "10.9.0.1"));
    let again = path("remove none");
    assert!(
        !again.status.success() && String::from_utf8_lossy(&again.stderr).contains("there is no path none")
    );
    assert!(path("add lte --interface lte --remote 192.0.2.1:4500 --cost 5").status.success());
    net.until("two paths again", || count() == 2);
    net.until("and the tunnel works", || net.pings("site", "10.9.0.1"));
}
