//! Recoveries that were not needed: what is kept, and its return.

use super::{Bbr, State};
use crate::window::Window;

/// What BBR had before the losses of a round.
#[derive(Clone, Debug, Default)]
pub(super) struct Undo {
    /// BBR.undo_state: what losses ended.
    state: Option<State>,
    bw_shortterm: f64,
    inflight_shortterm: u32,
    inflight_longterm: u32,
}

impl Undo {
    /// Losses end this state.
    pub(super) fn note(&mut self, state: State) {
        self.state = Some(state);
    }
}

impl Bbr {
    /// SaveStateUponLoss.
    pub(super) fn save_state_upon_loss(&mut self, window: &Window) {
        self.save_cwnd(window);
        self.undo = Undo {
            state: None,
            bw_shortterm: self.model.bw_shortterm,
            inflight_shortterm: self.model.inflight_shortterm,
            inflight_longterm: self.model.inflight_longterm,
        };
    }

    /// SaveCwnd.
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let modulated = self.in_loss_recovery || self.state == State::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(window.cwnd) } else { window.cwnd };
    }

    /// RestoreCwnd.
    pub(super) fn restore_cwnd(&self, window: &mut Window) {
        window.set_cwnd(window.cwnd.max(self.prior_cwnd));
    }

    /// OnEnterFastRecovery.
    pub(crate) fn on_enter_fast_recovery(&mut self, window: &Window) {
        self.save_state_upon_loss(window);
        self.in_loss_recovery = true;
    }

    /// OnEnterRTO, with C.inflight.
    pub(crate) fn on_enter_rto(&mut self, inflight: u32, window: &mut Window) {
        self.save_state_upon_loss(window);
        self.in_loss_recovery = true;
        window.set_cwnd(inflight.saturating_add(window.smss));
    }

    /// The losses are repaired.
    pub(crate) fn on_exit_recovery(&mut self, window: &mut Window) {
        self.in_loss_recovery = false;
        self.restore_cwnd(window);
    }

    /// HandleSpuriousLossDetection: nothing was lost.
    pub(crate) fn on_spurious_recovery(&mut self, window: &mut Window) {
        self.in_loss_recovery = false;
        self.restore_cwnd(window);
        self.model.end_loss_round();
        self.full_pipe.reset();
        let model = &mut self.model;
        model.bw_shortterm = model.bw_shortterm.max(self.undo.bw_shortterm);
        model.inflight_shortterm = model.inflight_shortterm.max(self.undo.inflight_shortterm);
        model.inflight_longterm = model.inflight_longterm.max(self.undo.inflight_longterm);
        let ended = self.undo.state.take();
        if ended == Some(State::Startup) && self.state != State::Startup {
            self.full_pipe.full_bw_reached = false;
            if self.state != State::ProbeRtt {
                self.enter_startup(window);
            }
        } else if ended == Some(State::ProbeBwUp)
            && self.state != State::ProbeBwUp
            && self.state != State::ProbeRtt
        {
            self.start_probe_bw_refill();
        }
    }
}
