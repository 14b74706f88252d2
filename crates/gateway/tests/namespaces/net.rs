//! A hub and a site in network namespaces.

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

pub(crate) const GATEWAY: &str = env!("CARGO_BIN_EXE_ropewalk-gateway");
/// How long to wait for what has to happen, also on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

pub(crate) fn shell(command: &str) -> Output {
    Command::new("sh").arg("-c").arg(command).output().expect("a shell")
}

pub(crate) fn must(command: &str) -> String {
    let output = shell(command);
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Can these tests run here? If not, prints why, or fails if `ROPEWALK_MUST_RUN` is set.
pub(crate) fn possible() -> bool {
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
pub(crate) struct Net {
    name: String,
    folder: TempDir,
    daemons: Vec<(&'static str, Child)>,
}

impl Net {
    /// Both ends at work, and the tunnel between them.
    pub(crate) fn with_tunnel() -> Self {
        let mut net = Self::new();
        net.open_tunnel();
        net
    }

    /// Starts both ends, and waits until something goes through.
    pub(crate) fn open_tunnel(&mut self) {
        self.start("hub");
        self.start("site");
        self.until("the tunnel works", || self.pings("site", "10.9.0.1"));
    }

    pub(crate) fn new() -> Self {
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

    pub(crate) fn ns(&self, end: &str) -> String {
        format!("{}-{end}", self.name)
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Appends tables to an end's configuration.
    pub(crate) fn configure_more(&self, end: &str, tables: &str) {
        let path = self.path(&format!("{end}.toml"));
        let text = fs::read_to_string(&path).expect("it was written");
        fs::write(path, text + tables).expect("it is this test's");
    }

    /// Inserts tables before the first array of tables of an end's configuration.
    pub(crate) fn configure_before_sites(&self, end: &str, tables: &str) {
        let path = self.path(&format!("{end}.toml"));
        let text = fs::read_to_string(&path).expect("it was written");
        let place = text.find("[[").expect("it has sites or paths");
        fs::write(path, format!("{}{tables}{}", &text[..place], &text[place..])).expect("it is this test's");
    }

    /// Gives the site the hub's address on its first line by a name. The name is known in its
    /// namespace alone: `ip netns exec` puts the file in place of the machine's.
    pub(crate) fn name_hub(&self, name: &str) {
        self.write_hosts(&format!("192.0.1.1 {name}\n"));
        let path = self.path("site.toml");
        let text = fs::read_to_string(&path).expect("it was written");
        let named = text.replace("192.0.1.1:4500", &format!("{name}:4500"));
        assert_ne!(text, named, "the site has a path to the hub's first address");
        fs::write(path, named).expect("it is this test's");
    }

    /// Sets the names that the site's namespace knows. It sees a change at once.
    pub(crate) fn write_hosts(&self, lines: &str) {
        self.write_for_site("hosts", lines);
    }

    /// Writes a file that the site's namespace has instead of the machine's in `/etc`.
    pub(crate) fn write_for_site(&self, file: &str, text: &str) {
        let folder = self.folder_of_namespace("site");
        fs::create_dir_all(&folder).expect("a folder for a namespace");
        fs::write(folder.join(file), text).expect("it is this test's");
    }

    /// Leaves the site its first line alone, with a default route to an address that stays. What belongs
    /// inside never goes by it, not even before the tunnel's interface is there: the hub would answer.
    pub(crate) fn reach_by_first_line(&self) {
        must(&format!("ip -n {} address add 192.0.1.254/16 dev dsl", self.ns("hub")));
        must(&format!("ip -n {} route add default via 192.0.1.254", self.ns("site")));
        must(&format!("ip -n {} route add unreachable 10.9.0.0/24 metric 4000", self.ns("site")));
        let path = self.path("site.toml");
        let text = fs::read_to_string(&path).expect("it was written");
        let second = text.find("[[paths]]\nname = \"lte\"").expect("it has two paths");
        fs::write(path, &text[..second]).expect("it is this test's");
    }

    /// The hub's first address becomes another one of the same line. With an address the kernel
    /// removes all others of the same network, so this one has a longer prefix.
    pub(crate) fn move_hub(&self, to: &str) {
        let hub = self.ns("hub");
        must(&format!("ip -n {hub} address add {to}/25 dev dsl"));
        must(&format!("ip -n {hub} address del 192.0.1.1/24 dev dsl"));
    }

    /// The processes of an end.
    pub(crate) fn pids(&self, end: &str) -> Vec<String> {
        let pids = must(&format!("ip netns pids {}", self.ns(end)));
        pids.split_whitespace().map(str::to_owned).collect()
    }

    /// The process of the site that looks names up.
    pub(crate) fn lookup_process(&self) -> String {
        let is_it = |pid: &String| {
            fs::read_to_string(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line.contains("look-names-up"))
        };
        self.pids("site").into_iter().find(is_it).expect("it is there")
    }

    /// Where `ip netns exec` looks for files of a namespace.
    fn folder_of_namespace(&self, end: &str) -> PathBuf {
        PathBuf::from("/etc/netns").join(self.ns(end))
    }

    /// The status of a path at the site.
    pub(crate) fn site_path(&self, place: usize) -> serde_json::Value {
        self.status("site")["peers"][0]["bond"]["paths"][place].clone()
    }

    fn configure(&self) {
        let keygen =
            |file: &str| must(&format!("{GATEWAY} keygen {}", self.path(file).display())).trim().to_owned();
        let (hub, site, _) = (keygen("hub.key"), keygen("site.key"), keygen("psk"));
        let socket = |end: &str| self.path(&format!("{end}.sock")).display().to_string();
        let text = format!(
            "[gateway]\nrole = \"hub\"\nkey = \"hub.key\"\ntun = \"bond0\"\naddresses = [\"10.9.0.1/24\", \"fd09::1/64\"]\n\
             listen = [\"0.0.0.0:4500\"]\ncontrol = \"{0}\"\nstate = \"{0}.json\"\n\
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
             routes = [\"0.0.0.0/0\"]\nhttp = \"127.0.0.1:9464\"\ncontrol = \"{0}\"\nstate = \"{0}.json\"\n[hub]\nkey = \"{hub}\"\npsk = \"psk\"\n{1}{2}",
            socket("site"),
            path("dsl", 1, 1),
            path("lte", 2, 2),
        );
        fs::write(self.path("site.toml"), text).expect("a new file");
    }

    pub(crate) fn inside(&self, end: &str, command: &str) -> Output {
        shell(&format!("ip netns exec {} {command}", self.ns(end)))
    }

    pub(crate) fn start(&mut self, end: &'static str) {
        self.start_with(end, &[]);
    }

    /// Starts a daemon with further arguments.
    pub(crate) fn start_with(&mut self, end: &'static str, arguments: &[&str]) {
        self.launch(end, &[], "run", arguments);
    }

    /// Starts a daemon by another program, which gets it as its last arguments.
    pub(crate) fn start_under(&mut self, end: &'static str, program: &[&str]) {
        self.launch(end, program, "run", &[]);
    }

    /// Starts a GRE tunnel.
    pub(crate) fn start_gre(&mut self, end: &'static str) {
        self.launch(end, &[], "gre", &[]);
    }

    fn launch(&mut self, end: &'static str, program: &[&str], work: &str, arguments: &[&str]) {
        let log = File::create(self.path(&format!("{end}.log"))).expect("a new file");
        let config = self.path(&format!("{end}.toml"));
        let daemon = Command::new("ip")
            .args(["netns", "exec", &self.ns(end)])
            .args(program)
            .args([GATEWAY, work])
            .arg(config)
            .args(arguments)
            .stderr(log)
            .stdout(Stdio::null())
            .spawn()
            .expect("ip");
        self.daemons.push((end, daemon));
    }

    pub(crate) fn end(&mut self, end: &str, signal: &str) {
        let place = self.daemons.iter().position(|(name, _)| *name == end).expect("it runs");
        let (_, mut daemon) = self.daemons.remove(place);
        must(&format!("kill -{signal} {}", daemon.id()));
        daemon.wait().expect("it was started here");
    }

    /// The process of a daemon.
    pub(crate) fn pid(&self, end: &str) -> u32 {
        self.daemons.iter().find(|(name, _)| *name == end).expect("it runs").1.id()
    }

    pub(crate) fn log(&self, end: &str) -> String {
        fs::read_to_string(self.path(&format!("{end}.log"))).unwrap_or_default()
    }

    /// Waits until `is_so` holds.
    pub(crate) fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            let logs = || format!("hub:\n{}\nsite:\n{}", self.log("hub"), self.log("site"));
            assert!(began.elapsed() < PATIENCE, "not so in time: {what}\n{}", logs());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Does a datagram that an end sends to an address arrive there, and does the answer come back?
    pub(crate) fn pings(&self, from: &str, to: &str) -> bool {
        let other = if from == "hub" { "site" } else { "hub" };
        let to: IpAddr = to.parse().expect("an address");
        let bind = move |address: IpAddr, port| {
            // This fails until the daemon has given the address to its interface.
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

    pub(crate) fn status(&self, end: &str) -> serde_json::Value {
        let socket = self.path(&format!("{end}.sock"));
        let text = must(&format!("{GATEWAY} status --control {}", socket.display()));
        serde_json::from_str(&text).expect("the status is JSON")
    }

    /// Does `work` in a namespace, on a thread of its own.
    pub(crate) fn work<R: Send + 'static>(
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

    /// Sends octets by TCP from the site to the hub. Returns whether they came unchanged.
    pub(crate) fn transfer(&self, octets: usize) -> bool {
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
            let namespace = self.ns(end);
            // A daemon that another program started may outlive that program: a process that
            // changes its user gets no signal when its parent dies (`man 2 prctl`).
            shell(&format!("ip netns pids {namespace} | xargs -r kill -KILL"));
            shell(&format!("ip netns del {namespace}"));
            let _ = fs::remove_dir_all(self.folder_of_namespace(end));
        }
    }
}

pub(crate) fn rules(net: &Net) -> String {
    must(&format!("ip -n {} rule show", net.ns("site")))
}
