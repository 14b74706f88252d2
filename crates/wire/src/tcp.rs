//! The bytes of a TCP header.

use crate::codes::protocol::TCP;
use crate::emit_error::EmitError;
use crate::ip::IpHeader;
use crate::read::TcpOption;
use crate::segment::{Options, Segment};
use crate::tcp_header::TcpHeader;

impl TcpHeader {
    /// Appends the IP packet with this header, these options one after the other as they are, zeros up to whole words, and
    /// this data.
    ///
    /// # Errors
    /// [`EmitError`]; `out` is then as it was.
    pub fn emit(
        &self,
        ip: &IpHeader,
        options: &[TcpOption<'_>],
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        let mut area = Vec::with_capacity(Options::SPACE as usize);
        options.iter().for_each(|option| option.emit(&mut area));
        area.resize(area.len().next_multiple_of(4), 0);
        self.emit_with(ip, &area, payload.len() as u64, out, |out| out.extend_from_slice(payload))
    }

    /// The same with an option area of whole words, and `len` octets of data that `payload` appends.
    pub(crate) fn emit_with(
        &self,
        ip: &IpHeader,
        options: &[u8],
        len: u64,
        out: &mut Vec<u8>,
        payload: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), EmitError> {
        if options.len() > Options::SPACE as usize {
            return Err(EmitError::OptionsTooLong(options.len() as u32));
        }
        let header = Segment::HEADER + options.len() as u32;
        let (addresses, len) = ip.emit(TCP, u64::from(header) + len, out)?;
        let start = out.len();
        out.extend(self.source_port.to_be_bytes());
        out.extend(self.destination_port.to_be_bytes());
        out.extend(self.seq.get().to_be_bytes());
        out.extend(self.ack.get().to_be_bytes());
        out.extend([((header / 4) as u8) << 4 | self.reserved & 0x0f, self.flags.bits()]);
        out.extend(self.window.to_be_bytes());
        out.extend([0; 2]); // checksum
        out.extend(self.urgent.to_be_bytes());
        out.extend_from_slice(options);
        payload(out);
        let sum = addresses.pseudo_header(TCP, len).add_octets(&out[start..]);
        out[start + 16..start + 18].copy_from_slice(&sum.complement().to_be_bytes());
        Ok(())
    }
}
