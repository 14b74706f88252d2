//! A scenario for a reader: the topology drawn, the way of each connection, warnings, and every value with its
//! origin.

mod draw;
mod link;
mod radio;
mod values;
mod warnings;

use crate::scenario::Scenario;
use std::fmt::Write;

impl Scenario {
    /// The scenario explained, as plain text.
    pub fn explain(&self) -> String {
        let plan = &self.plan;
        let mut text = format!("Scenario {} ({})\n", plan.settings.name, self.hash());
        for line in plan.settings.description.lines() {
            text.push_str(&format!("  {}", line.trim()));
            text.push('\n');
        }
        let times = (plan.settings.duration, plan.settings.seed, plan.settings.sample_interval);
        let _ = writeln!(text, "  simulated {}, seed {}, a sample each {}", times.0, times.1, times.2);
        text.push_str("\nTopology: [host], (router), -> from left to right, <- back\n\n");
        draw::topology(plan, &mut text);
        if let Some(wifi) = &plan.wifi {
            text.push_str("\nWireless network: @ host or router, * relay\n\n");
            radio::network(plan, wifi, &mut text);
        }
        text.push_str("\nConnections\n\n");
        draw::connections(plan, &mut text);
        let warnings = self.warnings();
        if !warnings.is_empty() {
            text.push_str("\nWorth a look\n\n");
            for warning in warnings {
                let _ = writeln!(text, "  ! {warning}");
            }
        }
        text.push_str("\nEvery value, and where it came from\n\n");
        values::write(self, &mut text);
        text
    }
}
