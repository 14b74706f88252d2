//! Templates: the nodes and links of a star, a dumbbell, a parking lot, a leaf-spine fabric and a fat tree.

use super::MOST_MEMBERS;
use super::groups::{Groups, numbered};
use super::tree::{add, entry_of, said, section_or_new, table, table_of};
use crate::document::{Entry, Fault, Node, Origin, Table, Value};
use crate::schema::topology::{
    DumbbellTable, FatTreeTable, LeafSpineTable, ParkingLotTable, StarTable, TopologyTable,
};
use serde::Deserialize;

/// Ports of the routers of the largest fat tree: 1024 hosts.
const MOST_PORTS: u32 = 16;

/// Nodes and links of a template.
#[derive(Default)]
struct Drawing {
    hosts: Vec<String>,
    routers: Vec<String>,
    wires: Vec<Wire>,
    /// Do the routers share flows out among equal ways?
    ecmp: bool,
}

/// A link of a template: its name, its ends, and the key of the template that says the rest.
struct Wire {
    name: String,
    ends: [String; 2],
    keys: &'static str,
}

impl Drawing {
    fn host(&mut self, name: &str, router: &str) {
        self.hosts.push(name.to_owned());
        self.wire(name, [name, router], "link");
    }

    fn wire(&mut self, name: &str, ends: [&str; 2], keys: &'static str) {
        self.wires.push(Wire { name: name.to_owned(), ends: ends.map(str::to_owned), keys });
    }

    fn fabric(&mut self, lower: &str, upper: &str) {
        self.wire(&format!("{lower}-{upper}"), [lower, upper], "fabric");
    }
}

/// Takes `[topology]` out of the document and puts its nodes and links in.
pub(super) fn unfold(root: &mut Node, groups: &mut Groups) -> Result<(), Fault> {
    let Some(entry) = table_of(root).and_then(|top| top.remove("topology")) else { return Ok(()) };
    let written = TopologyTable::deserialize(&entry.node);
    let template = written.map_err(|fault| fault.at(entry.node.origin.clone()).within("topology"))?;
    let drawing = draw(&template).map_err(|wrong| wrong.fault(&entry))?;
    groups.nodes.extend(groups_of(&drawing.hosts));
    let wires = drawing.wires.iter().filter(|wire| wire.keys == "link").map(|wire| wire.name.clone());
    groups.links.extend(groups_of(&wires.collect::<Vec<_>>()));
    write(root, &entry, drawing);
    Ok(())
}

/// Names that end in a number, by what stands before it.
fn groups_of(names: &[String]) -> std::collections::BTreeMap<String, Vec<String>> {
    let mut groups = std::collections::BTreeMap::<String, Vec<String>>::new();
    for name in names {
        if let Some((stem, _)) = name.rsplit_once('-') {
            groups.entry(stem.to_owned()).or_default().push(name.clone());
        }
    }
    groups
}

/// A number of a template that cannot be.
struct Wrong {
    key: &'static str,
    message: String,
    expected: String,
}

impl Wrong {
    fn fault(self, entry: &Entry) -> Fault {
        let value = table(&entry.node).and_then(|keys| keys.get(self.key));
        let origin = value.map_or(&entry.node.origin, |value| &value.node.origin).clone();
        Fault::new(&format!("topology.{}", self.key), self.message, self.expected).at(origin)
    }
}

fn checked(key: &'static str, number: u32) -> Result<usize, Wrong> {
    if (1..=MOST_MEMBERS).contains(&u64::from(number)) {
        return Ok(number as usize);
    }
    let message = format!("a topology with {number} of them cannot be drawn");
    Err(Wrong { key, message, expected: format!("a whole number from 1 to {MOST_MEMBERS}") })
}

fn draw(template: &TopologyTable) -> Result<Drawing, Wrong> {
    match template {
        TopologyTable::Star(table) => star(table),
        TopologyTable::Dumbbell(table) => dumbbell(table),
        TopologyTable::ParkingLot(table) => parking_lot(table),
        TopologyTable::LeafSpine(table) => leaf_spine(table),
        TopologyTable::FatTree(table) => fat_tree(table),
    }
}

fn star(table: &StarTable) -> Result<Drawing, Wrong> {
    let mut drawing = Drawing { routers: vec!["hub".into()], ..Drawing::default() };
    for host in numbered("h", checked("hosts", table.hosts)?) {
        drawing.host(&host, "hub");
    }
    Ok(drawing)
}

fn dumbbell(table: &DumbbellTable) -> Result<Drawing, Wrong> {
    let pairs = checked("pairs", table.pairs)?;
    let routers = ["left-router", "right-router"];
    let mut drawing = Drawing { routers: routers.map(str::to_owned).into(), ..Drawing::default() };
    drawing.wire("bottleneck", routers, "bottleneck");
    for (side, router) in ["left", "right"].into_iter().zip(routers) {
        for host in numbered(side, pairs) {
            drawing.host(&host, router);
        }
    }
    Ok(drawing)
}

fn parking_lot(table: &ParkingLotTable) -> Result<Drawing, Wrong> {
    let hops = checked("hops", table.hops)?;
    let routers = numbered("router", hops + 1);
    let mut drawing = Drawing::default();
    for hop in 0..hops {
        let (before, behind) = (&routers[hop], &routers[hop + 1]);
        drawing.wire(&format!("hop-{}", hop + 1), [before, behind], "bottleneck");
        drawing.host(&format!("enter-{}", hop + 1), before);
        drawing.host(&format!("leave-{}", hop + 1), behind);
    }
    drawing.host("source", &routers[0]);
    drawing.host("sink", &routers[hops]);
    drawing.routers = routers;
    Ok(drawing)
}

fn leaf_spine(table: &LeafSpineTable) -> Result<Drawing, Wrong> {
    let leaves = numbered("leaf", checked("leaves", table.leaves)?);
    let spines = numbered("spine", checked("spines", table.spines)?);
    let below = checked("hosts", table.hosts)?;
    checked("hosts", table.hosts.saturating_mul(table.leaves))?;
    let mut drawing = Drawing { ecmp: true, ..Drawing::default() };
    for (index, host) in numbered("h", below * leaves.len()).iter().enumerate() {
        drawing.host(host, &leaves[index / below]);
    }
    for leaf in &leaves {
        spines.iter().for_each(|spine| drawing.fabric(leaf, spine));
    }
    drawing.routers = [leaves, spines].concat();
    Ok(drawing)
}

fn fat_tree(table: &FatTreeTable) -> Result<Drawing, Wrong> {
    if !(2..=MOST_PORTS).contains(&table.k) || table.k % 2 == 1 {
        let message = format!("no fat tree has routers with {} ports", table.k);
        return Err(Wrong { key: "k", message, expected: format!("an even number from 2 to {MOST_PORTS}") });
    }
    let half = table.k as usize / 2;
    let pods = table.k as usize;
    let edges = numbered("edge", pods * half);
    let aggregations = numbered("aggregation", pods * half);
    let cores = numbered("core", half * half);
    let mut drawing = Drawing { ecmp: true, ..Drawing::default() };
    for (index, host) in numbered("h", pods * half * half).iter().enumerate() {
        drawing.host(host, &edges[index / half]);
    }
    for (index, aggregation) in aggregations.iter().enumerate() {
        let pod = index / half;
        edges[pod * half..][..half].iter().for_each(|edge| drawing.fabric(edge, aggregation));
        cores[index % half * half..][..half].iter().for_each(|core| drawing.fabric(aggregation, core));
    }
    drawing.routers = [edges, aggregations, cores].concat();
    Ok(drawing)
}

/// Puts the drawing's tables into the document. What is wrong with a link's keys was said of the template's.
fn write(root: &mut Node, entry: &Entry, drawing: Drawing) {
    let origin = &entry.key;
    let empty = || Node { value: Value::Table(Table::new()), origin: origin.clone() };
    if let Some(hosts) = section_or_new(root, "hosts", origin) {
        drawing.hosts.into_iter().for_each(|name| add(hosts, name, entry_of(empty())));
    }
    if let Some(routers) = section_or_new(root, "routers", origin) {
        for name in drawing.routers {
            add(routers, name, entry_of(router(origin, drawing.ecmp)));
        }
    }
    if let Some(links) = section_or_new(root, "links", origin) {
        for wire in drawing.wires {
            let made = entry_of(link(entry, &wire));
            add(links, wire.name, made);
        }
    }
}

fn router(origin: &Origin, ecmp: bool) -> Node {
    let mut keys = Table::new();
    if ecmp {
        let on = Node { value: Value::Boolean(true), origin: origin.clone() };
        keys.insert("ecmp".to_owned(), entry_of(on));
    }
    Node { value: Value::Table(keys), origin: origin.clone() }
}

fn link(entry: &Entry, wire: &Wire) -> Node {
    let of_template = table(&entry.node);
    let find = |key: &str| of_template?.get(key);
    let keys = find(wire.keys).or_else(|| find("link"));
    let mut made = keys.and_then(|keys| table(&keys.node)).cloned().unwrap_or_default();
    let between = wire.ends.iter().map(|end| said(end, &entry.key)).collect();
    let between = Node { value: Value::Array(between), origin: entry.key.clone() };
    made.insert("between".to_owned(), entry_of(between));
    Node { value: Value::Table(made), origin: keys.map_or(&entry.key, |keys| &keys.key).clone() }
}
