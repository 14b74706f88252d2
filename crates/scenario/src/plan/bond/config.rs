//! A bond's keys as the configuration of its gateways, and back.

use crate::error::ScenarioError;
use crate::plan::context::Context;
use crate::plan::{BondPlan, LinkPlan, PathPlan};
use crate::schema::bond::{BondKeys, BondTable, ClassTable, MemberTable};
use crate::schema::quantity::Name;
use ropewalk_bonding::{Config, ConfigError, PathConfig, PathId};

/// What both gateways of a bond run; `base` is the table's place in the file.
pub(super) fn config(context: &Context<'_>, base: &str, table: &BondTable) -> Result<Config, ScenarioError> {
    let mut config = table.config();
    config.validate().map_err(|error| refused(context, base, table, &error))?;
    // A default that is said is the same plan.
    config.paths = (0..config.paths.len()).map(|place| config.explicit_path(PathId(place as u8))).collect();
    Ok(config)
}

/// Does a costlier path of weighted round robin begin with a weight?
pub(super) fn has_first_weights(config: &Config) -> bool {
    let cheapest = config.paths.iter().map(|path| path.cost).min().flatten();
    let has_one = |path: &PathConfig| path.cost > cheapest && path.weight > Some(0);
    config.scheduler.is_weighted_round_robin() && config.paths.iter().any(has_one)
}

/// The core names a path by its name, the file by its place.
fn refused(context: &Context<'_>, base: &str, table: &BondTable, error: &ConfigError) -> ScenarioError {
    let mut key = error.key().to_owned();
    let mut subject = format!("`{}`", leaf(error.key()));
    for (index, member) in table.paths.iter().enumerate() {
        let name = member.fields().link.as_str();
        if let Some(field) = error.key().strip_prefix(&format!("paths.{name}.")) {
            key = format!("paths[{index}].{field}");
            subject = format!("`{field}` of the path `{name}`");
        }
    }
    let key = format!("{base}.{key}");
    let message = match (context.document.find(&key), error.conflict()) {
        (Some(_), _) => format!("{subject} cannot be used"),
        (None, None) => format!("{subject} is missing"),
        (None, Some(conflict)) => {
            let (value, with) = (&conflict.value, leaf(conflict.with));
            format!("{subject} is not given, and its default ({value}) conflicts with `{with}`")
        }
    };
    context.wrong(&key, message, error.expected())
}

/// The last part of a dotted key.
fn leaf(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(_, leaf)| leaf)
}

/// The table that would say everything.
pub(crate) fn explicit(between: [String; 2], bond: &BondPlan, links: &[LinkPlan]) -> Option<BondTable> {
    let config = &bond.config;
    let member = |(place, path): (usize, &PathPlan)| {
        let via: Vec<Name> =
            path.forward[1..].iter().map(|&(link, _)| Name(links[link].name.clone())).collect();
        MemberTable::explicit(config.explicit_path(PathId(place as u8)), (!via.is_empty()).then_some(via))
    };
    let paths = bond.paths.iter().enumerate().map(member).collect();
    let keys = BondKeys { between, paths, run_up: bond.run_up };
    let classes = bond.classes.iter().filter_map(ClassTable::show).collect();
    Some(BondTable { classes, ..BondTable::explicit(&keys, config)? })
}
