//! What a machine lacks for Linux hosts, and the command that mends it.

use crate::error::{Error, Step};
use crate::lease;
use crate::machine::Machine;
use crate::namespace;
use crate::wakeful;

/// The kernel's names of the congestion controls that scenarios can ask for.
const CONTROLS: [&str; 4] = ["reno", "cubic", "bbr", "dctcp"];

/// The command that installs the daemon, which scenarios with `stack = "gateway"` need.
const INSTALL_GATEWAY: &str = "cargo install --path crates/gateway";

/// One thing that was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What.
    pub what: String,
    /// How it was found.
    pub found: String,
    /// The command that mends it, if something is missing.
    pub remedy: Option<String>,
}

impl Finding {
    fn new(what: &str, found: impl Into<String>, remedy: Option<&str>) -> Self {
        Self { what: what.to_owned(), found: found.into(), remedy: remedy.map(str::to_owned) }
    }

    /// Something that is there or not.
    fn given(what: &str, is_there: bool, found: &str, remedy: &str) -> Self {
        if is_there { Self::new(what, "yes", None) } else { Self::new(what, found, Some(remedy)) }
    }
}

/// Looks at this machine.
pub fn examine() -> Vec<Finding> {
    let mut findings = of(&Machine::look());
    let names = namespace::names().unwrap_or_default();
    if !names.is_empty() {
        let found = format!("{}: of runs that go on, or left by dead ones", names.join(", "));
        findings.push(Finding::new("namespaces of runs", found, Some("ropewalk doctor --clean")));
    }
    findings
}

/// The findings about this machine.
fn of(machine: &Machine) -> Vec<Finding> {
    let capable = "CAP_NET_ADMIN or CAP_SYS_ADMIN is missing";
    let mut findings = vec![
        Finding::given("capabilities", machine.capable, capable, "sudo ropewalk run …"),
        Finding::given("network namespaces", machine.namespaces, "no", "a kernel with CONFIG_NET_NS"),
        match &machine.tun {
            None => Finding::new("TUN interfaces", "yes", None),
            Some(reason) => {
                Finding::new("TUN interfaces", format!("/dev/net/tun: {reason}"), Some("modprobe tun"))
            }
        },
        Finding::given(
            "IPv6",
            machine.ipv6,
            "no",
            "a kernel with CONFIG_IPV6, started without ipv6.disable=1",
        ),
        Finding::given(
            "Multipath TCP",
            machine.mptcp,
            "no",
            "a kernel with CONFIG_MPTCP (Linux 5.6 or later)",
        ),
    ];
    if machine.mptcp {
        let limits = "9 subflows of a connection, 8 endpoints and 8 announced addresses of a host";
        findings.push(Finding::new("its limits", limits, None));
    }
    findings.push(match &machine.gateway {
        Some(path) => Finding::new("bonding gateways", path.display().to_string(), None),
        None => {
            Finding::new("bonding gateways", "there is no program ropewalk-gateway", Some(INSTALL_GATEWAY))
        }
    });
    findings.push(match &machine.sleepy {
        None => Finding::new("idle processors", "stay awake while a run lasts", None),
        Some(reason) => {
            let found = format!("sleep, so packets may be late: {}: {reason}", wakeful::DEVICE);
            Finding::new("idle processors", found, None)
        }
    });
    let missing = |name: &&str| !machine.controls.iter().any(|known| known == *name);
    let modules = CONTROLS.iter().filter(|name| missing(name)).map(|name| format!("modprobe tcp_{name}"));
    let modules = modules.collect::<Vec<_>>().join("; ");
    let remedy = Some(modules.as_str()).filter(|modules| !modules.is_empty());
    findings.push(Finding::new("congestion controls", machine.controls.join(", "), remedy));
    findings
}

/// Removes what runs have left whose owners are dead; gives the names of the namespaces.
///
/// # Errors
/// [`Error::Kernel`]
pub fn clean() -> Result<Vec<String>, Error> {
    lease::clean().map_err(|source| Error::Kernel { step: Step::Clean, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn able() -> Machine {
        let controls = CONTROLS.map(str::to_owned).to_vec();
        let gateway = Some("/usr/bin/ropewalk-gateway".into());
        Machine {
            capable: true,
            tun: None,
            namespaces: true,
            ipv6: true,
            mptcp: true,
            controls,
            sleepy: None,
            gateway,
        }
    }

    #[test]
    fn a_machine_that_can_do_all_needs_no_remedy() {
        assert!(of(&able()).iter().all(|finding| finding.remedy.is_none()));
    }

    #[test]
    fn what_is_missing_has_a_remedy() {
        let controls = vec!["reno".to_owned(), "cubic".to_owned()];
        let unable = Machine {
            capable: false,
            tun: Some("not found".into()),
            namespaces: false,
            ipv6: false,
            mptcp: false,
            controls,
            sleepy: Some("not found".into()),
            gateway: None,
        };
        let remedies = of(&unable).into_iter().filter_map(|finding| finding.remedy);
        let expected = [
            "sudo ropewalk run …",
            "a kernel with CONFIG_NET_NS",
            "modprobe tun",
            "a kernel with CONFIG_IPV6, started without ipv6.disable=1",
            "a kernel with CONFIG_MPTCP (Linux 5.6 or later)",
            INSTALL_GATEWAY,
            "modprobe tcp_bbr; modprobe tcp_dctcp",
        ];
        assert_eq!(remedies.collect::<Vec<_>>(), expected);
    }
}
