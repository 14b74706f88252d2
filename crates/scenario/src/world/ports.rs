//! Endpoints by local port: two levels of 256, so that a host with one connection needs 3 kB, and a look-up is
//! two loads.

/// No endpoint has the port.
pub(crate) const NOBODY: u32 = u32::MAX;

/// Endpoint index by local port.
#[derive(Debug, Default)]
pub(crate) struct PortTable {
    pages: Vec<Option<Box<[u32; 256]>>>,
}

impl PortTable {
    /// The endpoint at a port, or [`NOBODY`].
    #[inline]
    pub(crate) fn get(&self, port: u16) -> u32 {
        let page = self.pages.get(usize::from(port >> 8)).and_then(Option::as_ref);
        page.map_or(NOBODY, |page| page[usize::from(port & 0xff)])
    }

    /// Gives a port to an endpoint.
    pub(crate) fn insert(&mut self, port: u16, endpoint: u32) {
        let page = usize::from(port >> 8);
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        self.pages[page].get_or_insert_with(|| Box::new([NOBODY; 256]))[usize::from(port & 0xff)] = endpoint;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_found_again_and_others_are_nobodys() {
        let mut table = PortTable::default();
        for (port, endpoint) in [(0, 1), (255, 2), (256, 3), (65_535, 4)] {
            assert_eq!(table.get(port), NOBODY);
            table.insert(port, endpoint);
            assert_eq!(table.get(port), endpoint);
        }
        assert_eq!(table.get(1), NOBODY);
    }
}
