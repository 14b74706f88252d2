//! Each packet takes the path by which it arrives first: now, or after waiting for a shorter one.
//!
//! Of the paths that may send, the one of least delay is compared with waiting for shorter paths
//! that may not. The longer path takes a packet only if what waits before the packet would keep the
//! shorter paths busy for so long that it arrives no later. This is the inequality of ECF (Lim,
//! Nahum, Towsley, Gibbens, CoNEXT 2017), with rates in place of windows.
//!
//! A packet that others follow takes the path by which all of them arrive first, if it may send.

use super::{Ask, Decision, Reason, Scheduler, View};
use crate::id::{MAX_PATHS, PathId, PathSet};
use crate::wire::FULL_PACKET;

/// The scheduler. It has no state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarliestArrival;

/// The time in nanoseconds until a full packet sent now arrives, without the pacer's wait.
#[inline]
pub(super) fn delivery(view: &View) -> i64 {
    let own_time = (f64::from(FULL_PACKET) / view.rate.max(1.0) * 1e9) as i64;
    // A path that has not answered yet comes after those that have.
    view.one_way.unwrap_or(i64::MAX / 4) + view.queue + view.loss_delay.of_one + own_time
}

/// The same for a packet and so many `octets` after it. They are not here yet: their sender waits for acknowledgements.
/// `of_one` is the packet's own time.
#[inline]
fn delivery_of_all(view: &View, of_one: i64, octets: f64) -> i64 {
    let time = (octets / view.rate.max(1.0) * 1e9) as i64;
    // Both may be enormous: over a path without a rate, beside one of hours.
    (of_one - view.loss_delay.of_one + view.loss_delay.of_all).saturating_add(time)
}

/// The longest base round trip in nanoseconds: until then the sender has not heard of what it sends now.
#[inline]
fn longest_round_trip(views: &[View], among: PathSet) -> i64 {
    among.iter().filter_map(|id| views[id.index()].one_way).max().unwrap_or(0) * 2
}

/// Chooses among some paths.
#[inline]
pub(super) fn earliest(ask: &Ask, views: &[View], among: PathSet) -> Decision {
    let mut deliveries = [i64::MAX; MAX_PATHS];
    among.iter().for_each(|id| deliveries[id.index()] = delivery(&views[id.index()]));
    let of = |id: PathId| &views[id.index()];
    let time = |id: PathId| deliveries[id.index()];
    let first = among.iter().min_by_key(|id| time(*id));
    let followers = ask
        .followers
        .zip(first)
        .and_then(|(followers, first)| followers.octets(of(first).rate, longest_round_trip(views, among)));
    if let Some(octets) = followers
        && let Some(best) = among.iter().min_by_key(|id| delivery_of_all(of(*id), time(*id), octets))
        && of(best).may_send
    {
        return Decision::one(best, Reason::Followers);
    }
    let Some(ready) = among.filter(|id| of(id).may_send).iter().min_by_key(|id| time(*id)) else {
        return Decision::WAIT;
    };
    let arrival = time(ready);
    let shorter = among.filter(|id| !of(id).may_send && time(id) < arrival);
    let Some(shortest) = shorter.iter().min_by_key(|id| time(*id)) else {
        return Decision::one(ready, Reason::Earliest);
    };
    let first = time(shortest);
    // ECF's δ: the longer path may be later by as much as its delay varies.
    let margin = of(ready).deviation;
    let rate: f64 = shorter.iter().map(|id| of(id).rate).sum();
    let wait = ask.waiting as f64 / rate.max(1.0) * 1e9;
    // What follows has a part of its flow's window on the longer path. A single packet has not.
    let enough = if followers.is_some() { of(ready).enough } else { 1.0 };
    let needed = (arrival + margin - first) as f64 * enough;
    if wait >= needed { Decision::one(ready, Reason::Overflow) } else { Decision::WAIT }
}

impl Scheduler for EarliestArrival {
    #[inline]
    fn pick(&mut self, ask: &Ask, views: &[View]) -> Decision {
        earliest(ask, views, ask.usable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::Followers;
    use crate::scheduler::LossDelay;
    use ropewalk_units::Instant;

    /// A path of this many ms and Mbit/s.
    fn view(place: u8, ms: i64, mbps: f64, may_send: bool) -> View {
        View {
            id: PathId(place),
            is_up: true,
            may_send,
            has_room: may_send,
            is_crowded: false,
            may_copy: may_send,
            one_way: Some(ms * 1_000_000),
            queue: 0,
            loss_delay: LossDelay::default(),
            deviation: 0,
            rate: mbps * 125e3,
            is_rate_known: true,
            is_in_use: false,
            enough: 1.0,
            share_percent: 0,
        }
    }

    fn pick(waiting: u64, views: &[View]) -> Decision {
        ask(waiting, None, views)
    }

    fn pick_of_many(waiting: u64, views: &[View]) -> Decision {
        ask(waiting, Some(Followers::of_first(FULL_PACKET, 64 << 10)), views)
    }

    fn ask(waiting: u64, followers: Option<Followers>, views: &[View]) -> Decision {
        let mut usable = PathSet::EMPTY;
        views.iter().for_each(|view| usable.insert(view.id));
        EarliestArrival.pick(
            &Ask { now: Instant::ZERO, bucket: 0, size: FULL_PACKET, waiting, followers, usable },
            views,
        )
    }

    #[test]
    fn a_longer_path_is_used_once_waiting_takes_as_long() {
        let short = PathId(0);
        let free = [view(0, 10, 80.0, true), view(1, 30, 80.0, true)];
        assert_eq!(pick(1_000_000, &free), Decision::one(short, Reason::Earliest));
        // 20 ms at 80 Mbit/s are 200 000 octets.
        let full = [view(0, 10, 80.0, false), view(1, 30, 80.0, true)];
        assert_eq!(pick(199_000, &full), Decision::WAIT);
        assert_eq!(pick(201_000, &full), Decision::one(PathId(1), Reason::Overflow));
        let both = [view(0, 10, 80.0, false), view(1, 30, 80.0, false)];
        assert_eq!(pick(1_000_000, &both), Decision::WAIT);
    }

    #[test]
    fn a_longer_path_in_use_takes_sooner_what_belongs_to_others_on_it() {
        let mut views = [view(0, 10, 80.0, false), view(1, 30, 80.0, true)];
        views[1].enough = 0.25;
        assert_eq!(pick_of_many(51_000, &views), Decision::one(PathId(1), Reason::Overflow));
        assert_eq!(pick_of_many(49_000, &views), Decision::WAIT);
        assert_eq!(pick(51_000, &views), Decision::WAIT, "a packet that nothing follows");
    }

    #[test]
    fn a_path_whose_delay_varies_counts_as_longer() {
        let mut views = [view(0, 10, 80.0, false), view(1, 30, 80.0, true)];
        views[1].deviation = 50_000_000;
        // 20 ms longer, and 50 ms that it varies by, at 10 kB a millisecond.
        assert_eq!(pick(699_000, &views), Decision::WAIT);
        assert_eq!(pick(701_000, &views), Decision::one(PathId(1), Reason::Overflow));
    }

    #[test]
    fn a_packet_that_others_follow_takes_the_path_that_delivers_all_first() {
        // 64 kB take 524 ms at 1 Mbit/s and 6.6 ms at 80 Mbit/s: more than 50 ms are longer.
        let mut views = [view(0, 10, 1.0, true), view(1, 60, 80.0, true)];
        assert_eq!(pick_of_many(0, &views), Decision::one(PathId(1), Reason::Followers));
        assert_eq!(pick(0, &views), Decision::one(PathId(0), Reason::Earliest));
        // The slow path takes what arrives by it before the fast one has taken the rest.
        views[1].may_send = false;
        assert_eq!(pick_of_many(0, &views), Decision::one(PathId(0), Reason::Earliest));
        // At 10 Mbit/s 64 kB take 52 ms, 46 ms more.
        let views = [view(0, 10, 10.0, true), view(1, 60, 80.0, true)];
        assert_eq!(pick_of_many(0, &views), Decision::one(PathId(0), Reason::Followers));
    }

    #[test]
    fn no_times_are_too_long_to_be_compared() {
        let mut views = [view(0, 1, 8000.0, false), view(1, 1 << 40, 0.0, true)];
        views[1].loss_delay.of_all = 1 << 60;
        assert_eq!(pick_of_many(0, &views), Decision::WAIT);
        let of_all = |view: &View, octets| delivery_of_all(view, delivery(view), octets);
        assert_eq!(of_all(&views[1], 1e20), i64::MAX);
        views[0].one_way = None;
        assert_eq!(of_all(&views[0], 1e30), i64::MAX);
    }

    #[test]
    fn a_packet_takes_its_own_time_on_a_slow_path() {
        // 1548 octets take 12.4 ms at 1 Mbit/s, and 0.2 ms at 80 Mbit/s. With the same one-way
        // delay the difference is 12.2 ms, or 122 000 octets at 80 Mbit/s.
        let views = [view(0, 10, 80.0, false), view(1, 10, 1.0, true)];
        assert_eq!(pick(122_000, &views), Decision::WAIT);
        assert_eq!(pick(123_000, &views).reason, Reason::Overflow);
    }
}
