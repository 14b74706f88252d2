//! Powers in dBm and in mW.

/// dBm from mW; minus infinity from 0.
pub fn dbm_from_mw(mw: f64) -> f64 {
    10.0 * libm::log10(mw)
}

/// mW from dBm.
pub fn mw_from_dbm(dbm: f64) -> f64 {
    libm::exp10(dbm / 10.0)
}
