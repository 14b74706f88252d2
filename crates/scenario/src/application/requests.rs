//! Request, response, think, and again.

use super::Writer;
use super::interval::draw;
use crate::plan::{Interval, RequestResponse};
use ropewalk_sim::Stream;
use ropewalk_units::{Duration, Instant};

/// The client's side.
#[derive(Debug)]
pub struct Requester {
    request: u64,
    response: u64,
    think: Interval,
    stream: Stream,
    /// Transactions still to begin.
    left: u64,
    next: Option<Instant>,
    begun_at: Instant,
    unwritten: u64,
    expected: u64,
    finished: bool,
    /// Transactions whose response has arrived whole.
    pub completed: u64,
    /// Sum of their times, from writing the request to reading the response's last octet.
    pub response_time: Duration,
}

impl Requester {
    /// The first transaction begins at `start`; `stream` gives the think times.
    pub fn new(plan: &RequestResponse, start: Instant, stream: Stream) -> Self {
        let &RequestResponse { request, response, think, count } = plan;
        Self {
            request,
            response,
            think,
            stream,
            left: count.map_or(u64::MAX, u64::from),
            next: Some(start),
            begun_at: start,
            unwritten: 0,
            expected: 0,
            finished: false,
            completed: 0,
            response_time: Duration::ZERO,
        }
    }

    /// Begins the transaction that is due, writes what fits of its request, and notices its response.
    pub fn pump(&mut self, now: Instant, received: u64, writer: &mut impl Writer) {
        if self.expected > self.completed * self.response && received >= self.expected {
            self.complete(now);
        }
        if self.next.is_some_and(|next| next <= now) {
            self.begin(now);
        }
        let octets = writer.space().min(self.unwritten);
        if octets > 0 {
            writer.write(octets);
            self.unwritten -= octets;
        }
        if self.left == 0 && self.next.is_none() && received >= self.expected && !self.finished {
            writer.finish();
            self.finished = true;
        }
    }

    fn begin(&mut self, now: Instant) {
        self.next = None;
        self.left = self.left.saturating_sub(1);
        self.unwritten += self.request;
        self.expected += self.response;
        self.begun_at = now;
    }

    fn complete(&mut self, now: Instant) {
        self.completed += 1;
        self.response_time += now - self.begun_at;
        if self.left > 0 {
            self.next = Some(now.saturating_add(draw(self.think, &mut self.stream)));
        }
    }

    /// When the next transaction begins.
    pub fn deadline(&self) -> Option<Instant> {
        self.next
    }

    /// Are all transactions complete?
    pub fn is_finished(&self) -> bool {
        self.finished
    }
}

/// The server's side.
#[derive(Clone, Debug)]
pub struct Responder {
    request: u64,
    response: u64,
    answered: u64,
    unwritten: u64,
    finished: bool,
}

impl Responder {
    /// Answers each `request` octets with `response`.
    pub fn new(request: u64, response: u64) -> Self {
        Self { request, response, answered: 0, unwritten: 0, finished: false }
    }

    /// Writes what is due; ends its stream when the client has ended its own.
    pub fn pump(&mut self, received: u64, peer_finished: bool, writer: &mut impl Writer) {
        let whole = received / self.request;
        self.unwritten += (whole - self.answered) * self.response;
        self.answered = whole;
        let octets = writer.space().min(self.unwritten);
        if octets > 0 {
            writer.write(octets);
            self.unwritten -= octets;
        }
        if peer_finished && self.unwritten == 0 && !self.finished {
            writer.finish();
            self.finished = true;
        }
    }
}
