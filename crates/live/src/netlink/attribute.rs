//! Attributes: type, length and value, on words of four octets.

/// Octets of an attribute's header.
const HEADER: usize = 4;
/// Marks an attribute that holds others.
const NESTED: u16 = 1 << 15;
/// The bits of the type that are no flags.
const TYPE: u16 = 0x3fff;

/// Appends an attribute.
pub(super) fn push(octets: &mut Vec<u8>, kind: u16, value: &[u8]) {
    octets.extend(((HEADER + value.len()) as u16).to_ne_bytes());
    octets.extend(kind.to_ne_bytes());
    octets.extend(value);
    octets.resize(octets.len().next_multiple_of(HEADER), 0);
}

/// Appends an attribute that holds others.
pub(super) fn push_nested(octets: &mut Vec<u8>, kind: u16, inner: &[u8]) {
    push(octets, kind | NESTED, inner);
}

/// The value of the first attribute of a type.
pub(super) fn find(octets: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut rest = octets;
    while let [a, b, c, d, ..] = rest {
        let len = usize::from(u16::from_ne_bytes([*a, *b]));
        let value = rest.get(HEADER..len)?;
        if u16::from_ne_bytes([*c, *d]) & TYPE == wanted {
            return Some(value);
        }
        rest = rest.get(len.next_multiple_of(HEADER)..).unwrap_or_default();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_is_found() {
        let (mut inner, mut all) = (Vec::new(), Vec::new());
        push(&mut inner, 7, &[1, 2, 3]);
        push(&mut inner, 8, &[4]);
        push_nested(&mut all, 3, &inner);
        let nested = find(&all, 3).expect("it is there");
        assert_eq!((find(nested, 7), find(nested, 8)), (Some(&[1, 2, 3][..]), Some(&[4][..])));
        assert_eq!(find(&all, 7), None);
    }

    #[test]
    fn octets_that_are_no_attributes_are_none() {
        assert_eq!(find(&[1, 0, 5, 0], 5), None);
        assert_eq!(find(&[9, 0, 5, 0, 1], 5), None);
        assert_eq!(find(&[4, 0, 5], 5), None);
    }
}
