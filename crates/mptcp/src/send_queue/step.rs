//! Turns of loops are counted in tests. Elsewhere this is nothing.

/// Notes a turn of a loop.
pub(super) fn step() {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

#[cfg(test)]
thread_local! {
    /// The turns of this test.
    pub(super) static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
