//! Answers HTTP. The Unix socket takes all requests, a network address only those that change
//! nothing.

use super::metrics;
use crate::driver::{PathChange, Report, Request, Start, give_up_capabilities};
use std::fs;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use tiny_http::{Header, Method, Response, Server};

/// The page that shows a gateway at work.
const PAGE: &str = include_str!("page.html");
/// Longer than the loop ever takes to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest change that is read.
const LONGEST: u64 = 4096;

/// What may be asked on a socket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum May {
    Look,
    Change,
}

type Answer = Response<io::Cursor<Vec<u8>>>;

fn text(code: u16, kind: &str, body: impl Into<Vec<u8>>) -> Answer {
    let header = |name: &str, value: &str| Header::from_bytes(name, value).expect("a header");
    Response::from_data(body)
        .with_status_code(code)
        .with_header(header("Content-Type", kind))
        .with_header(header("Cache-Control", "no-store"))
        .with_header(header(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'",
        ))
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
            if let Err(error) = self.answer_all(&start) {
                tracing::warn!(reason = %error, "nobody answers");
            }
        };
        thread::Builder::new().name("control".into()).spawn(serve).map(drop)
    }

    /// Gives up capabilities before the server's own threads begin, so that they have none.
    fn answer_all(self, start: &Start) -> io::Result<()> {
        give_up_capabilities()?;
        let server = match self.socket {
            Socket::Unix(socket) => Server::from_listener(socket, None),
            Socket::Tcp(socket) => Server::from_listener(socket, None),
        };
        for mut request in server.map_err(io::Error::other)?.incoming_requests() {
            let answer = answer(start, self.may, &mut request);
            // A client that has gone needs no answer.
            let _ = request.respond(answer);
        }
        Ok(())
    }
}

fn report(start: &Start) -> Option<Report> {
    let (sender, receiver) = channel();
    start.ask(Request::Status(sender));
    receiver.recv_timeout(PATIENCE).ok()
}

fn answer(start: &Start, may: May, request: &mut tiny_http::Request) -> Answer {
    const JSON: &str = "application/json";
    const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";
    let unavailable = || text(503, PLAIN, "the gateway does not answer\n");
    let path = request.url().split('?').next().unwrap_or_default().to_owned();
    match (request.method(), path.as_str()) {
        (Method::Get, "/") => text(200, "text/html; charset=utf-8", PAGE),
        (Method::Get, "/status") => report(start).map_or_else(unavailable, |report| {
            text(200, JSON, serde_json::to_vec(&report).expect("a report is JSON"))
        }),
        (Method::Get, "/metrics") => {
            report(start).map_or_else(unavailable, |report| text(200, PLAIN, metrics::render(&report)))
        }
        (Method::Get, "/healthz") => report(start).map_or_else(unavailable, |report| {
            if report.is_well() { text(200, PLAIN, "ok\n") } else { text(503, PLAIN, "the hub is silent\n") }
        }),
        (Method::Post, "/paths") if may == May::Change => change(start, request),
        (Method::Post, "/paths") => text(403, PLAIN, "only over the Unix socket\n"),
        _ => text(404, PLAIN, "there are /, /status, /metrics, /healthz\n"),
    }
}

fn change(start: &Start, request: &mut tiny_http::Request) -> Answer {
    const PLAIN: &str = "text/plain; charset=utf-8";
    let mut body = Vec::new();
    let read = request.as_reader().take(LONGEST).read_to_end(&mut body);
    let Ok(change) = read.and_then(|_| serde_json::from_slice::<PathChange>(&body).map_err(io::Error::other))
    else {
        return text(400, PLAIN, "expected a change of paths as JSON\n");
    };
    let (sender, receiver) = channel();
    start.ask(Request::Change(change, sender));
    match receiver.recv_timeout(PATIENCE) {
        Ok(Ok(())) => text(200, PLAIN, "done\n"),
        Ok(Err(reason)) => text(409, PLAIN, format!("{reason}\n")),
        Err(_) => text(503, PLAIN, "the gateway does not answer\n"),
    }
}
