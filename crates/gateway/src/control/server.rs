//! Answers HTTP. The Unix socket takes all requests, a network address only those that change
//! nothing.

use super::http::{Answer, Request, Stream, Timed, serve};
use super::metrics;
use crate::driver::{self, PathChange, Report, Start, give_up_capabilities};
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// The page that shows a gateway at work.
const PAGE: &str = include_str!("page.html");
/// Longer than the loop ever takes to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// A client has so long to ask and to read the answer.
const CLIENT: ropewalk_units::Duration = ropewalk_units::Duration::from_secs(10);
/// The most clients of a socket at once. Others are left.
const CLIENTS: usize = 16;
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What may be asked on a socket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum May {
    Look,
    Change,
}

fn text(code: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Answer {
    Answer { code, kind, body: body.into() }
}

/// A socket that listens. Requests are answered by [`Listener::serve`].
pub struct Listener {
    socket: Socket,
    may: May,
}

enum Socket {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    /// Listens on a Unix socket that only its owner may use.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn unix(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        // A killed process may have left it.
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let socket = UnixListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(Self { socket: Socket::Unix(socket), may: May::Change })
    }

    /// Listens on a network address.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub fn tcp(address: SocketAddr) -> io::Result<Self> {
        Ok(Self { socket: Socket::Tcp(TcpListener::bind(address)?), may: May::Look })
    }

    /// Answers requests, on threads of its own that have no capabilities.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn serve(self, start: Start) -> io::Result<()> {
        let serve = move || {
            if let Err(error) = self.answer_all(start) {
                tracing::warn!(reason = %error, "nobody answers");
            }
        };
        thread::Builder::new().name("control".into()).spawn(serve).map(drop)
    }

    /// Gives up capabilities before threads for clients begin, so that these have none.
    fn answer_all(self, start: Start) -> io::Result<()> {
        give_up_capabilities()?;
        let (start, clients) = (Arc::new(start), Arc::new(()));
        loop {
            let accepted = match &self.socket {
                Socket::Unix(socket) => {
                    socket.accept().map(|(stream, _)| spawn(stream, &start, self.may, &clients))
                }
                Socket::Tcp(socket) => {
                    socket.accept().map(|(stream, _)| spawn(stream, &start, self.may, &clients))
                }
            };
            // A client may have gone, or this process may have no descriptor left. Those of clients end soon.
            if let Err(error) = accepted.flatten() {
                tracing::warn!(reason = %error, "a client is not answered");
                pause();
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a thread of its own waits for clients")]
fn pause() {
    thread::sleep(Duration::from_millis(100));
}

/// Answers a client on a thread of its own, if there are not too many.
fn spawn(stream: impl Stream, start: &Arc<Start>, may: May, clients: &Arc<()>) -> io::Result<()> {
    if Arc::strong_count(clients) > CLIENTS {
        return Ok(());
    }
    let (start, counted) = (Arc::clone(start), Arc::clone(clients));
    let work = move || {
        // A client that has gone needs no answer.
        let _ = serve(Timed::new(stream, CLIENT), |request| answer(&start, may, request));
        drop(counted);
    };
    thread::Builder::new().name("client".into()).spawn(work).map(drop)
}

fn report(start: &Start) -> Option<Report> {
    let (sender, receiver) = channel();
    start.ask(driver::Request::Status(sender));
    receiver.recv_timeout(PATIENCE).ok()
}

fn answer(start: &Start, may: May, request: &Request) -> Answer {
    const JSON: &str = "application/json";
    let unavailable = || text(503, PLAIN, "the gateway does not answer\n");
    match (request.method.as_str(), request.path.as_str()) {
        ("GET" | "HEAD", "/") => text(200, "text/html; charset=utf-8", PAGE),
        ("GET" | "HEAD", "/status") => report(start).map_or_else(unavailable, |report| {
            text(200, JSON, serde_json::to_vec(&report).expect("a report is JSON"))
        }),
        ("GET" | "HEAD", "/metrics") => {
            report(start).map_or_else(unavailable, |report| text(200, PLAIN, metrics::render(&report)))
        }
        ("GET" | "HEAD", "/healthz") => report(start).map_or_else(unavailable, |report| {
            if report.is_well() { text(200, PLAIN, "ok\n") } else { text(503, PLAIN, "the hub is silent\n") }
        }),
        ("POST", "/paths") if may == May::Change => change(start, &request.body),
        ("POST", "/paths") => text(403, PLAIN, "only over the Unix socket\n"),
        _ => text(404, PLAIN, "there are /, /status, /metrics, /healthz\n"),
    }
}

fn change(start: &Start, body: &[u8]) -> Answer {
    let Ok(change) = serde_json::from_slice::<PathChange>(body) else {
        return text(400, PLAIN, "expected a change of paths as JSON\n");
    };
    let (sender, receiver) = channel();
    start.ask(driver::Request::Change(change, sender));
    match receiver.recv_timeout(PATIENCE) {
        Ok(Ok(())) => text(200, PLAIN, "done\n"),
        Ok(Err(reason)) => text(409, PLAIN, format!("{reason}\n")),
        Err(_) => text(503, PLAIN, "the gateway does not answer\n"),
    }
}
