//! What came of the cases: a line for each bar of each gate, then the cases that miss one.

use crate::case::{Ask, Case, Finding};
use crate::measure::Record;

/// A bar of a gate, and what each case has.
struct Row<'a> {
    gate: &'static str,
    bar: &'static str,
    found: Vec<(&'a Case, Finding)>,
}

/// Prints all. Is every bar kept?
pub(crate) fn print(cases: &[Case], records: &[Vec<Record>]) -> bool {
    let failed: Vec<String> =
        cases.iter().zip(records).filter_map(|(case, records)| failure(case, records)).collect();
    let rows = rows(cases, records);
    println!("| gate | what | bar | cases | keep it | worst | mean |\n|---|---|---|---|---|---|---|");
    rows.iter().for_each(Row::print);
    let misses: Vec<String> = rows.iter().flat_map(Row::misses).collect();
    if !misses.is_empty() {
        println!("\nCases that miss a bar:\n");
        misses.iter().for_each(|line| println!("- {line}"));
    }
    failed.iter().for_each(|line| println!("- {line}"));
    misses.is_empty() && failed.is_empty() && rows.iter().all(Row::keeps_mean)
}

/// A run that ended without a result.
fn failure(case: &Case, records: &[Record]) -> Option<String> {
    let error = records.iter().find_map(|record| record.error.as_ref())?;
    Some(format!("{}/{} ({}): {error}", case.gate, case.number, case.what))
}

fn rows<'a>(cases: &'a [Case], records: &[Vec<Record>]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    for (case, records) in cases.iter().zip(records) {
        if records.iter().any(|record| record.error.is_some()) {
            continue;
        }
        for finding in (case.judge)(records) {
            match rows.iter_mut().find(|row| (row.gate, row.bar) == (case.gate, finding.bar)) {
                Some(row) => row.found.push((case, finding)),
                None => rows.push(Row { gate: case.gate, bar: finding.bar, found: vec![(case, finding)] }),
            }
        }
    }
    rows
}

impl Row<'_> {
    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.found.iter().map(|(_, finding)| finding.value)
    }

    fn mean(&self) -> f64 {
        self.values().sum::<f64>() / self.found.len() as f64
    }

    fn keeps_mean(&self) -> bool {
        match self.found[0].1.ask {
            Ask::MeanLeast(bound) => self.mean() >= bound,
            Ask::Least(_) | Ask::Most(_) | Ask::Shown => true,
        }
    }

    fn print(&self) {
        let kept = self.found.iter().filter(|(_, finding)| finding.is_kept()).count();
        let (least, most) = self.values().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let (bar, worst) = match self.found[0].1.ask {
            Ask::Least(bound) => (format!("≥ {bound}"), least),
            Ask::Most(bound) => (format!("≤ {bound}"), most),
            Ask::MeanLeast(bound) => (format!("mean ≥ {bound}"), least),
            Ask::Shown => ("shown".to_owned(), most),
        };
        println!(
            "| {} | {} | {bar} | {} | {kept} | {worst:.4} | {:.4} |",
            self.gate,
            self.bar,
            self.found.len(),
            self.mean()
        );
    }

    fn misses(&self) -> Vec<String> {
        let missed = self.found.iter().filter(|(_, finding)| !finding.is_kept());
        missed
            .map(|(case, finding)| {
                format!("{}/{} {}: {:.4} ({})", self.gate, case.number, self.bar, finding.value, case.what)
            })
            .collect()
    }
}
