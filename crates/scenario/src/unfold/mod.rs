//! Shorthand, written out before anything is read: templates of topologies, counted hosts, routers and links, and
//! connections between groups of hosts.

mod counts;
mod groups;
mod pairs;
mod template;
mod tree;

use crate::document::{Document, Fault};
use groups::Groups;

/// Members that one group may have.
const MOST_MEMBERS: u64 = 4096;

/// Puts what the shorthand of a document stands for in its place. A table of a member's own name changes the member.
pub(crate) fn unfold(document: &mut Document) -> Result<(), Fault> {
    let mut groups = Groups::default();
    template::unfold(&mut document.root, &mut groups)?;
    counts::nodes(&mut document.root, &mut groups)?;
    counts::links(&mut document.root, &mut groups)?;
    pairs::connections(&mut document.root, &groups)
}
