//! Frames that fail on the channel although nothing interferes.

use super::Network;
use crate::config::{ConfigError, StationId};
use crate::errors::{FrameErrorProcess, FrameErrors};
use crate::frame::Frame;
use crate::phy;
use ropewalk_units::Instant;

impl Network {
    /// From `now` on, data frames from one station to another on a channel fail by a model, each
    /// attempt by itself. [`FrameErrors::above`] is compared with the packet's octets. Others
    /// overhear the frames unharmed; ACK, CTS and RTS do not fail.
    ///
    /// # Errors
    /// When a station does not exist or has no radio on the channel.
    pub fn set_frame_errors(
        &mut self,
        from: StationId,
        to: StationId,
        channel: u8,
        errors: FrameErrors,
        now: Instant,
    ) -> Result<(), ConfigError> {
        let radio = |station| self.require_radio("frame errors", station, channel);
        let (sender, receiver) = (radio(from)?, radio(to)?);
        let name = format!("wifi/{}/{}/{channel}/errors", self.name(from), self.name(to));
        let process = FrameErrorProcess::new(errors, self.streams.stream(&name), now);
        let known = &mut self.radios[receiver as usize].incoming_errors;
        match known.iter().find(|(from, _)| *from == sender) {
            Some(&(_, place)) => self.errors[place as usize] = process,
            None => {
                known.push((sender, self.errors.len() as u32));
                self.errors.push(process);
            }
        }
        Ok(())
    }

    /// The part of the data frames with this payload, in octets, that configured errors make fail
    /// from one station to another in the long run.
    ///
    /// # Panics
    /// When one of the stations does not exist.
    pub fn mean_loss(&self, from: StationId, to: StationId, channel: u8, payload: u32) -> f64 {
        let (Some(sender), Some(receiver)) = (self.radio_on(from.0, channel), self.radio_on(to.0, channel))
        else {
            return 0.0;
        };
        let known = self.radios[receiver as usize].incoming_errors.iter().find(|(from, _)| *from == sender);
        known.map_or(0.0, |&(_, process)| self.errors[process as usize].mean_loss(payload))
    }

    /// Does a data frame fail on its way to the radio it is for? Then that radio has heard a frame
    /// that it could not decode.
    #[inline]
    pub(super) fn fails(&mut self, now: Instant, from: u32, index: u32, frame: Frame) -> bool {
        let radio = &mut self.radios[index as usize];
        let Some(&(_, process)) = radio.incoming_errors.iter().find(|(sender, _)| *sender == from) else {
            return false;
        };
        let fails = self.errors[process as usize].fails(now, frame.octets - phy::DATA_OVERHEAD);
        if fails {
            radio.stats.frame_errors += 1;
            radio.carrier.garble();
        }
        fails
    }
}
