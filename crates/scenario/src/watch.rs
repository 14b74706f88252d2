//! How the loading of a scenario is watched and stopped: to draw its deployment can take long.

use ropewalk_routing::Progress;
use std::sync::atomic::{AtomicBool, Ordering};

/// What somebody on another thread may set and look at meanwhile. It has no part in any result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watch<'a> {
    /// Stops the drawing when it becomes true; what asked for it then fails.
    pub stop: Option<&'a AtomicBool>,
    /// How many deployments have been drawn, of how many at most.
    pub progress: Option<&'a Progress>,
}

impl Watch<'_> {
    /// Has it been stopped?
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}
