//! Two namespaces with lines between them that are as fast as the machine.

use std::io;
use std::path::PathBuf;
use std::process::Command;

/// Namespaces for a hub and a site. They are removed when this value is dropped.
pub struct Bare {
    name: String,
}

fn ip(arguments: &str) -> io::Result<()> {
    let output = Command::new("ip").args(arguments.split_whitespace()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

impl Bare {
    /// Makes both, with these lines between them. The lines are numbered from 1 and have the
    /// addresses 192.0.NUMBER.1 at the hub and 192.0.NUMBER.2 at the site.
    ///
    /// # Errors
    /// It needs root and `ip`.
    pub fn new(lines: &[&str]) -> io::Result<Self> {
        let bare = Self { name: format!("ropewalk-bare-{}", std::process::id()) };
        for host in ["hub", "site"] {
            let ns = bare.ns(host);
            ip(&format!("netns add {ns}"))?;
            ip(&format!("-n {ns} link set lo up"))?;
        }
        let (hub, site) = (bare.ns("hub"), bare.ns("site"));
        for (line, number) in lines.iter().zip(1..) {
            ip(&format!("-n {site} link add {line} type veth peer name {line} netns {hub}"))?;
            for (ns, host) in [(&hub, 1), (&site, 2)] {
                ip(&format!("-n {ns} address add 192.0.{number}.{host}/24 dev {line}"))?;
                ip(&format!("-n {ns} link set {line} up"))?;
            }
        }
        Ok(bare)
    }

    fn ns(&self, host: &str) -> String {
        format!("{}-{host}", self.name)
    }

    /// A host's namespace.
    pub fn namespace(&self, host: &str) -> PathBuf {
        PathBuf::from("/run/netns").join(self.ns(host))
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        for host in ["hub", "site"] {
            let _ = ip(&format!("netns del {}", self.ns(host)));
        }
    }
}
