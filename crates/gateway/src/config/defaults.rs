//! Defaults of keys that a file leaves out, and the rule for names of interfaces.

/// Are system calls filtered?
pub(super) const fn is_filtered() -> bool {
    true
}

/// The user that root becomes.
pub(super) fn user() -> String {
    "nobody".to_owned()
}

/// The mark of a tunnel's own packets: "rp" in ASCII.
pub(super) const fn mark() -> u32 {
    0x7270
}

/// Ethernet's longest IP packet, in octets.
pub(super) const fn ethernet() -> u16 {
    1500
}

/// What is expected of an interface's name.
pub(super) const INTERFACE: &str = "a name of an interface: 1 to 15 characters without spaces and slashes";

/// May an interface have this name?
pub(super) fn interface_is_good(name: &str) -> bool {
    (1..=15).contains(&name.len()) && name.chars().all(|sign| sign.is_ascii_graphic() && sign != '/')
}
