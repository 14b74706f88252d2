//! How much an application may write.

use super::Sender;
use crate::config::Config;
use crate::context::Context;
use crate::memory;
use crate::send::buffer::Held;

/// Octets of the largest packet, less what is kept free for its headers (Linux `sk_dst_gso_max_size`).
const LARGEST_PACKET: u32 = 65_536 - 193;

/// The send buffer with a window of so many segments (Linux `tcp_sndbuf_expand`).
pub(super) fn size(config: &Config, window: u32) -> u32 {
    if !config.send_autotuning {
        return config.send_buffer;
    }
    let windows = if config.congestion_control.models_path() { 3 } else { 2 };
    let segment = memory::of_segment(u64::from(config.mss), u64::from(config.memory_overhead));
    memory::of_windows(windows, u64::from(window), segment).min(u64::from(config.send_buffer)) as u32
}

impl Sender {
    /// Free octets of the send buffer.
    #[inline]
    pub(crate) fn send_space(&self, cx: &Context) -> u64 {
        let octets = self.stream.unsent() + u64::from(self.flight());
        if !cx.config.send_autotuning {
            return u64::from(cx.config.send_buffer).saturating_sub(octets);
        }
        // An application writes once it is connected: packets depend on the peer's window and MSS.
        if !cx.state.is_synchronized() {
            return 0;
        }
        // Nearly always it is so without a look at the packets.
        if self.buffer.awaits_room(octets) { 0 } else { self.buffer.space(self.held(cx)) }
    }

    /// So many octets were written.
    pub(super) fn on_written(&mut self, cx: &Context, octets: u32) {
        if cx.config.send_autotuning {
            self.buffer.on_written(octets, self.held(cx));
        }
    }

    /// What the send buffer holds: packets on their way, and full ones that wait.
    #[inline(never)]
    fn held(&self, cx: &Context) -> Held {
        let unsent = self.stream.unsent();
        let packet = self.written_packet();
        let beside = memory::of_packet(u64::from(cx.config.memory_overhead));
        let packets = u64::from(self.queue.packets()) + unsent.div_ceil(u64::from(packet));
        Held { memory: unsent + u64::from(self.flight()) + packets * beside, unsent, packet, beside }
    }

    /// Octets of data in a packet that the application writes: whole segments, up to half of the peer's largest window (Linux
    /// `tcp_xmit_size_goal`, `tcp_bound_to_half_wnd`).
    pub(super) fn written_packet(&self) -> u32 {
        (self.most_written() / self.smss).max(1) * self.smss
    }

    /// The same, not in whole segments.
    pub(super) fn most_written(&self) -> u32 {
        LARGEST_PACKET.min(self.peer.largest() / 2)
    }

    /// While the application waits for room, the buffer follows the window, unless all of that will be used (Linux
    /// `tcp_should_expand_sndbuf`).
    #[inline]
    pub(super) fn tend_buffer(&mut self, cx: &Context) {
        if self.buffer.may_grow(self.controller.cwnd()) && self.leaves_room(cx) {
            self.grow_buffer(cx);
        }
    }

    #[cold]
    fn grow_buffer(&mut self, cx: &Context) {
        let cwnd = self.controller.cwnd();
        self.buffer.grow(size(&cx.config, cwnd / self.smss), cwnd);
    }
}
