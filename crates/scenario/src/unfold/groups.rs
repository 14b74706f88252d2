//! Which names stand for several.

use std::collections::BTreeMap;

/// The members of a group, in their order.
pub(super) type Members = Vec<String>;

/// All groups of a document, by name.
#[derive(Default, Debug)]
pub(super) struct Groups {
    /// Of hosts and routers.
    pub(super) nodes: BTreeMap<String, Members>,
    /// Of links.
    pub(super) links: BTreeMap<String, Members>,
}

impl Groups {
    /// The nodes that a name stands for: itself, unless it is a group's.
    pub(super) fn nodes(&self, name: &str) -> Members {
        self.nodes.get(name).cloned().unwrap_or_else(|| vec![name.to_owned()])
    }
}

/// The names of so many members of a group; one alone is called as the group.
pub(super) fn members(name: &str, count: usize) -> Members {
    if count == 1 {
        vec![name.to_owned()]
    } else {
        (1..=count).map(|index| format!("{name}-{index}")).collect()
    }
}

/// The names of so many members that always have a number.
pub(super) fn numbered(name: &str, count: usize) -> Members {
    (1..=count).map(|index| format!("{name}-{index}")).collect()
}
