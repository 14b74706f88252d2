//! What all models check alike.

use super::MobilityError;
use crate::position::Area;

pub(super) fn require(
    is_met: bool,
    parameter: &'static str,
    expected: &'static str,
    found: f64,
) -> Result<(), MobilityError> {
    if is_met { Ok(()) } else { Err(MobilityError { parameter, expected, found }) }
}

pub(super) fn require_area(area: Area) -> Result<(), MobilityError> {
    let is_extent = |metres: f64| metres > 0.0 && metres < f64::INFINITY;
    require(is_extent(area.width), "area.width", "finite and above 0 m", area.width)?;
    require(is_extent(area.height), "area.height", "finite and above 0 m", area.height)
}
