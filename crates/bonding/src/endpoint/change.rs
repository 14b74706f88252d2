//! Keys of paths that change while packets flow.

use super::Endpoint;
use crate::config::{Config, ConfigError, PathConfig};
use crate::path::Quota;
use crate::queue::Payload;
use crate::scheduler::AnyScheduler;
use ropewalk_units::Instant;

impl<P: Payload> Endpoint<P> {
    /// The configuration in use.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Gives the paths other keys: costs, weights, quotas. What waits, what is on its way and what
    /// was measured stays. A quota goes on in the period that runs, with what was spent in it. Weights
    /// begin anew if a cost or a weight is another one.
    ///
    /// # Errors
    ///
    /// The paths are not those of this bond, in its order, or a key is out of bounds. Then all stays
    /// as it was.
    pub fn set_path_keys(&mut self, now: Instant, paths: Vec<PathConfig>) -> Result<(), ConfigError> {
        if !self.config.paths.iter().map(|path| &path.name).eq(paths.iter().map(|path| &path.name)) {
            return Err(ConfigError::new("paths", "the bond's own paths, in their order"));
        }
        let config = Config { paths, ..self.config.clone() };
        config.validate()?;
        let now = self.tell(now);
        for (path, keys) in self.paths.iter_mut().zip(&config.paths) {
            let before = std::mem::replace(&mut path.quota, Quota::new(keys, now));
            path.quota.resume(&before);
        }
        let ranks = |config: &Config| {
            let rank = |path: &PathConfig| (path.cost, path.weight, path.max_weight);
            config.paths.iter().map(rank).collect::<Vec<_>>()
        };
        if ranks(&config) != ranks(&self.config) {
            self.scheduler = AnyScheduler::new(&config, now);
        }
        self.config = config;
        self.find_usable();
        Ok(())
    }
}
