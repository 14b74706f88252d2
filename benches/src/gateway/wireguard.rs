//! A tunnel of wireguard-go, for comparison: another program that seals what goes through a TUN interface. It uses one line, and bonds
//! nothing. It is looked for by the names `wireguard-go` and `wireguard`.

use ropewalk_gateway::demo::{Process, inside};
use ropewalk_gateway::key::SecretKey;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What builds it. Where that puts it has to be in the search path.
pub(crate) const INSTALL: &str = "go install golang.zx2c4.com/wireguard@latest";
/// It has made its interface and its socket within this.
const PATIENCE: Duration = Duration::from_secs(5);

/// An end of the tunnel.
pub(crate) struct Side<'a> {
    pub(crate) namespace: &'a Path,
    /// Its interface. Sockets of all namespaces are in one folder, so that no two have one name.
    pub(crate) interface: &'a str,
    pub(crate) secret: &'a SecretKey,
    /// Its inner address with the length of its prefix.
    pub(crate) inner: &'a str,
    /// Its address on the line, with its port.
    pub(crate) outer: &'a str,
}

/// The program, if it is there.
pub(crate) fn program() -> Option<&'static str> {
    let is_there = |name: &&str| {
        Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    ["wireguard-go", "wireguard"].into_iter().find(is_there)
}

fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |mut text, octet| {
        let _ = write!(text, "{octet:02x}");
        text
    })
}

/// Starts it in its namespace, and gives it its keys and addresses.
pub(crate) fn start(program: &str, side: &Side<'_>, other: &Side<'_>) -> io::Result<Process> {
    let foreground = || {
        let mut command = Command::new(program);
        command.args(["-f", side.interface]).env("LOG_LEVEL", "silent").stderr(Stdio::null()).spawn()
    };
    let process = Process(inside(side.namespace, foreground)?);
    let port = side.outer.rsplit(':').next().unwrap_or_default();
    let (own, theirs) = (hex(&side.secret.0), hex(&other.secret.public().0));
    configure(
        side.interface,
        &format!(
            "set=1\nprivate_key={own}\nlisten_port={port}\npublic_key={theirs}\nendpoint={}\nallowed_ip=0.0.0.0/0\n\n",
            other.outer
        ),
    )?;
    for arguments in [
        format!("address add {} dev {}", side.inner, side.interface),
        format!("link set {} up mtu 1420", side.interface),
    ] {
        let ip = || Command::new("ip").args(arguments.split(' ')).status();
        if !inside(side.namespace, ip)?.success() {
            return Err(io::Error::other(format!("ip {arguments}")));
        }
    }
    Ok(process)
}

/// By its socket: the cross-platform interface of WireGuard.
fn configure(interface: &str, keys: &str) -> io::Result<()> {
    let path = format!("/var/run/wireguard/{interface}.sock");
    let began = Instant::now();
    let mut socket = loop {
        match UnixStream::connect(&path) {
            Ok(socket) => break socket,
            Err(error) if began.elapsed() > PATIENCE => return Err(error),
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    };
    socket.write_all(keys.as_bytes())?;
    socket.shutdown(std::net::Shutdown::Write)?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    if answer.trim() == "errno=0" { Ok(()) } else { Err(io::Error::other(format!("wireguard-go: {answer}"))) }
}
