//! Which site has an inner address: the longest prefix decides.

use ipnet::IpNet;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Prefixes and whose they are.
#[derive(Clone, Debug, Default)]
pub struct Prefixes {
    owners: BTreeMap<IpNet, usize>,
    /// The lengths there are, the longest first.
    lengths_v4: Vec<u8>,
    lengths_v6: Vec<u8>,
}

impl Prefixes {
    /// Adds one. Gives the owner it had before.
    pub fn insert(&mut self, prefix: IpNet, owner: usize) -> Option<usize> {
        let prefix = prefix.trunc();
        let lengths = match prefix {
            IpNet::V4(_) => &mut self.lengths_v4,
            IpNet::V6(_) => &mut self.lengths_v6,
        };
        if let Err(place) = lengths.binary_search_by(|length| prefix.prefix_len().cmp(length)) {
            lengths.insert(place, prefix.prefix_len());
        }
        self.owners.insert(prefix, owner)
    }

    /// Whose address it is.
    pub fn owner(&self, address: IpAddr) -> Option<usize> {
        let lengths = if address.is_ipv4() { &self.lengths_v4 } else { &self.lengths_v6 };
        lengths.iter().find_map(|&length| {
            let prefix = IpNet::new(address, length).expect("a length of a prefix of this family").trunc();
            self.owners.get(&prefix).copied()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_longest_decides() {
        let mut prefixes = Prefixes::default();
        let all = ["10.0.0.0/8", "10.1.0.0/16", "0.0.0.0/0", "fd00::/8"];
        all.iter().zip(0..).for_each(|(text, owner)| {
            assert_eq!(prefixes.insert(text.parse().expect("a prefix"), owner), None);
        });
        let owner = |text: &str| prefixes.owner(text.parse().expect("an address"));
        assert_eq!(owner("10.1.2.3"), Some(1));
        assert_eq!(owner("10.2.2.3"), Some(0));
        assert_eq!(owner("192.0.2.1"), Some(2));
        assert_eq!(owner("fd12::1"), Some(3));
        assert_eq!(owner("2001:db8::1"), None);
    }

    proptest! {
        #[test]
        fn agrees_with_looking_at_all(all in prop::collection::vec((any::<[u8; 4]>(), 0u8..=32), 0..20), address: [u8; 4]) {
            let mut prefixes = Prefixes::default();
            let mut nets = Vec::new();
            for (owner, (octets, length)) in all.into_iter().enumerate() {
                let net = IpNet::new(IpAddr::from(octets), length).expect("a length that is possible").trunc();
                prefixes.insert(net, owner);
                nets.retain(|(known, _)| *known != net);
                nets.push((net, owner));
            }
            let address = IpAddr::from(address);
            let best = nets.iter().filter(|(net, _)| net.contains(&address)).max_by_key(|(net, _)| net.prefix_len());
            prop_assert_eq!(prefixes.owner(address), best.map(|(_, owner)| *owner));
        }
    }
}
