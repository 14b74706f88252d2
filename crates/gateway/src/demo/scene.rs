//! Links, namespaces and both daemons. All are removed when the scene is dropped.

use super::Bare;
use crate::control::call;
use crate::key::{PublicKey, SecretKey};
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

/// How long to wait for what has to be there.
const PATIENCE: Duration = Duration::from_secs(30);
/// The port of the site's status page, in its namespace.
pub(super) const PORT: u16 = 9464;
const LINKS: &str = "ropewalk-links";
const GATEWAY: &str = "ropewalk-gateway";

/// What a scene is made of.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scheduler of both ends.
    pub scheduler: String,
    /// Keys of the lines `dsl` and `lte`, as in a scenario's `[links.NAME]`. `None`: lines as fast
    /// as the machine.
    pub lines: Option<[String; 2]>,
    /// Further tables of both configurations.
    pub tables: String,
}

impl Plan {
    /// A plan with lines of 64 Mbit/s and 13 ms, and of 60 Mbit/s and 35 ms.
    pub fn new(scheduler: &str) -> Self {
        let line = |rate: u32, delay: u32| format!("rate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\n");
        Self {
            scheduler: scheduler.to_owned(),
            lines: Some([line(64, 13), line(60, 35)]),
            tables: String::new(),
        }
    }

    /// A plan with lines as fast as the machine.
    pub fn bare(scheduler: &str) -> Self {
        Self { lines: None, ..Self::new(scheduler) }
    }
}

fn scenario(lines: &[String; 2]) -> String {
    let link = |name: &str, keys: &str| format!("[links.{name}]\nbetween = [\"site\", \"hub\"]\n{keys}\n");
    format!(
        "[scenario]\nname = \"gateway\"\nduration = \"2 h\"\n[hosts.hub]\nstack = \"linux\"\n[hosts.site]\nstack = \"linux\"\n\
         [hosts.site.commands.rest]\ncommand = \"sleep 7200\"\n{}{}",
        link("dsl", &lines[0]),
        link("lte", &lines[1])
    )
}

/// A process. When this value is dropped it is told to end, and waited for.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // This fails if the process has ended. Its number is not given to another before it is
        // waited for.
        let _ = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM);
        let _ = self.0.wait();
    }
}

/// The lines, and the namespaces at their ends.
enum Lines {
    Shaped { _links: Process, run: u32 },
    Bare(Bare),
}

impl Lines {
    fn new(plan: &Plan, folder: &Path) -> io::Result<Self> {
        let Some(lines) = &plan.lines else { return Bare::new(&["dsl", "lte"]).map(Self::Bare) };
        fs::write(folder.join("links.toml"), scenario(lines))?;
        // A process group of its own: Ctrl-C ends this process alone. Then the links see the end of
        // their input, and remove everything.
        let links = Command::new(program(LINKS))
            .arg(folder.join("links.toml"))
            .process_group(0)
            .stdin(Stdio::piped())
            .spawn();
        let links = links.map_err(|error| {
            io::Error::new(error.kind(), format!("{LINKS}, which makes the lines: {error}"))
        })?;
        let run = links.id();
        Ok(Self::Shaped { _links: Process(links), run })
    }

    fn namespace(&self, host: &str) -> PathBuf {
        match self {
            Self::Shaped { run, .. } => PathBuf::from(format!("/run/netns/ropewalk-{run}-0-{host}")),
            Self::Bare(bare) => bare.namespace(host),
        }
    }
}

/// A hub and a site at work. Fields are dropped in this order: the daemons before the lines.
pub struct Scene {
    daemons: [Process; 2],
    began_at: Instant,
    lines: Lines,
    folder: PathBuf,
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The path of a program: beside this one, or else found by the search path.
pub fn program(name: &str) -> PathBuf {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| own.parent().map(|folder| folder.join(name)));
    beside.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from(name))
}

/// Does `work` in a namespace, on a thread of its own. Processes that it starts stay there.
///
/// # Errors
/// There is no such namespace, or `work` fails.
pub fn inside<R: Send>(path: &Path, work: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
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
fn address(lines: &Lines, host: &str, interface: &str) -> Option<String> {
    let ask = || Command::new("ip").args(["-o", "-4", "address", "show", "dev", interface]).output();
    let output = inside(&lines.namespace(host), ask).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let address = text.split_whitespace().skip_while(|word| *word != "inet").nth(1)?;
    address.split('/').next().map(str::to_owned)
}

impl Scene {
    /// Makes the lines and starts both daemons.
    ///
    /// # Errors
    /// Namespaces, links or daemons cannot be made.
    pub fn new(plan: &Plan) -> io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("ropewalk-demo-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder)?;
        let lines = Lines::new(plan, &folder)?;
        let of =
            |host: &str, line: &str| until(&format!("{line} at the {host}"), || address(&lines, host, line));
        let hub = [of("hub", "dsl")?, of("hub", "lte")?];
        let site = [of("site", "dsl")?, of("site", "lte")?];
        configure(&folder, plan, &hub, &site)?;
        let began_at = Instant::now();
        let daemons = [
            start(&folder, &lines.namespace("hub"), "hub")?,
            start(&folder, &lines.namespace("site"), "site")?,
        ];
        Ok(Self { daemons, began_at, lines, folder })
    }

    /// When the daemons were started.
    pub const fn began_at(&self) -> Instant {
        self.began_at
    }

    /// Waits until there is a session.
    ///
    /// # Errors
    /// There is none in time.
    pub fn wait(&self) -> io::Result<()> {
        until("a session", || self.sent().ok()).map(drop)
    }

    /// Waits until there is a session, and then for the paths' rates to be found.
    ///
    /// # Errors
    /// There is none in time.
    pub fn settle(&self) -> io::Result<()> {
        self.wait()?;
        thread::sleep(super::SETTLE);
        Ok(())
    }

    /// The status of an end, as JSON.
    ///
    /// # Errors
    /// It does not answer.
    pub fn status(&self, host: &str) -> io::Result<serde_json::Value> {
        let socket = self.folder.join(format!("{host}.sock"));
        let text = call(&socket, "GET", "/status", "").map_err(io::Error::other)?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Octets that the site has sent by each path.
    ///
    /// # Errors
    /// There is no session.
    pub fn sent(&self) -> io::Result<[u64; 2]> {
        let status = self.status("site")?;
        let sent = |path: usize| status["peers"][0]["bond"]["paths"][path]["sent_bytes"].as_u64();
        sent(0).zip(sent(1)).map(|(dsl, lte)| [dsl, lte]).ok_or_else(|| io::Error::other("no session"))
    }

    /// Does `work` in the namespace of the hub or of the site.
    ///
    /// # Errors
    /// There is no such namespace, or `work` fails.
    pub fn at<R: Send>(&self, host: &str, work: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
        inside(&self.lines.namespace(host), work)
    }

    /// The namespace of the hub or of the site.
    pub fn namespace(&self, host: &str) -> PathBuf {
        self.lines.namespace(host)
    }

    /// The processes of hub and site.
    pub fn pids(&self) -> [u32; 2] {
        [self.daemons[0].0.id(), self.daemons[1].0.id()]
    }

    /// Where configurations, keys, sockets and logs are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

fn start(folder: &Path, namespace: &Path, host: &str) -> io::Result<Process> {
    let log = File::create(folder.join(format!("{host}.log")))?;
    let config = folder.join(format!("{host}.toml"));
    let run_it = || Command::new(program(GATEWAY)).arg("run").arg(config).stderr(log).spawn();
    inside(namespace, run_it).map(Process)
}

fn keygen(file: &Path) -> io::Result<PublicKey> {
    let mut octets = [0; 32];
    getrandom::fill(&mut octets).map_err(io::Error::other)?;
    let key = SecretKey(octets);
    key.write(file).map_err(io::Error::other)?;
    Ok(key.public())
}

fn configure(folder: &Path, plan: &Plan, hub: &[String; 2], site: &[String; 2]) -> io::Result<()> {
    let keygen = |name: &str| keygen(&folder.join(name));
    let (hub_key, site_key, _) = (keygen("hub.key")?, keygen("site.key")?, keygen("psk")?);
    let socket = |host: &str| folder.join(format!("{host}.sock")).display().to_string();
    let Plan { scheduler, tables, .. } = plan;
    let text = format!(
        "[gateway]\nrole = \"hub\"\nkey = \"hub.key\"\ntun = \"bond0\"\naddresses = [\"10.9.0.1/24\"]\nlisten = [\"{}:4500\", \"{}:4500\"]\n\
         control = \"{}\"\n[bond]\nscheduler = \"{scheduler}\"\n[[sites]]\nname = \"site\"\nkey = \"{site_key}\"\npsk = \"psk\"\nprefixes = [\"10.9.0.2/32\"]\n{tables}",
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
         http = \"127.0.0.1:{PORT}\"\n[hub]\nkey = \"{hub_key}\"\npsk = \"psk\"\n[bond]\nscheduler = \"{scheduler}\"\n{}{}{tables}",
        socket("site"),
        path(0, "dsl"),
        path(1, "lte"),
    );
    fs::write(folder.join("site.toml"), text)
}
