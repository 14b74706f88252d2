//! Where a hub is: an address and a port, or a name and a port. A name is looked up when the
//! gateway starts, and while it runs when the hub is silent.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;

/// What a string has to be.
const EXPECTED: &str =
    "expected an address or a name, and a port, as \"203.0.113.5:4500\" or \"hub.example.org:4500\"";

/// An address and a port, or a name and a port.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub enum Endpoint {
    /// An address and a port.
    Address(SocketAddr),
    /// A name and a port, as they were written.
    Name(String),
}

impl Endpoint {
    /// The name with its port, if it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Address(_) => None,
            Self::Name(name) => Some(name),
        }
    }
}

impl FromStr for Endpoint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(address) = text.parse() {
            return Ok(Self::Address(address));
        }
        let (name, port) = text.rsplit_once(':').ok_or(EXPECTED)?;
        let is_good = is_name(name) && port.parse::<u16>().is_ok_and(|port| port > 0);
        is_good.then(|| Self::Name(text.to_owned())).ok_or(EXPECTED)
    }
}

impl TryFrom<String> for Endpoint {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// Is it a host name (RFC 1123 §2.1)? Underscores are allowed, too. A name that ends with a number
/// is refused, since it is a mistyped address.
fn is_name(text: &str) -> bool {
    let labels = text.strip_suffix('.').unwrap_or(text).split('.').collect::<Vec<_>>();
    let is_label = |label: &&str| {
        let inner =
            label.bytes().all(|octet| octet.is_ascii_alphanumeric() || octet == b'-' || octet == b'_');
        inner && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    let ends_with_number =
        labels.last().is_some_and(|label| label.bytes().all(|octet| octet.is_ascii_digit()));
    text.len() <= 253 && labels.iter().all(is_label) && !ends_with_number
}

/// The addresses of each name, as they were found.
pub type Names = BTreeMap<String, Vec<SocketAddr>>;

/// How a name with its port is looked up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> io::Result<Vec<SocketAddr>>;

/// Asks the system's resolver, which may ask the network. It blocks until the system has an answer
/// or gives up.
///
/// # Errors
/// The name is unknown, or nobody answered.
pub fn ask_system(name: &str) -> io::Result<Vec<SocketAddr>> {
    Ok(name.to_socket_addrs()?.collect())
}

/// The address of an endpoint that can be reached from `own`, by [`ask_system`].
///
/// # Errors
/// What the endpoint should have been.
pub fn address_of(endpoint: &Endpoint, own: Option<IpAddr>) -> Result<SocketAddr, String> {
    Directory::new(&ask_system).address(endpoint, own)
}

/// Looks names up, each once.
pub(super) struct Directory<'a> {
    lookup: Lookup<'a>,
    found: Names,
}

impl<'a> Directory<'a> {
    pub(super) fn new(lookup: Lookup<'a>) -> Self {
        Self { lookup, found: Names::new() }
    }

    /// The address of an endpoint that can be reached from `own`. Of a name's addresses it is the
    /// first of the right family, in the system's order.
    pub(super) fn address(&mut self, endpoint: &Endpoint, own: Option<IpAddr>) -> Result<SocketAddr, String> {
        let name = match endpoint {
            Endpoint::Address(address) => return Ok(*address),
            Endpoint::Name(name) => name,
        };
        if !self.found.contains_key(name) {
            let addresses =
                (self.lookup)(name).map_err(|error| format!("a name that can be looked up: {error}"))?;
            self.found.insert(name.clone(), addresses);
        }
        let fits = |address: &&SocketAddr| own.is_none_or(|own| own.is_ipv4() == address.is_ipv4());
        let family = match own {
            Some(IpAddr::V4(_)) => "an IPv4 address",
            Some(IpAddr::V6(_)) => "an IPv6 address",
            None => "an address",
        };
        let address = self.found[name].iter().find(fits).copied();
        address.ok_or_else(|| format!("a name with {family}"))
    }

    pub(super) fn into_names(self) -> Names {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_an_address_or_a_name_with_a_port() {
        let address = |text: &str| Ok(Endpoint::Address(text.parse().expect("an address")));
        for text in ["203.0.113.5:4500", "[2001:db8::1]:4500"] {
            assert_eq!(text.parse(), address(text));
        }
        for text in ["hub.example.org:4500", "hub:1", "a-b.example.:65535", "4u.example:1"] {
            assert_eq!(text.parse(), Ok(Endpoint::Name(text.to_owned())));
        }
        let long = format!("{}.org:1", "a".repeat(64));
        let wrong = [
            "",
            ":",
            "hub",
            "hub:",
            ":4500",
            "hub:0",
            "hub:65536",
            "hub:x",
            "203.0.113.256:4500",
            "1.2.3:4500",
            "2001:db8::1:4500x",
            "a b:1",
            "-a:1",
            "a-:1",
            "a..b:1",
            &long,
        ];
        for text in wrong {
            assert_eq!(text.parse::<Endpoint>(), Err(EXPECTED), "{text}");
        }
    }

    #[test]
    fn a_name_is_looked_up_once_and_gives_an_address_of_the_family_that_is_needed() {
        let asked = std::cell::Cell::new(0);
        let lookup = |name: &str| {
            asked.set(asked.get() + 1);
            assert_eq!(name, "hub:1");
            Ok(vec!["[::1]:1".parse().expect("an address"), "127.0.0.1:1".parse().expect("an address")])
        };
        let mut directory = Directory::new(&lookup);
        let name = "hub:1".parse().expect("a name");
        let mut address = |own: Option<&str>| {
            let own = own.map(|own| own.parse().expect("an address"));
            directory.address(&name, own).map(|address| address.to_string())
        };
        assert_eq!(address(None), Ok("[::1]:1".into()));
        assert_eq!(address(Some("10.0.0.1")), Ok("127.0.0.1:1".into()));
        assert_eq!(address(Some("2001:db8::1")), Ok("[::1]:1".into()));
        assert_eq!(asked.get(), 1);
    }

    #[test]
    fn what_cannot_be_looked_up_is_told() {
        let nobody = |_: &str| Err(io::Error::other("nobody answers"));
        let name = "hub:1".parse().expect("a name");
        let told = Directory::new(&nobody).address(&name, None);
        assert_eq!(told, Err("a name that can be looked up: nobody answers".into()));
        let only_v4 = |_: &str| Ok(vec!["127.0.0.1:1".parse().expect("an address")]);
        let own = Some("::1".parse().expect("an address"));
        assert_eq!(Directory::new(&only_v4).address(&name, own), Err("a name with an IPv6 address".into()));
    }
}
