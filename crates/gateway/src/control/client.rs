//! Asks a gateway over its Unix socket, by HTTP/1.0 with one request for each connection.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longer than a gateway takes to answer.
const PATIENCE: Duration = Duration::from_secs(6);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The socket does not answer.
    #[error("{path}: {source}: is a gateway running? `--control` names its socket")]
    Socket {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The gateway refuses.
    #[error("{0}")]
    Refused(String),
}

/// Sends one request, and returns the body of the answer.
///
/// # Errors
/// [`ClientError`]
pub fn call(path: &Path, method: &str, what: &str, body: &str) -> Result<String, ClientError> {
    let answer = exchange(path, method, what, body)
        .map_err(|source| ClientError::Socket { path: path.to_owned(), source })?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer.as_str(), ""));
    let is_good = head.split(' ').nth(1) == Some("200");
    if is_good { Ok(body.to_owned()) } else { Err(ClientError::Refused(body.trim().to_owned())) }
}

fn exchange(path: &Path, method: &str, what: &str, body: &str) -> io::Result<String> {
    let mut stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "{method} {what} HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
