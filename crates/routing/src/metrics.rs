//! Metrics of routes over several channels: ETX, ETT, WCETT and MIC.

/// Transmissions a frame needs until it is acknowledged, when it arrives with one probability and its ACK with the
/// other: 1/(d_f d_r) (De Couto et al., MobiCom 2003). Infinite when nothing arrives.
pub fn etx(forward: f64, reverse: f64) -> f64 {
    1.0 / (forward * reverse)
}

/// Expected transmission time in seconds of a frame of so many octets at so many bits per second: ETX · S/B (Draves,
/// Padhye, Zill, MobiCom 2004).
pub fn ett(etx: f64, octets: u32, bits_per_second: f64) -> f64 {
    etx * 8.0 * f64::from(octets) / bits_per_second
}

/// One hop of a route, as the metrics see it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hop {
    /// The channel that it uses.
    pub channel: u32,
    /// Expected transmission time in seconds.
    pub ett: f64,
    /// Nodes that its transmissions interfere with, for MIC.
    pub interfered: u32,
}

/// Weighted cumulative expected transmission time in seconds (Draves, Padhye, Zill, MobiCom 2004):
/// (1 − β) Σ ETT_i + β max_j X_j, where X_j is the sum of ETT over the hops on channel j.
pub fn wcett(hops: &[Hop], beta: f64) -> f64 {
    let total: f64 = hops.iter().map(|hop| hop.ett).sum();
    let on = |channel| hops.iter().filter(|hop| hop.channel == channel).map(|hop| hop.ett).sum();
    let busiest = hops.iter().map(|hop| on(hop.channel)).fold(0.0, f64::max);
    (1.0 - beta) * total + beta * busiest
}

/// What the metric of interference and channel switching needs to know beside the route.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MicSetting {
    /// Nodes in the network.
    pub nodes: u32,
    /// The least ETT in the network, in seconds.
    pub least_ett: f64,
    /// w1: the cost of a node that receives and sends on different channels.
    pub switches: f64,
    /// w2 > w1 ≥ 0: the cost of a node that receives and sends on the same channel.
    pub stays: f64,
}

/// The metric of interference and channel switching (Yang, Wang, Kravets, IEEE WiMesh 2005): (1/(N · min ETT)) Σ_l
/// IRU_l + Σ_i CSC_i, with IRU_l = ETT_l · N_l. CSC_i is w1 if node i changes the channel, and w2 if not.
pub fn mic(hops: &[Hop], setting: MicSetting) -> f64 {
    let usage: f64 = hops.iter().map(|hop| hop.ett * f64::from(hop.interfered)).sum();
    let change =
        |pair: &[Hop]| if pair[0].channel == pair[1].channel { setting.stays } else { setting.switches };
    let changes: f64 = hops.windows(2).map(change).sum();
    usage / (f64::from(setting.nodes) * setting.least_ett) + changes
}

#[cfg(test)]
mod tests;
