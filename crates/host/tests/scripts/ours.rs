//! Our host, in virtual time.

use crate::words::{Act, Told};
use crate::world::{PEER, PORT, SUBJECT, Setting, Tolerance, World};
use ropewalk_host::{CookiePolicy, Event, Host, Protocol, SocketId};
use ropewalk_tcp::Config;
use ropewalk_units::{Duration, Instant};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

/// Our clock is exact; scripts count in milliseconds.
const EXACT: Tolerance = Tolerance { early: Duration::from_millis(1), late: Duration::from_millis(1) };

pub(crate) struct Ours {
    host: Host,
    protocol: Protocol,
    now: Instant,
    /// What has left and was not asked for.
    out: VecDeque<(Instant, Vec<u8>)>,
    socket: Option<SocketId>,
    told: Told,
}

impl Ours {
    pub(crate) fn new(settings: &[Setting]) -> Self {
        let mut config = Config::linux();
        let mut host = Host::new(vec![SUBJECT.into()], [1, 2, 3, 4]);
        for setting in settings {
            match setting {
                Setting::Ecn => config.ecn = true,
                Setting::NoDelay => config.nagle = false,
                Setting::NoSack => config.sack = false,
                Setting::NoTailLossProbe => config.tail_loss_probe = false,
                Setting::ShortMtuLifetime => config.path_mtu_lifetime = Duration::from_secs(1),
                Setting::Cookies => host.set_cookies(CookiePolicy::Always),
            }
        }
        Self {
            host,
            protocol: Protocol::Tcp(Arc::new(config)),
            // Timestamps are small, but not zero.
            now: Instant::ZERO + Duration::from_millis(100),
            out: VecDeque::new(),
            socket: None,
            told: Told::Nothing,
        }
    }

    /// Takes what the host has for its application and for the wire.
    fn poll(&mut self) {
        loop {
            let mut packet = Vec::new();
            let sent = self.host.poll_transmit(self.now, &mut packet).is_some();
            if sent {
                self.out.push_back((self.now, packet));
            }
            while let Some(event) = self.host.poll_event() {
                match event {
                    Event::Accepted(id) => self.socket = Some(id),
                    Event::Established(_) => self.told = Told::Established,
                    Event::Closed(_, Some(why)) if why.contains("refused") => self.told = Told::Refused,
                    Event::Closed(_, Some(why)) if why.contains("answering") => self.told = Told::Timeout,
                    Event::Closed(_, Some(_)) => self.told = Told::Reset,
                    Event::Closed(_, None) | Event::Mptcp(..) => {}
                }
            }
            if !sent {
                return;
            }
        }
    }

    fn socket(&self) -> Result<SocketId, String> {
        self.socket.ok_or_else(|| "there is no connection".to_owned())
    }
}

impl World for Ours {
    fn now(&self) -> Instant {
        self.now
    }

    fn tolerance(&self, _after: Duration) -> Tolerance {
        EXACT
    }

    fn next_packet(&mut self, deadline: Instant) -> Option<(Instant, Vec<u8>)> {
        loop {
            if let Some(packet) = self.out.pop_front() {
                return Some(packet);
            }
            let due = self.host.poll_timeout().filter(|due| *due <= deadline);
            let Some(due) = due else {
                self.now = self.now.max(deadline);
                return None;
            };
            self.now = self.now.max(due);
            self.host.handle_timeout(self.now);
            self.poll();
        }
    }

    fn inject(&mut self, packet: &[u8]) {
        self.host.handle_packet(self.now, packet);
        self.poll();
    }

    fn act(&mut self, act: Act) -> Result<(), String> {
        match act {
            Act::Listen => self.host.listen(PORT, self.protocol.clone()),
            Act::Connect => {
                let to = SocketAddr::new(PEER.into(), PORT);
                self.socket = self.host.connect(self.now, SUBJECT.into(), to, &self.protocol);
            }
            Act::Accept if self.told == Told::Established => {}
            Act::Accept => return Err(format!("it was told {:?}", self.told)),
            Act::Finish => self.host.finish(self.now, self.socket()?),
            Act::Close => self.host.close(self.now, self.socket()?),
            Act::Abort => self.host.abort(self.now, self.socket()?),
            Act::Write(_) | Act::Read(_) => unreachable!("octets have calls of their own"),
        }
        self.poll();
        Ok(())
    }

    fn write(&mut self, octets: &[u8]) -> usize {
        let Ok(id) = self.socket() else { return 0 };
        let taken = self.host.write(self.now, id, octets);
        self.poll();
        taken
    }

    fn read(&mut self, most: usize) -> Vec<u8> {
        let mut seen = Vec::new();
        if let Ok(id) = self.socket() {
            self.host.read(self.now, id, most, &mut seen);
            self.poll();
        }
        seen
    }

    fn told(&mut self) -> Told {
        let ended = self.socket.is_some_and(|id| self.host.peer_finished(id));
        if self.told == Told::Established && ended { Told::End } else { self.told }
    }
}
