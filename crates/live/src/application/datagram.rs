//! UDP: the scenario's paced source and its receiver of datagrams, on two sockets. A datagram
//! begins with its number and with the time at which it was sent, which is that of one clock at
//! both ends.

use super::Stage;
use super::progress::Progress;
use super::socket::{Stream, again};
use ropewalk_scenario::application::{Paced, Received};
use ropewalk_units::{Duration, Instant};
use ropewalk_wire::{Payload, fill_stream};
use rustix::event::PollFlags;
use std::io;

/// Octets of number and time, without which no datagram can be told from another.
pub(crate) const LEAST: u32 = 16;
/// The longest datagram.
const LONGEST: usize = 65_535;

/// Sends each datagram at its time, until there is none or the run is over.
pub(super) fn send(stage: &Stage, paced: &mut Paced, socket: &Stream, progress: &Progress) -> io::Result<()> {
    let mut octets = vec![0; paced.message() as usize];
    while let Some(deadline) = paced.deadline() {
        if !stage.clock.wait_until(deadline, &stage.stop) {
            return Ok(());
        }
        let now = stage.clock.now();
        while paced.count_if_due(now) {
            let number = paced.sent() - 1;
            fill_stream(number * octets.len() as u64, &mut octets);
            octets[..8].copy_from_slice(&number.to_be_bytes());
            octets[8..16].copy_from_slice(&now.as_nanos().to_be_bytes());
            progress.count_sent(number + 1);
            // A datagram that the kernel does not take is lost. That may be because of an ICMP
            // error for an earlier one.
            let _ = again(socket.write(&octets));
        }
    }
    progress.finish_sending();
    Ok(())
}

/// Counts what comes until the run is over.
pub(super) fn receive(stage: &Stage, socket: &Stream, progress: &Progress) -> io::Result<()> {
    let (mut octets, mut expected) = (vec![0; LONGEST], vec![0; LONGEST]);
    while !stage.is_over() {
        socket.wait(PollFlags::IN, Duration::MAX)?;
        while let Some(len) = again(socket.read(&mut octets))? {
            let datagram = read(&octets[..len], &mut expected)?;
            progress.count_received(stage.clock.now(), datagram);
        }
    }
    Ok(())
}

fn read(octets: &[u8], expected: &mut [u8]) -> io::Result<Received> {
    let corrupt = |what: &str| io::Error::other(format!("a datagram {what} was not the one that was sent"));
    let Some((head, rest)) = octets.split_first_chunk::<16>() else {
        return Err(corrupt("without a number"));
    };
    let word = |at: usize| u64::from_be_bytes(std::array::from_fn(|index| head[at + index]));
    let (number, sent) = (word(0), Instant::from_nanos(word(8)));
    let offset = number.wrapping_mul(octets.len() as u64);
    fill_stream(offset + head.len() as u64, &mut expected[..rest.len()]);
    if *rest != expected[..rest.len()] {
        return Err(corrupt(&format!("with the number {number}")));
    }
    Ok(Received { number, sent, payload: Payload { offset, len: octets.len() as u32 } })
}
