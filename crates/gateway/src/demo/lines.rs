//! The lines between a hub and a site, and the namespaces at their ends. All are removed when they are dropped.

use super::Bare;
use super::process::{Process, inside, program, until};
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const LINKS: &str = "ropewalk-links";

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

/// The lines `dsl` and `lte`.
pub struct Lines(Kind);

enum Kind {
    Shaped { _links: Process, run: u32 },
    Bare(Bare),
}

impl AsRef<Lines> for Lines {
    fn as_ref(&self) -> &Lines {
        self
    }
}

impl Lines {
    /// Makes a plan's lines. A file that describes them is written to `folder`.
    ///
    /// # Errors
    /// Namespaces or links cannot be made.
    pub fn new(plan: &Plan, folder: &Path) -> io::Result<Self> {
        let Some(lines) = &plan.lines else {
            return Bare::new(&["dsl", "lte"]).map(Kind::Bare).map(Self);
        };
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
        Ok(Self(Kind::Shaped { _links: Process(links), run }))
    }

    /// The namespace of the hub or of the site.
    pub fn namespace(&self, host: &str) -> PathBuf {
        match &self.0 {
            Kind::Shaped { run, .. } => PathBuf::from(format!("/run/netns/ropewalk-{run}-0-{host}")),
            Kind::Bare(bare) => bare.namespace(host),
        }
    }

    /// Does `work` in the namespace of the hub or of the site.
    ///
    /// # Errors
    /// There is no such namespace, or `work` fails.
    pub fn at<R: Send>(&self, host: &str, work: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
        inside(&self.namespace(host), work)
    }

    /// The address of a line at a host. It is waited for.
    ///
    /// # Errors
    /// It is not there in time.
    pub fn address(&self, host: &str, line: &str) -> io::Result<String> {
        until(&format!("{line} at the {host}"), || self.shown(host, line))
    }

    /// An interface's address, as `ip` tells it.
    fn shown(&self, host: &str, interface: &str) -> Option<String> {
        let ask = || Command::new("ip").args(["-o", "-4", "address", "show", "dev", interface]).output();
        let output = self.at(host, ask).ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let address = text.split_whitespace().skip_while(|word| *word != "inet").nth(1)?;
        address.split('/').next().map(str::to_owned)
    }
}
