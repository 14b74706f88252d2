//! Links, namespaces and both daemons. All are removed when the scene is dropped.

use super::process::{Process, inside, program, until};
use super::{Lines, Plan, leave};
use crate::control::call;
use crate::key::{PublicKey, SecretKey};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Instant;

/// The port of the site's status page, in its namespace.
pub(super) const PORT: u16 = 9464;
const GATEWAY: &str = "ropewalk-gateway";

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
        leave::forget();
    }
}

impl AsRef<Lines> for Scene {
    fn as_ref(&self) -> &Lines {
        &self.lines
    }
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
        let of = |host: &str| Ok::<_, io::Error>([lines.address(host, "dsl")?, lines.address(host, "lte")?]);
        let (hub, site) = (of("hub")?, of("site")?);
        configure(&folder, plan, &hub, &site)?;
        let began_at = Instant::now();
        let daemons = [
            start(&folder, &lines.namespace("hub"), "hub")?,
            start(&folder, &lines.namespace("site"), "site")?,
        ];
        leave::note(folder.clone(), [daemons[0].0.id(), daemons[1].0.id()]);
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
        self.lines.at(host, work)
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
