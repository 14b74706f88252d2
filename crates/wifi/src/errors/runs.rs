//! How long failures last.

/// Runs of failures have the mean length P(failure) / P(failure after a success).
pub(super) fn mean_run(loss: f64, starts: f64) -> f64 {
    if loss == 0.0 { 0.0 } else { loss / starts }
}
