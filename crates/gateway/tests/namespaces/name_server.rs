//! A name server in the hub's namespace, which has one answer to everything.

use crate::net::{Net, must};
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A name server. It ends when this value is dropped.
pub(crate) struct NameServer {
    answer: Arc<Mutex<Option<Ipv4Addr>>>,
}

impl Net {
    /// Starts a name server at an address of the hub's machine that only a default route leads to.
    /// The site asks it for all names.
    pub(crate) fn serve_names(&self, at: &str, answer: &str) -> NameServer {
        must(&format!("ip -n {} address add {at}/32 dev lo", self.ns("hub")));
        self.write_for_site("resolv.conf", &format!("nameserver {at}\noptions timeout:1 attempts:2\n"));
        let server = NameServer { answer: Arc::new(Mutex::new(None)) };
        server.answer_with(answer);
        let (at, shared): (Ipv4Addr, _) = (at.parse().expect("an address"), Arc::clone(&server.answer));
        let opened = self.work("hub", move || UdpSocket::bind((at, 53)).expect("it is free"));
        let socket = opened.join().expect("it does not panic");
        socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a time");
        std::thread::spawn(move || serve(&socket, &shared));
        server
    }
}

impl NameServer {
    /// What every name stands for from now on.
    pub(crate) fn answer_with(&self, address: &str) {
        *self.answer.lock().expect("nobody panics") = Some(address.parse().expect("an address"));
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        *self.answer.lock().expect("nobody panics") = None;
    }
}

fn serve(socket: &UdpSocket, answer: &Mutex<Option<Ipv4Addr>>) {
    loop {
        let mut octets = [0; 512];
        let heard = socket.recv_from(&mut octets);
        let Some(address) = *answer.lock().expect("nobody panics") else { return };
        if let Ok((len, from)) = heard
            && let Some(answer) = answer_to(&octets[..len], address)
        {
            let _ = socket.send_to(&answer, from);
        }
    }
}

/// The answer to a question (RFC 1035 §4): one address if it is about type A, else none.
fn answer_to(question: &[u8], address: Ipv4Addr) -> Option<Vec<u8>> {
    let name = question.get(12..)?.iter().position(|octet| *octet == 0)?;
    let end = 12 + name + 5;
    let is_a = question.get(end - 4..end)? == [0, 1, 0, 1];
    let mut answer = question[..2].to_vec();
    answer.extend_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
    answer.extend_from_slice(&question[12..end]);
    if is_a {
        // The name of the question, type A, class IN, valid for a second, four octets.
        answer.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4]);
        answer.extend_from_slice(&address.octets());
    }
    Some(answer)
}
