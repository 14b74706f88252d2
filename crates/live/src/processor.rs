//! How long threads had a processor, and how long they waited for one: `/proc/…/schedstat`, which
//! has nanoseconds on a processor, nanoseconds ready without one, and how often.

use nix::unistd::Pid;
use ropewalk_units::Duration;
use std::fs;
use std::iter::Sum;
use std::path::Path;

/// Time on a processor, and time ready without one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Share {
    pub(crate) running: Duration,
    pub(crate) waiting: Duration,
}

impl Share {
    /// This thread's so far; nothing where the kernel does not tell.
    pub(crate) fn of_thread() -> Self {
        Self::read(Path::new("/proc/thread-self")).unwrap_or_default()
    }

    /// That of all threads that a process has now.
    pub(crate) fn of_process(pid: Pid) -> Self {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        tasks.filter_map(|task| Self::read(&task.path())).sum()
    }

    /// What came after `before`. It lacks the time of a thread that has ended meanwhile, and is
    /// then too small.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            running: self.running.saturating_sub(before.running),
            waiting: self.waiting.saturating_sub(before.waiting),
        }
    }

    fn read(thread: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(thread.join("schedstat")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut times = text.split_whitespace().map(|nanos| nanos.parse().map(Duration::from_nanos));
        Some(Self { running: times.next()?.ok()?, waiting: times.next()?.ok()? })
    }
}

impl Sum for Share {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            running: sum.running + one.running,
            waiting: sum.waiting + one.waiting,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn times_are_read() {
        let share = Share { running: Duration::from_nanos(114_541), waiting: Duration::from_nanos(63_321) };
        assert_eq!(Share::parse("114541 63321 1\n"), Some(share));
        assert_eq!(Share::parse("114541"), None);
        assert_eq!(Share::parse("never"), None);
    }

    #[test]
    fn what_was_before_does_not_count() {
        let share = |running, waiting| Share {
            running: Duration::from_millis(running),
            waiting: Duration::from_millis(waiting),
        };
        assert_eq!(share(5, 3).since(share(2, 1)), share(3, 2));
        assert_eq!([share(5, 3), share(2, 1)].into_iter().sum::<Share>(), share(7, 4));
    }

    #[test]
    fn a_thread_that_works_has_had_a_processor() {
        let before = Share::of_thread();
        (0..20_000_000_u64).for_each(|n| {
            black_box(n);
        });
        let (own, process) = (Share::of_thread().since(before), Share::of_process(Pid::this()));
        if !Path::new("/proc/thread-self/schedstat").exists() {
            println!("skipped: this kernel does not tell");
            return;
        }
        assert!(own.running > Duration::ZERO, "{own:?}");
        assert!(process.running >= own.running, "{process:?} {own:?}");
    }
}
