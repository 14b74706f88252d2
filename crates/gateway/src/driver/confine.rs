//! Takes privileges from the process when everything is set up.

use super::filter::{Seccomp, filter};
use caps::{CapSet, Capability, CapsHashSet};
use landlock::{
    ABI, Access, AccessFs, AccessNet, NetPort, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, RulesetStatus, path_beneath_rules,
};
use nix::unistd::{Gid, Uid, User, geteuid, setgroups, setresgid, setresuid};
use std::io;
use std::path::Path;

/// The newest rules of Landlock that are asked for. A kernel applies those that it knows.
const RULES: ABI = ABI::V5;

/// Capabilities that are kept. Marks, interfaces and rules need the first. Binding a socket to an
/// interface needs the second on Linux before 5.7.
const KEPT: [Capability; 2] = [Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW];

/// Folders with what the system's resolver reads: its configuration, its modules, and sockets of
/// local name servers.
const READ_FOR_LOOKUPS: [&str; 8] =
    ["/etc", "/usr", "/lib", "/lib64", "/run", "/var", "/nix", "/dev/urandom"];
/// The port of name servers.
const DNS: u16 = 53;

/// Who a process becomes, and what it keeps.
#[derive(Clone, Debug)]
pub(super) struct Confinement<'a> {
    /// The name of the user that root becomes.
    pub(super) user: &'a str,
    /// Do sockets that may have to be opened again have ports that only root may bind?
    pub(super) has_low_ports: bool,
    /// The folder from which files may be removed at the end.
    pub(super) folder: Option<&'a Path>,
    /// Are system calls filtered?
    pub(super) seccomp: Seccomp,
}

/// Gives up all privileges that are not needed any more. Threads that begin later do not have them
/// either.
///
/// # Errors
/// There is no such user, or the kernel refuses.
pub(super) fn confine(confinement: &Confinement<'_>) -> io::Result<()> {
    let mut kept = KEPT.into_iter().collect::<CapsHashSet>();
    if confinement.has_low_ports {
        kept.insert(Capability::CAP_NET_BIND_SERVICE);
    }
    let had = caps::read(None, CapSet::Permitted).map_err(io::Error::other)?;
    kept.retain(|capability| had.contains(capability));
    if had.contains(&Capability::CAP_SETPCAP) {
        bound(&kept)?;
    }
    if geteuid().is_root() {
        become_user(confinement.user)?;
    }
    for (set, wanted) in
        [(CapSet::Effective, &kept), (CapSet::Permitted, &kept), (CapSet::Inheritable, &CapsHashSet::new())]
    {
        caps::set(None, set, wanted).map_err(io::Error::other)?;
    }
    nix::sys::prctl::set_no_new_privs()?;
    lock_files(confinement.folder)?;
    filter(confinement.seccomp);
    Ok(())
}

/// Limits the bounding set, so that no program that this process starts can have more.
fn bound(kept: &CapsHashSet) -> io::Result<()> {
    let known = caps::read(None, CapSet::Bounding).map_err(io::Error::other)?;
    let dropped = known.difference(kept);
    dropped
        .into_iter()
        .try_for_each(|&capability| caps::drop(None, CapSet::Bounding, capability))
        .map_err(io::Error::other)
}

pub(super) fn become_user(name: &str) -> io::Result<()> {
    let user = User::from_name(name)?;
    let user = user.ok_or_else(|| io::Error::other(format!("there is no user {name}: `user` names one")))?;
    if user.uid == Uid::from_raw(0) {
        tracing::warn!("it stays root, as configured");
        return Ok(());
    }
    caps::securebits::set_keepcaps(true).map_err(io::Error::other)?;
    setgroups(&[])?;
    setresgid(user.gid, user.gid, user.gid)?;
    setresuid(user.uid, user.uid, user.uid)?;
    Ok(())
}

/// Root becomes a user and a group of this number, which need no name.
pub(super) fn become_number(number: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(number), Gid::from_raw(number));
    setgroups(&[])?;
    setresgid(group, group, group)?;
    setresuid(user, user, user)?;
    Ok(())
}

/// Gives up all capabilities of this thread.
///
/// # Errors
/// The kernel refuses.
pub fn give_up_capabilities() -> io::Result<()> {
    let sets = [CapSet::Effective, CapSet::Permitted];
    sets.into_iter().try_for_each(|set| caps::clear(None, set)).map_err(io::Error::other)
}

/// Leaves what a process needs that only looks names up: it has no capability, writes no file, and
/// connects by TCP to name servers alone. `become_other` makes it another user.
///
/// # Errors
/// The kernel refuses.
pub(super) fn lock_to_lookups(become_other: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let had = caps::read(None, CapSet::Permitted).map_err(io::Error::other)?;
    if had.contains(&Capability::CAP_SETPCAP) {
        bound(&CapsHashSet::new())?;
    }
    if geteuid().is_root() {
        become_other()?;
    }
    for set in [CapSet::Ambient, CapSet::Effective, CapSet::Permitted, CapSet::Inheritable] {
        caps::clear(None, set).map_err(io::Error::other)?;
    }
    nix::sys::prctl::set_no_new_privs()?;
    restrict(|rules| {
        rules
            .add_rules(path_beneath_rules(READ_FOR_LOOKUPS, AccessFs::ReadFile | AccessFs::ReadDir))?
            .add_rule(NetPort::new(DNS, AccessNet::ConnectTcp))
    })
}

/// Forbids opening files, and binding or connecting TCP sockets. Only in `folder` may files be
/// listed and removed.
fn lock_files(folder: Option<&Path>) -> io::Result<()> {
    restrict(|rules| rules.add_rules(path_beneath_rules(folder, AccessFs::RemoveFile | AccessFs::ReadDir)))
}

/// Forbids what Landlock can forbid, but for what `allow` adds.
fn restrict(allow: impl FnOnce(RulesetCreated) -> Result<RulesetCreated, RulesetError>) -> io::Result<()> {
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(RULES))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(RULES)))
        .and_then(Ruleset::create)
        .and_then(allow)
        .and_then(RulesetCreated::restrict_self)
        .map_err(io::Error::other)?;
    if status.ruleset == RulesetStatus::NotEnforced {
        tracing::info!("the kernel has no Landlock: it is left out");
    }
    Ok(())
}
