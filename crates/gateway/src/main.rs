//! `ropewalk-gateway`: the command line of the daemon that bonds several lines into one tunnel.

use clap::{Parser, Subcommand};
use ropewalk_gateway::bond::PathKeys;
use ropewalk_gateway::config::{Config, Endpoint, Lookup, Names, Part, address_of, ask_system};
use ropewalk_gateway::control::{Listener, call};
use ropewalk_gateway::driver::{self, PathChange};
use ropewalk_gateway::key::SecretKey;
use ropewalk_gateway::record::RecordedScenario;
use ropewalk_units::{Bytes, Duration};
use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Bonds several lines between two gateways into one tunnel.
#[derive(Parser)]
#[command(name = "ropewalk-gateway", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Logs as JSON, one object a line.
    #[arg(long, global = true)]
    json_logs: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Draw a private key, write it to a new file of mode 600, and print the public one.
    Keygen {
        /// The file.
        file: PathBuf,
    },
    /// Print the public key of a private one.
    Pubkey {
        /// The private key's file.
        file: PathBuf,
    },
    /// Say whether a configuration can run, and what of this machine would not do.
    Check {
        /// The configuration.
        config: PathBuf,
    },
    /// Run a gateway until it is told to end.
    Run {
        /// The configuration.
        config: PathBuf,
        /// Write a record of the run into this new file: see `replay`. It holds secrets.
        #[arg(long)]
        record: Option<PathBuf>,
    },
    /// Run a GRE tunnel over several paths (RFC 2784, RFC 2890) until it is told to end. For trusted networks: nothing in it is sealed.
    Gre {
        /// Its configuration.
        config: PathBuf,
    },
    /// Play a record again, without sockets, and look whether the same octets come out.
    Replay {
        /// The configuration of the run.
        config: PathBuf,
        /// The record.
        record: PathBuf,
        /// Write a scenario for `ropewalk run` into this new folder, as `scenario.toml`: the record's packets at their times, over
        /// lines like those that it shows. A site's record alone.
        #[arg(long, value_name = "FOLDER")]
        scenario: Option<PathBuf>,
    },
    /// Print the status of a running gateway as JSON.
    Status {
        #[command(flatten)]
        control: Control,
    },
    /// Change paths of a running site, or their keys at a running hub.
    Path {
        #[command(flatten)]
        control: Control,
        #[command(subcommand)]
        change: Change,
    },
    /// Show a bond on this machine: a hub and a site in namespaces, two shaped lines, traffic. Needs root, `ip` and `ropewalk-links`.
    Demo {
        /// Seconds of each measurement.
        #[arg(long, default_value_t = 10)]
        seconds: u64,
    },
    /// Answer names on standard input with their addresses. `run` starts this for a hub that is named.
    #[command(hide = true)]
    LookNamesUp {
        /// The user that root becomes: a name, or a number without name.
        #[arg(long)]
        user: driver::LookupUser,
        /// Do not filter system calls.
        #[arg(long)]
        no_seccomp: bool,
    },
    /// Print the manual page.
    #[command(hide = true)]
    Man {
        /// A folder for the pages of all commands, in place of this program's alone.
        folder: Option<PathBuf>,
    },
    /// Print completions for a shell.
    Completions {
        /// Which.
        shell: clap_complete::Shell,
    },
}

#[derive(clap::Args)]
struct Control {
    /// The socket of the running gateway: `control` of its configuration.
    #[arg(long, default_value = "/run/ropewalk-gateway/bond0.sock", env = "ROPEWALK_GATEWAY_CONTROL")]
    control: PathBuf,
}

#[derive(Subcommand)]
enum Change {
    /// Use another path.
    Add {
        /// Its name.
        name: String,
        /// The interface that it leaves by.
        #[arg(long)]
        interface: Option<String>,
        /// The address that it leaves from.
        #[arg(long)]
        address: Option<IpAddr>,
        /// Where the hub is on it, as 203.0.113.5:4500 or hub.example.org:4500.
        #[arg(long)]
        remote: Option<Endpoint>,
        #[command(flatten)]
        keys: Keys,
    },
    /// Do without a path.
    Remove {
        /// Its name.
        name: String,
    },
    /// Change a path's cost, weights or quota, while packets flow.
    Set {
        /// At a hub: the site whose path it is. Then weights and quota are those of the hub's end.
        #[arg(long)]
        site: Option<String>,
        /// Its name.
        name: String,
        #[command(flatten)]
        keys: Keys,
    },
}

/// Keys of a path.
#[derive(clap::Args)]
struct Keys {
    /// Its rank of cost, the cheapest lowest.
    #[arg(long)]
    cost: Option<u32>,
    /// Its weight at the start, for weighted-round-robin, in what this end sends.
    #[arg(long)]
    weight: Option<u32>,
    /// Its greatest weight: for cost-first the greatest share in per cent.
    #[arg(long)]
    max_weight: Option<u32>,
    /// What may go over it in each period, as "5 GB", both directions.
    #[arg(long)]
    quota: Option<Bytes>,
    /// How long a period of its quota is, as "720 h"; the one that runs ends when it would have.
    #[arg(long)]
    quota_period: Option<Duration>,
}

impl From<Keys> for PathKeys {
    fn from(keys: Keys) -> Self {
        let Keys { cost, weight, max_weight, quota, quota_period } = keys;
        let (quota, quota_period_ns) = (quota.map(Bytes::get), quota_period.map(Duration::as_nanos));
        Self { cost, weight, max_weight, quota, quota_period_ns }
    }
}

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    start_logs(arguments.json_logs);
    match perform(arguments.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            let is_mistake = failure.is::<ropewalk_gateway::config::Mistake>();
            ExitCode::from(if is_mistake { 2 } else { 1 })
        }
    }
}

fn start_logs(json: bool) {
    let logs = tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false);
    if json {
        logs.json().init();
    } else {
        logs.with_ansi(false).init();
    }
}

fn perform(command: Command) -> Result<(), Failure> {
    match command {
        Command::Keygen { file } => {
            let mut octets = [0; 32];
            getrandom::fill(&mut octets)?;
            let key = SecretKey(octets);
            key.write(&file)?;
            println!("{}", key.public());
        }
        Command::Pubkey { file } => println!("{}", SecretKey::read(&file)?.public()),
        Command::Check { config } => check(&config)?,
        Command::Run { config, record } => run(&config, record)?,
        Command::Gre { config } => driver::run_gre(&ropewalk_gateway::config::GreConfig::read(&config)?)?,
        Command::Replay { config, record, scenario } => replay(&config, &record, scenario.as_deref())?,
        Command::Status { control } => println!("{}", call(&control.control, "GET", "/status", "")?),
        Command::Path { control, change } => {
            let change = serde_json::to_string(&change.into_change()?)?;
            print!("{}", call(&control.control, "POST", "/paths", &change)?);
        }
        Command::Demo { seconds } => ropewalk_gateway::demo::show(std::time::Duration::from_secs(seconds))?,
        Command::LookNamesUp { user, no_seccomp } => {
            let seccomp = if no_seccomp { driver::Seccomp::Off } else { driver::Seccomp::On };
            driver::look_names_up(&user, seccomp)?;
        }
        Command::Man { folder } => {
            let command = <Arguments as clap::CommandFactory>::command();
            match folder {
                Some(folder) => clap_mangen::generate_to(command, folder)?,
                None => clap_mangen::Man::new(command).render(&mut std::io::stdout())?,
            }
        }
        Command::Completions { shell } => {
            let mut command = <Arguments as clap::CommandFactory>::command();
            clap_complete::generate(shell, &mut command, "ropewalk-gateway", &mut std::io::stdout());
        }
    }
    Ok(())
}

impl Change {
    fn into_change(self) -> Result<PathChange, Failure> {
        Ok(match self {
            Self::Add { name, interface, address, remote, keys } => {
                let host = remote.as_ref().and_then(Endpoint::name).map(str::to_owned);
                let remote = remote.map(|remote| address_of(&remote, address)).transpose();
                let remote = remote.map_err(|expected| format!("--remote: expected {expected}"))?;
                PathChange::Add { name, interface, address, remote, host, keys: keys.into() }
            }
            Self::Remove { name } => PathChange::Remove { name },
            Self::Set { site, name, keys } => PathChange::Set { site, name, keys: keys.into() },
        })
    }
}

/// Looks a name up again and again until it succeeds: at boot a line may come up later than the
/// gateway.
#[expect(clippy::disallowed_methods, reason = "nothing is at work yet that would wait for it")]
fn ask_until_answered(name: &str) -> std::io::Result<Vec<SocketAddr>> {
    loop {
        match ask_system(name) {
            Ok(addresses) => return Ok(addresses),
            Err(error) => {
                tracing::warn!(name, reason = %error, "the hub's name cannot be looked up; once more in 5 s");
            }
        }
        std::thread::sleep(std::time::Duration::from_secs(5));
    }
}

fn read(path: &Path, lookup: Lookup<'_>) -> Result<Config, Failure> {
    let mut key = [0; 16];
    getrandom::fill(&mut key)?;
    let half = |octets: &[u8]| octets.iter().fold(0, |sum, octet| sum << 8 | u64::from(*octet));
    Ok(Config::read(path, [half(&key[..8]), half(&key[8..])], lookup)?)
}

fn check(path: &Path) -> Result<(), Failure> {
    let config = read(path, &ask_system)?;
    match &config.part {
        Part::Site { lines, .. } => {
            println!("a site, paths: {}, inner MTU {}", lines.len(), config.tun.mtu);
            for warning in ropewalk_gateway::examine::site_warnings(lines, &config.tun) {
                println!("warning: {warning}");
            }
        }
        Part::Hub { config: hub, .. } => {
            println!("a hub, sites: {}, inner MTU {}", hub.sites.len(), config.tun.mtu);
            for warning in ropewalk_gateway::examine::warnings(hub) {
                println!("warning: {warning}");
            }
        }
    }
    Ok(())
}

fn replay(config: &Path, record: &Path, scenario: Option<&Path>) -> Result<(), Failure> {
    let octets = std::fs::read(record)?;
    let read = |flow_key, names: &Names| {
        let lookup = |name: &str| names.get(name).cloned().ok_or(std::io::ErrorKind::NotFound.into());
        Config::read(config, flow_key, &lookup).map_err(|mistake| mistake.to_string())
    };
    let replayed = match scenario {
        None => ropewalk_gateway::record::replay(&octets, read)?,
        Some(folder) => {
            let (replayed, scenario) = ropewalk_gateway::record::replay_to_scenario(&octets, read)?;
            write_scenario(folder, &scenario)?;
            replayed
        }
    };
    println!(
        "{:.1} s, {} entries: {} packets in, {} datagrams in; {} datagrams out and {} packets out, each as recorded",
        replayed.seconds,
        replayed.entries,
        replayed.packets,
        replayed.datagrams,
        replayed.sent,
        replayed.delivered
    );
    if replayed.cut_off > 0 {
        println!(
            "the last {} octets are of an entry that was cut off, and were not played",
            replayed.cut_off
        );
    }
    Ok(())
}

/// Writes a scenario and its files into a new folder. What is in them is as private as the record.
fn write_scenario(folder: &Path, scenario: &RecordedScenario) -> std::io::Result<()> {
    let named = |path: &Path, error: std::io::Error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    std::fs::DirBuilder::new().mode(0o700).create(folder).map_err(|error| named(folder, error))?;
    for (name, text) in &scenario.files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| named(&path, error))?;
    }
    let flows = scenario.files.len().saturating_sub(1);
    println!("{}: a scenario for `ropewalk run`. Flows: {flows}", folder.join("scenario.toml").display());
    Ok(())
}

fn run(path: &Path, record: Option<PathBuf>) -> Result<(), Failure> {
    let config = read(path, &ask_until_answered)?;
    let (control, http, name) = (config.control.clone(), config.http, config.tun.name.clone());
    let is_ours = Cell::new(false);
    let open = || {
        is_ours.set(true);
        listen(&control, http)
    };
    let result = driver::run(config, record, open, move |listeners, start| {
        for listener in listeners {
            if let Err(error) = listener.serve(start.clone()) {
                tracing::warn!(reason = %error, "nobody answers");
            }
        }
        tracing::info!(interface = name, "running");
    });
    // This fails if the process may not remove the socket. The next start removes what is left. A
    // gateway that did not start has none: it may be another's.
    if is_ours.get() {
        let _ = std::fs::remove_file(&control);
    }
    Ok(result?)
}

/// Opens the Unix socket and the HTTP address. One that cannot be opened is logged and left out.
fn listen(control: &Path, http: Option<std::net::SocketAddr>) -> Vec<Listener> {
    let unix = Listener::unix(control);
    let unix = unix
        .inspect_err(|error| tracing::warn!(path = %control.display(), reason = %error, "no status socket"));
    let tcp = http.map(|address| {
        let tcp = Listener::tcp(address);
        tcp.inspect_err(|error| tracing::warn!(%address, reason = %error, "no status page"))
    });
    unix.into_iter().chain(tcp.into_iter().flatten()).collect()
}
