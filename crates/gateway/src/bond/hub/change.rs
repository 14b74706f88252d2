//! Keys of sites' paths at the hub's end, as they can be changed while it runs.

use super::Hub;
use crate::bond::path_row::{PathKeys, SitePathChange};
use ropewalk_bonding::{Config, ConfigError, PathConfig};
use ropewalk_units::Instant;

/// Checks the keys of one path before its site has told the costs of all. It is taken for the dearest of three.
///
/// # Errors
/// What is wrong with them, or with the bond.
pub fn check_alone(bond: &Config, path: Option<&PathConfig>) -> Result<(), ConfigError> {
    let others = [PathConfig::new("\0a", Some(0)), PathConfig::new("\0b", Some(1))];
    let own = path.map(|path| PathConfig { cost: Some(2), ..path.clone() });
    Config { paths: others.into_iter().chain(own).collect(), ..bond.clone() }.validate()
}

/// `path` with the keys of the hub's end. Its cost is what the site says.
pub(super) fn with_keys(path: &PathConfig, keys: &PathConfig) -> PathConfig {
    PathConfig { cost: path.cost, ..keys.clone() }
}

impl Hub {
    /// Gives a site's path other keys, in its bond and in those to come.
    ///
    /// # Errors
    /// There is no such site or path, or what is wrong with the keys. Then all stays as it was.
    pub fn set_path(&mut self, now: Instant, change: &SitePathChange) -> Result<(), String> {
        let SitePathChange { site, path, keys } = change;
        let place = self.config.sites.iter().position(|known| known.name == *site);
        let place = place.ok_or_else(|| format!("there is no site {site}"))?;
        if keys.cost.is_some() {
            return Err(format!("no --cost at a hub: {site} tells that of its paths"));
        }
        let new = self.changed(place, path, *keys);
        let new =
            new.ok_or_else(|| format!("{site} has no path {path} now, and none of this name is configured"))?;
        self.use_keys(now, place, &new).map_err(|error| error.to_string())?;
        let known = &mut self.config.sites[place].paths;
        known.retain(|own| own.name != *path);
        known.push(new);
        Ok(())
    }

    /// The keys of a path with those that change. `None`: it is neither configured nor in use.
    fn changed(&self, site: usize, path: &str, keys: PathKeys) -> Option<PathConfig> {
        let in_use = self.places[site].tunnel.iter().flat_map(|(_, tunnel)| tunnel.paths());
        let known = self.config.sites[site].paths.iter().chain(in_use).find(|own| own.name == path)?;
        Some(PathConfig { cost: None, ..keys.or(PathKeys::of(known)).set(known.clone()) })
    }

    /// Puts keys of a path to use in the site's bond, if there is one and it has this path.
    fn use_keys(&mut self, now: Instant, site: usize, new: &PathConfig) -> Result<(), ConfigError> {
        let tunnel = self.places[site].tunnel.as_mut().map(|(_, tunnel)| tunnel);
        let Some(tunnel) = tunnel.filter(|tunnel| tunnel.paths().iter().any(|path| path.name == new.name))
        else {
            return check_alone(&self.config.bond, Some(new));
        };
        let mut paths = tunnel.paths().to_vec();
        paths.iter_mut().filter(|path| path.name == new.name).for_each(|path| *path = with_keys(path, new));
        tunnel.set_path_keys(now, paths)?;
        self.touch(site);
        Ok(())
    }
}
