//! Real-time priority for the threads of a run. Without it they wait for other programs for some
//! milliseconds, as nothing does in a simulation.

use rustix::thread::set_current_timer_slack;
use std::num::NonZero;
use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// Who goes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Urgency {
    /// The scenario's applications and the daemons of its bonds, before all programs.
    Applications = 1,
    /// Its links, before the applications.
    Links = 2,
}

/// Gives it to this thread. If the system refuses, the run goes on, and its lateness tells of it.
pub(crate) fn apply(urgency: Urgency) {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    if let Ok(value) = ThreadPriorityValue::try_from(urgency as u8) {
        let priority = ThreadPriority::Crossplatform(value);
        let _ = set_thread_priority_and_policy(thread_native_id(), priority, policy);
    }
    let _ = set_current_timer_slack(NonZero::new(1));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use std::thread;
    use thread_priority::unix::{get_current_thread_priority, thread_schedule_policy};

    #[test]
    fn links_go_before_applications_and_both_before_others() {
        let policy_of = |urgency: Option<Urgency>| {
            let taken = thread::spawn(move || {
                if let Some(urgency) = urgency {
                    apply(urgency);
                }
                let policy = thread_schedule_policy().expect("every thread has one");
                (policy, get_current_thread_priority().expect("and a priority"))
            });
            taken.join().expect("it does not panic")
        };
        if !Machine::look().capable {
            println!("skipped: only root may go before others");
            return;
        }
        let (links, applications) = (policy_of(Some(Urgency::Links)), policy_of(Some(Urgency::Applications)));
        let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        assert_eq!((links.0, applications.0), (fifo, fifo));
        assert!(links.1 > applications.1, "{links:?} {applications:?}");
        assert_ne!(policy_of(None).0, fifo, "it is the thread's alone");
    }
}
