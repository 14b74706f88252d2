//! What is to be done after a change: views to renew, segments to poll, data to schedule.

/// Of one subflow: whether its TCP may have something to send, and which parts of the
/// [`SubflowView`](crate::view::SubflowView) of it are out of date. Each decision brings up to date what it looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Upkeep {
    /// The segments that it wants to send have not all been polled.
    unpolled: bool,
    /// Out of date: what says whether the subflow has room, and how fast it is; what coupled congestion control looks at;
    /// and all the rest.
    room: bool,
    window: bool,
    rest: bool,
}

impl Upkeep {
    /// Of a new subflow: all is to be done.
    pub(crate) const ALL: Self = Self { unpolled: true, room: true, window: true, rest: true };

    /// Its TCP was called: it may have something to send, and no view of it is current.
    pub(crate) fn on_change(&mut self) {
        *self = Self::ALL;
    }

    /// Its numbers changed: no view of it is current.
    pub(crate) fn on_numbers(&mut self) {
        *self = Self { unpolled: self.unpolled, ..Self::ALL };
    }

    /// It may have something to send.
    pub(crate) fn on_request(&mut self) {
        self.unpolled = true;
    }

    /// It has nothing more to send.
    pub(crate) fn on_polled(&mut self) {
        self.unpolled = false;
    }

    /// A whole view was made.
    pub(crate) fn on_viewed(&mut self) {
        *self = Self { unpolled: self.unpolled, room: false, window: false, rest: false };
    }

    /// May it have something to send?
    pub(crate) fn is_unpolled(self) -> bool {
        self.unpolled
    }

    /// Is any part of its view out of date?
    pub(crate) fn needs_view(self) -> bool {
        self.room || self.window || self.rest
    }

    /// Is the part about room out of date? The caller renews it.
    pub(crate) fn renews_room(&mut self) -> bool {
        std::mem::take(&mut self.room)
    }

    /// … the part about windows?
    pub(crate) fn renews_window(&mut self) -> bool {
        std::mem::take(&mut self.window)
    }
}

/// Of the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Due {
    schedule: bool,
    poll: bool,
}

impl Due {
    /// Of a new connection, whose subflow has a SYN to send.
    pub(crate) const FIRST: Self = Self { schedule: false, poll: true };

    /// Data, windows or subflows have changed: the scheduler is to be asked.
    pub(crate) fn request_schedule(&mut self) {
        self.schedule = true;
    }

    /// … if `changed`.
    pub(crate) fn request_schedule_if(&mut self, changed: bool) {
        self.schedule |= changed;
    }

    /// Is the scheduler to be asked?
    pub(crate) fn schedules(self) -> bool {
        self.schedule
    }

    /// The scheduler is being asked: subflows may have something to send then.
    pub(crate) fn on_scheduled(&mut self) {
        *self = Self { schedule: false, poll: true };
    }

    /// A subflow may have something to send.
    pub(crate) fn request_poll(&mut self) {
        self.poll = true;
    }

    /// None has.
    pub(crate) fn on_polled(&mut self) {
        self.poll = false;
    }

    /// May polling give a segment?
    pub(crate) fn is_anything(self) -> bool {
        self.schedule || self.poll
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_view_is_renewed_once_for_each_change() {
        let mut upkeep = Upkeep::ALL;
        assert!(upkeep.renews_room() && !upkeep.renews_room());
        assert!(upkeep.needs_view(), "the rest is still out of date");
        upkeep.on_viewed();
        assert!(!upkeep.needs_view() && !upkeep.renews_window());
        upkeep.on_numbers();
        assert!(upkeep.renews_window() && upkeep.renews_room());
    }

    #[test]
    fn a_view_is_out_of_date_until_all_of_it_is_renewed() {
        let mut upkeep = Upkeep::ALL;
        assert!(upkeep.renews_room() && upkeep.renews_window());
        assert!(upkeep.needs_view());
    }

    #[test]
    fn polling_and_views_do_not_touch_each_other() {
        let mut upkeep = Upkeep::ALL;
        upkeep.on_polled();
        assert!(upkeep.needs_view() && !upkeep.is_unpolled());
        upkeep.on_numbers();
        assert!(!upkeep.is_unpolled());
        upkeep.on_request();
        upkeep.on_viewed();
        assert!(upkeep.is_unpolled() && !upkeep.needs_view());
    }

    #[test]
    fn what_is_due_stays_due_until_it_is_done() {
        let mut due = Due::FIRST;
        due.on_scheduled();
        assert!(due.is_anything());
        due.on_polled();
        assert!(!due.is_anything());
        due.request_schedule_if(false);
        assert!(!due.schedules());
        due.request_schedule();
        due.request_schedule_if(false);
        assert!(due.schedules() && due.is_anything());
        due.on_scheduled();
        assert!(!due.schedules());
        due.on_polled();
        assert!(!due.is_anything());
        due.request_poll();
        assert!(due.is_anything() && !due.schedules());
    }
}
