//! The processors of this machine, and what other machines took of their time.

use ropewalk_units::Duration;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Those that this thread may run on.
pub(super) fn all() -> Vec<usize> {
    let set = sched_getaffinity(None).expect("a thread may ask where it may run");
    (0..CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor)).collect()
}

/// This thread runs nowhere else from now on.
pub(super) fn stay_on(processor: usize) {
    let mut set = CpuSet::new();
    set.set(processor);
    sched_setaffinity(None, &set).expect("it ran there before");
}

/// The time of all processors since the start that the hypervisor gave to others. Zero where the
/// kernel does not know.
pub(super) fn stolen() -> Duration {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    // proc_stat(5): "cpu", then user, nice, system, idle, iowait, irq, softirq and steal, in
    // hundredths of a second.
    let ticks = text.lines().next().and_then(|line| line.split_whitespace().nth(8)?.parse::<u64>().ok());
    Duration::from_millis(ticks.unwrap_or(0) * 10)
}
