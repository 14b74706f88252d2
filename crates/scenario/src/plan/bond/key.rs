//! Where the file names the links of a bond's paths.

use crate::plan::context::Context;

/// Where the file names the first link of a bond's path.
pub(super) fn member_key(context: &Context<'_>, bond: &str, index: usize) -> String {
    let key = format!("bonds.{bond}.paths[{index}]");
    let mut bonds = context.file.bonds.iter().filter(|(name, _)| name.as_str() == bond);
    let is_name = bonds.next().is_some_and(|(_, table)| table.paths[index].is_name());
    if is_name { key } else { format!("{key}.link") }
}
