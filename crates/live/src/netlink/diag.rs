//! What the kernel's TCP and Multipath TCP sockets have counted: `sock_diag`
//! (`uapi/linux/inet_diag.h`, `uapi/linux/tcp.h`, `uapi/linux/mptcp.h`).

use super::Netlink;
use super::attribute::{find, push};
use super::raw::Raw;
use netlink_packet_core::NLM_F_DUMP;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use ropewalk_scenario::MptcpSample;
use ropewalk_scenario::plan::AddressFamily;
use std::io;
use std::net::{IpAddr, SocketAddr};

const BY_FAMILY: u16 = 20;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
const IPPROTO_MPTCP: u32 = 262;
/// The request's attribute for a protocol whose number has no room in it.
const PROTOCOL: u16 = 3;
/// The attribute with `struct tcp_info` or `struct mptcp_info`.
const INFO: u16 = 2;
/// Octets of the request's socket id, whose zeros stand for any.
const ANY_SOCKET: [u8; 48] = [0; 48];
/// Octets of `struct inet_diag_msg`, before its attributes.
const MESSAGE: usize = 72;
/// Where the inode is in it.
const INODE: usize = 68;
/// The bit of `mptcpi_flags` that tells a fallback: MPTCP_INFO_FLAG_FALLBACK.
const FALLBACK: u32 = 1;
/// The bit that tells that the peer's key is known: MPTCP_INFO_FLAG_REMOTE_KEY_RECEIVED.
const HAS_PEERS_KEY: u32 = 2;
/// Every state except TIME-WAIT, CLOSE, LISTEN and the half-open request, which have nothing to
/// tell.
const STATES: u32 = 0xfff & !(1 << 6 | 1 << 7 | 1 << 10);

/// States in which the peer has acknowledged our FIN: FIN-WAIT-2. TIME-WAIT is not among
/// [`STATES`].
const FIN_ACKED: [u8; 1] = [5];

/// A socket of TCP, which may be a subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TcpSocket {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// Is its FIN acknowledged? That counts as an octet.
    pub(crate) fin_acked: bool,
    /// The inode by which the process that has it knows it; 0 if none has.
    pub(crate) inode: u32,
    pub(crate) info: TcpInfo,
}

/// What is read of `struct tcp_info`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TcpInfo {
    /// Sender's segment size in octets.
    pub(crate) mss: u32,
    /// Segments that are on their way.
    pub(crate) unacked: u32,
    /// Smoothed round-trip time in microseconds; 0 before the first measurement.
    pub(crate) rtt_us: u32,
    /// Slow-start threshold in segments.
    pub(crate) ssthresh: u32,
    /// Congestion window in segments.
    pub(crate) cwnd: u32,
    /// Segments sent again.
    pub(crate) retransmissions: u32,
    /// Octets acknowledged, SYN and FIN among them.
    pub(crate) bytes_acked: u64,
    /// Octets received, SYN and FIN among them.
    pub(crate) bytes_received: u64,
    /// Segments sent, pure ACKs among them.
    pub(crate) segments_out: u32,
    /// Duplicates that DSACK reported; `None` where the kernel does not tell.
    pub(crate) dsack_dups: Option<u32>,
    /// Retransmission timeouts; `None` where the kernel does not tell.
    pub(crate) timeouts: Option<u16>,
}

impl TcpInfo {
    /// Smoothed round-trip time, once there is one.
    pub(crate) fn srtt_ms(&self) -> Option<f64> {
        (self.rtt_us > 0).then(|| f64::from(self.rtt_us) * 1e-3)
    }

    /// Kernels append fields: what is not there is not known.
    fn read(octets: &[u8]) -> Option<Self> {
        let word = |at: usize| octets.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
        let long = |at: usize| octets.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes);
        let half = |at: usize| octets.get(at..at + 2)?.try_into().ok().map(u16::from_ne_bytes);
        Some(Self {
            mss: word(16)?,
            unacked: word(24)?,
            rtt_us: word(68)?,
            ssthresh: word(76)?,
            cwnd: word(80)?,
            retransmissions: word(100)?,
            bytes_acked: long(120)?,
            bytes_received: long(128)?,
            segments_out: word(136)?,
            dsack_dups: word(216),
            timeouts: half(240),
        })
    }
}

/// A socket of Multipath TCP, with the addresses of its first subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MptcpSocket {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) info: MptcpSample,
}

/// Reads `struct mptcp_info`. Kernels append fields: what is not there is not known. Counts of
/// octets came with Linux 6.5, the number of all subflows with 6.8. Where `mptcpi_retransmits` is,
/// older kernels have padding: it is there if the counts behind it are.
fn mptcp_info(octets: &[u8]) -> MptcpSample {
    let octet = |at: usize| octets.get(at).copied().map(u32::from);
    let word = |at: usize| octets.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
    let long = |at: usize| octets.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes);
    MptcpSample {
        further_subflows: octet(0),
        is_fallen_back: word(8).map(|flags| flags & FALLBACK != 0),
        write_seq: long(16),
        snd_una: long(24),
        // Without the peer's key nobody knows which DSN comes first.
        rcv_nxt: long(32).filter(|_| word(8).is_some_and(|flags| flags & HAS_PEERS_KEY != 0)),
        retransmits: long(48).and(word(44)),
        reinjected_bytes: long(48),
        sent_bytes: long(56),
        received_bytes: long(64),
        acked_bytes: long(72),
        subflows: octet(80),
    }
}

/// The sockets of the namespace in which it was opened.
pub(crate) struct Diag {
    netlink: Netlink,
    /// Which sockets are looked at.
    family: AddressFamily,
}

impl Diag {
    pub(crate) fn open(family: AddressFamily) -> io::Result<Self> {
        Ok(Self { netlink: Netlink::open(NETLINK_SOCK_DIAG)?, family })
    }

    fn dump(&mut self, octets: Vec<u8>) -> io::Result<Vec<Raw>> {
        self.netlink.request(Raw { kind: BY_FAMILY, octets }, NLM_F_DUMP)
    }

    /// All sockets of TCP with a peer.
    pub(crate) fn tcp(&mut self) -> io::Result<Vec<TcpSocket>> {
        let answers = self.dump(request(self.family, IPPROTO_TCP))?;
        Ok(answers.iter().filter_map(|answer| tcp(&answer.octets)).collect())
    }

    /// All sockets of Multipath TCP with a peer. A kernel without CONFIG_INET_MPTCP_DIAG refuses.
    pub(crate) fn mptcp(&mut self) -> io::Result<Vec<MptcpSocket>> {
        let mut octets = request(self.family, 0);
        push(&mut octets, PROTOCOL, &IPPROTO_MPTCP.to_ne_bytes());
        let answers = self.dump(octets)?;
        Ok(answers.iter().filter_map(|answer| mptcp(&answer.octets)).collect())
    }
}

fn request(family: AddressFamily, protocol: u8) -> Vec<u8> {
    let family = match family {
        AddressFamily::Ipv4 => AF_INET,
        AddressFamily::Ipv6 => AF_INET6,
    };
    let mut octets = vec![family, protocol, 1 << (INFO - 1), 0];
    octets.extend(STATES.to_ne_bytes());
    octets.extend(ANY_SOCKET);
    octets
}

/// A socket's own address and its peer's.
fn ends(octets: &[u8]) -> Option<[SocketAddr; 2]> {
    let port = |at: usize| octets.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes);
    let long = |at: usize| octets.get(at..at + 16)?.first_chunk::<16>().copied().map(IpAddr::from);
    let short = |at: usize| octets.get(at..at + 4)?.first_chunk::<4>().copied().map(IpAddr::from);
    let is_long = *octets.first()? == AF_INET6;
    let address = |at: usize| if is_long { long(at) } else { short(at) };
    let end = |at: usize, port: u16| Some(SocketAddr::new(address(at)?, port));
    Some([end(8, port(4)?)?, end(24, port(6)?)?])
}

fn tcp(octets: &[u8]) -> Option<TcpSocket> {
    let [local, remote] = ends(octets)?;
    let state = *octets.get(1)?;
    let inode = octets.get(INODE..INODE + 4)?.try_into().ok().map(u32::from_ne_bytes)?;
    Some(TcpSocket {
        local,
        remote,
        fin_acked: FIN_ACKED.contains(&state),
        inode,
        info: TcpInfo::read(find(octets.get(MESSAGE..)?, INFO)?)?,
    })
}

fn mptcp(octets: &[u8]) -> Option<MptcpSocket> {
    let [local, remote] = ends(octets)?;
    let info = find(octets.get(MESSAGE..)?, INFO)?;
    Some(MptcpSocket { local, remote, info: mptcp_info(info) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_kernel_does_not_tell_is_empty() {
        let mut whole = (0..96).map(|octet| octet + 1).collect::<Vec<u8>>();
        whole[8..12].copy_from_slice(&(FALLBACK | HAS_PEERS_KEY).to_ne_bytes());
        let numbers = whole.clone();
        let long =
            |at: usize| Some(u64::from_ne_bytes(*numbers[at..].first_chunk().expect("it is long enough")));
        let all = MptcpSample {
            subflows: Some(81),
            further_subflows: Some(1),
            is_fallen_back: Some(true),
            write_seq: long(16),
            snd_una: long(24),
            rcv_nxt: long(32),
            retransmits: Some(u32::from_ne_bytes([45, 46, 47, 48])),
            reinjected_bytes: long(48),
            sent_bytes: long(56),
            received_bytes: long(64),
            acked_bytes: long(72),
        };
        assert_eq!(mptcp_info(&whole), all);
        // Linux 6.5 has 80 octets. Linux 5.14 has 48, the last five of which are padding.
        assert_eq!(mptcp_info(&whole[..80]), MptcpSample { subflows: None, ..all });
        let old = MptcpSample {
            further_subflows: all.further_subflows,
            is_fallen_back: all.is_fallen_back,
            write_seq: all.write_seq,
            snd_una: all.snd_una,
            rcv_nxt: all.rcv_nxt,
            ..MptcpSample::default()
        };
        assert_eq!(mptcp_info(&whole[..48]), old);
        assert_eq!(mptcp_info(&[]), MptcpSample::default());
        whole[8..12].copy_from_slice(&0u32.to_ne_bytes());
        let early = mptcp_info(&whole);
        assert_eq!((early.rcv_nxt, early.is_fallen_back), (None, Some(false)), "the peer's key is not known");
    }
}
