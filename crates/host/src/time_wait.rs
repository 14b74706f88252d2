//! When a SYN ends TIME-WAIT (RFC 6191 §2).

use ropewalk_tcp::Connection;
use ropewalk_units::Seq;

/// An initial sequence number lies so far above the last number of the connection before, in
/// octets: no window without scaling reaches it (Linux adds as much in
/// `tcp_timewait_state_process`).
pub(crate) const APART: u32 = 65_537;

/// May a SYN with this number end a connection's TIME-WAIT? `stamp` is its TSval, if the new
/// connection would use timestamps.
///
/// Where the old one used them too, the peer's clock decides, and the sequence number where the
/// clock stands still. A new clock is enough where there was none. Otherwise the sequence number
/// has to be beyond the old ones.
pub(crate) fn may_end(old: &Connection, seq: Seq, stamp: Option<u32>) -> bool {
    let beyond = seq.after(old.rcv_nxt());
    match (old.recent_timestamp(), stamp) {
        (Some(recent), Some(stamp)) if stamp != recent => (stamp.wrapping_sub(recent) as i32) > 0,
        (None, Some(_)) => true,
        _ => beyond,
    }
}
