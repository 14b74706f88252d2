//! Links, namespaces and both daemons. All of it goes with the value.

use crate::control::call;
use crate::key::SecretKey;
use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What has to be there has so long.
const PATIENCE: Duration = Duration::from_secs(30);
const LINKS: &str = "ropewalk-links";
const SCENARIO: &str = r#"
[scenario]
name = "gateway-demo"
duration = "1 h"
[hosts.hub]
stack = "linux"
[hosts.site]
stack = "linux"
[hosts.site.commands.rest]
command = "sleep 3600"
[links.dsl]
between = ["site", "hub"]
rate = "64 Mbit/s"
delay = "13 ms"
[links.lte]
between = ["site", "hub"]
rate = "60 Mbit/s"
delay = "35 ms"
"#;

/// A process that ends with this value: it is asked to, and waited for.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // One that has ended already cannot be asked; its number is still its own until it is waited for.
        let _ = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM);
        let _ = self.0.wait();
    }
}

/// A hub and a site at work. The fields go in this order: the daemons before the links.
pub(super) struct Scene {
    _daemons: [Process; 2],
    _links: Process,
    run: u32,
    folder: PathBuf,
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A program beside this one, else by the search path.
fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| own.parent().map(|folder| folder.join(name)));
    beside.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from(name))
}

fn namespace(run: u32, host: &str) -> PathBuf {
    PathBuf::from(format!("/run/netns/ropewalk-{run}-0-{host}"))
}

/// Works in a namespace, on a thread of its own. Processes that it starts stay there.
pub(super) fn inside<R: Send>(path: &Path, work: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
    let file = File::open(path)?;
    let enter = || {
        setns(&file, CloneFlags::CLONE_NEWNET)?;
        work()
    };
    thread::scope(|scope| scope.spawn(enter).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

fn until<R>(what: &str, mut look: impl FnMut() -> Option<R>) -> io::Result<R> {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if began.elapsed() > PATIENCE {
            return Err(io::Error::other(format!("not there in time: {what}")));
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// An interface's address, as `ip` tells it.
fn address(run: u32, host: &str, interface: &str) -> Option<String> {
    let ask = || Command::new("ip").args(["-o", "-4", "address", "show", "dev", interface]).output();
    let output = inside(&namespace(run, host), ask).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let address = text.split_whitespace().skip_while(|word| *word != "inet").nth(1)?;
    address.split('/').next().map(str::to_owned)
}

impl Scene {
    pub(super) fn new(scheduler: &str) -> io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("ropewalk-demo-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder)?;
        fs::write(folder.join("links.toml"), SCENARIO)?;
        // A group of its own: Ctrl-C ends this process, and then the links see the end of their input and take all down.
        let links = Command::new(program(LINKS))
            .arg(folder.join("links.toml"))
            .process_group(0)
            .stdin(Stdio::piped())
            .spawn();
        let links = Process(links.map_err(|error| {
            io::Error::new(error.kind(), format!("{LINKS}, which makes the lines: {error}"))
        })?);
        let run = links.0.id();
        let of =
            |host: &str, line: &str| until(&format!("{line} at the {host}"), || address(run, host, line));
        let hub = [of("hub", "dsl")?, of("hub", "lte")?];
        let site = [of("site", "dsl")?, of("site", "lte")?];
        configure(&folder, scheduler, &hub, &site)?;
        let start = |host: &str| {
            let log = File::create(folder.join(format!("{host}.log")))?;
            let config = folder.join(format!("{host}.toml"));
            let run_it = || Command::new(std::env::current_exe()?).arg("run").arg(config).stderr(log).spawn();
            inside(&namespace(run, host), run_it).map(Process)
        };
        let daemons = [start("hub")?, start("site")?];
        Ok(Self { _daemons: daemons, _links: links, run, folder })
    }

    /// Until there is a session.
    pub(super) fn wait(&self) -> io::Result<()> {
        until("a session", || self.sent().ok()).map(drop)
    }

    /// Octets that the site has sent by each path.
    pub(super) fn sent(&self) -> io::Result<[u64; 2]> {
        let text = call(&self.folder.join("site.sock"), "GET", "/status", "").map_err(io::Error::other)?;
        let status: serde_json::Value = serde_json::from_str(&text)?;
        let sent = |path: usize| status["peers"][0]["bond"]["paths"][path]["sent_bytes"].as_u64();
        sent(0).zip(sent(1)).map(|(dsl, lte)| [dsl, lte]).ok_or_else(|| io::Error::other("no session"))
    }

    /// Works at the hub or at the site.
    pub(super) fn at<R: Send>(
        &self,
        host: &str,
        work: impl FnOnce() -> io::Result<R> + Send,
    ) -> io::Result<R> {
        inside(&namespace(self.run, host), work)
    }
}

fn configure(folder: &Path, scheduler: &str, hub: &[String; 2], site: &[String; 2]) -> io::Result<()> {
    let keygen = |name: &str| {
        let mut octets = [0; 32];
        getrandom::fill(&mut octets).map_err(io::Error::other)?;
        let key = SecretKey(octets);
        key.write(&folder.join(name)).map_err(io::Error::other)?;
        Ok::<_, io::Error>(key.public())
    };
    let (hub_key, site_key, _) = (keygen("hub.key")?, keygen("site.key")?, keygen("psk")?);
    let socket = |host: &str| folder.join(format!("{host}.sock")).display().to_string();
    let text = format!(
        "[gateway]\nrole = \"hub\"\nkey = \"hub.key\"\ntun = \"bond0\"\naddresses = [\"10.9.0.1/24\"]\nlisten = [\"{}:4500\", \"{}:4500\"]\n\
         control = \"{}\"\n[bond]\nscheduler = \"{scheduler}\"\n[[sites]]\nname = \"site\"\nkey = \"{site_key}\"\npsk = \"psk\"\nprefixes = [\"10.9.0.2/32\"]\n",
        hub[0],
        hub[1],
        socket("hub")
    );
    fs::write(folder.join("hub.toml"), text)?;
    let path = |place: usize, name: &str| {
        format!(
            "[[paths]]\nname = \"{name}\"\ninterface = \"{name}\"\naddress = \"{}\"\nremote = \"{}:4500\"\ncost = {}\n",
            site[place],
            hub[place],
            place + 1
        )
    };
    let text = format!(
        "[gateway]\nrole = \"site\"\nkey = \"site.key\"\ntun = \"bond0\"\naddresses = [\"10.9.0.2/24\"]\ncontrol = \"{}\"\n\
         [hub]\nkey = \"{hub_key}\"\npsk = \"psk\"\n[bond]\nscheduler = \"{scheduler}\"\n{}{}",
        socket("site"),
        path(0, "dsl"),
        path(1, "lte"),
    );
    fs::write(folder.join("site.toml"), text)
}
