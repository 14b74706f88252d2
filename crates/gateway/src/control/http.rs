//! HTTP, as far as a gateway needs it: one request for each connection. Whoever asks has a short
//! time, and no more octets than a request needs.

use crate::driver::now;
use ropewalk_units::{Duration, Instant};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

/// The longest head of a request, and the longest body.
const LONGEST: usize = 8192;
/// The most header fields of a request.
const FIELDS: usize = 64;

/// A connection that can be given up.
pub(super) trait Stream: Read + Write + Send + 'static {
    /// Sets how long a call may wait.
    fn wait_at_most(&self, time: std::time::Duration) -> io::Result<()>;
}

macro_rules! stream {
    ($of:ty) => {
        impl Stream for $of {
            fn wait_at_most(&self, time: std::time::Duration) -> io::Result<()> {
                self.set_read_timeout(Some(time))?;
                self.set_write_timeout(Some(time))
            }
        }
    };
}

stream!(TcpStream);
stream!(UnixStream);

/// A stream that ends at a time, however slowly the other end reads or writes.
pub(super) struct Timed<S> {
    stream: S,
    until: Instant,
}

impl<S: Stream> Timed<S> {
    pub(super) fn new(stream: S, time: Duration) -> Self {
        Self { stream, until: now() + time }
    }

    fn wait(&self) -> io::Result<()> {
        let left = self.until.saturating_since(now());
        if left == Duration::ZERO {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.wait_at_most(std::time::Duration::from_nanos(left.as_nanos()))
    }
}

impl<S: Stream> Read for Timed<S> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        self.wait()?;
        self.stream.read(octets)
    }
}

impl<S: Stream> Write for Timed<S> {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.wait()?;
        self.stream.write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// What is asked.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// Without what follows a question mark.
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// What is answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: u16,
    /// The type of the body.
    pub(super) kind: &'static str,
    pub(super) body: Vec<u8>,
}

/// Why a request is not understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Refused {
    /// It is no HTTP.
    Malformed,
    TooLong,
}

/// The head of a request.
struct Head {
    /// Where the body begins.
    len: usize,
    /// Octets of the body.
    body: usize,
    request: Request,
}

/// Reads a head. `None`: it has not come whole.
fn head(octets: &[u8]) -> Result<Option<Head>, Refused> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let len = match parsed.parse(octets) {
        Ok(httparse::Status::Complete(len)) => len,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Refused::TooLong),
        Err(_) => return Err(Refused::Malformed),
    };
    let (method, path) = parsed.method.zip(parsed.path).ok_or(Refused::Malformed)?;
    let path = path.split('?').next().unwrap_or_default();
    let request = Request { method: method.into(), path: path.into(), body: Vec::new() };
    let length = parsed.headers.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"));
    let body = length.map_or(Some(0), |length| std::str::from_utf8(length.value).ok()?.trim().parse().ok());
    Ok(Some(Head { len, body: body.ok_or(Refused::Malformed)?, request }))
}

/// Reads a request.
fn read(stream: &mut impl Read) -> io::Result<Result<Request, Refused>> {
    let (mut octets, mut part) = (Vec::new(), [0; 1024]);
    loop {
        match head(&octets) {
            Err(refused) => return Ok(Err(refused)),
            Ok(Some(head)) if head.body > LONGEST => return Ok(Err(Refused::TooLong)),
            Ok(Some(head)) if octets.len() >= head.len + head.body => {
                let body = octets[head.len..head.len + head.body].to_vec();
                return Ok(Ok(Request { body, ..head.request }));
            }
            Ok(None) if octets.len() > LONGEST => return Ok(Err(Refused::TooLong)),
            Ok(_) => {}
        }
        match stream.read(&mut part)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            len => octets.extend_from_slice(&part[..len]),
        }
    }
}

const fn phrase(code: u16) -> &'static str {
    match code {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        409 => "Conflict",
        431 => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    }
}

fn write(stream: &mut impl Write, answer: &Answer, has_body: bool) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'\r\n\
         Connection: close\r\n\r\n",
        answer.code,
        phrase(answer.code),
        answer.kind,
        answer.body.len(),
    );
    stream.write_all(head.as_bytes())?;
    if has_body {
        stream.write_all(&answer.body)?;
    }
    stream.flush()
}

/// Reads a request, and writes what `answer` says to it.
///
/// # Errors
/// The other end has gone, or took too long.
pub(super) fn serve(
    mut stream: impl Read + Write,
    answer: impl FnOnce(&Request) -> Answer,
) -> io::Result<()> {
    let refusal = |code, body: &str| Answer { code, kind: "text/plain", body: body.into() };
    match read(&mut stream)? {
        Ok(request) => write(&mut stream, &answer(&request), request.method != "HEAD"),
        Err(Refused::Malformed) => write(&mut stream, &refusal(400, "no request of HTTP\n"), true),
        Err(Refused::TooLong) => write(&mut stream, &refusal(431, "too long a request\n"), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::net::UnixStream;
    use std::thread;

    /// What comes gets an answer in this form.
    fn asked(octets: &[u8]) -> io::Result<Result<Request, Refused>> {
        read(&mut &octets[..])
    }

    #[test]
    fn a_request_is_read_to_its_end_and_no_further() {
        let request = asked(b"POST /paths?x=1 HTTP/1.1\r\nContent-length: 3\r\n\r\nabcd").expect("it came");
        let expected = Request { method: "POST".into(), path: "/paths".into(), body: b"abc".into() };
        assert_eq!(request, Ok(expected));
        assert!(asked(b"GET / HTTP/1.1\r\nHost: x\r\n").is_err(), "half a request");
        assert!(asked(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabcd").is_err(), "half a body");
    }

    #[test]
    fn what_is_too_long_or_no_request_is_refused() {
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(3 * LONGEST));
        let fields = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(FIELDS + 1));
        let body = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", LONGEST + 1);
        for text in [long, fields, body] {
            assert_eq!(asked(text.as_bytes()).expect("it came"), Err(Refused::TooLong), "{text}");
        }
        for text in ["\u{16}\u{3}\u{1}hello", "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"] {
            assert_eq!(asked(text.as_bytes()).expect("it came"), Err(Refused::Malformed), "{text}");
        }
    }

    #[test]
    fn a_client_that_does_not_go_on_is_left() {
        const TIME: Duration = Duration::from_millis(100);
        let silent = |answer_len: usize, request: &[u8]| {
            let (mut client, server) = UnixStream::pair().expect("a pair");
            client.write_all(request).expect("there is room");
            let done = thread::spawn(move || {
                let answer =
                    |_: &Request| Answer { code: 200, kind: "text/plain", body: vec![0; answer_len] };
                serve(Timed::new(server, TIME), answer).expect_err("it does not wait for ever").kind()
            });
            let kind = done.join().expect("it ends");
            assert!(matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut), "{kind:?}");
            drop(client);
        };
        silent(1, b"GET / HT");
        silent(100_000_000, b"GET / HTTP/1.1\r\n\r\n");
    }

    #[test]
    fn one_that_sends_an_octet_now_and_then_is_left_too() {
        let (mut client, server) = UnixStream::pair().expect("a pair");
        let drip = thread::spawn(move || {
            let mut sent = 0;
            while client.write_all(b"x").is_ok() {
                sent += 1;
                let _ = client.set_read_timeout(Some(std::time::Duration::from_millis(20)));
                let _ = client.read(&mut [0]);
            }
            sent
        });
        let answer = |_: &Request| Answer { code: 200, kind: "text/plain", body: Vec::new() };
        serve(Timed::new(server, Duration::from_millis(200)), answer).expect_err("it never ends its request");
        assert!(drip.join().expect("it ends") < 60);
    }

    proptest! {
        /// Whatever comes is read or refused, without a panic.
        #[test]
        fn anything_may_come(octets in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = asked(&octets);
        }
    }
}
