//! Scenario texts, of which tests write many that differ in a few lines.

use std::fmt::Write;

/// A table with its lines.
fn table(kind: &str, name: &str, lines: &str) -> String {
    let mut text = format!("[{kind}.{name}]\n");
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        writeln!(text, "{line}").expect("text");
    }
    text
}

/// A link between two nodes; `lines` say what it is like.
pub fn link(name: &str, between: [&str; 2], lines: &str) -> String {
    let [a, b] = between;
    table("links", name, &format!("between = [\"{a}\", \"{b}\"]\n{lines}"))
}

/// A connection from one host to another; `lines` say the rest.
pub fn connection(name: &str, [from, to]: [&str; 2], lines: &str) -> String {
    table("connections", name, &format!("from = \"{from}\"\nto = \"{to}\"\n{lines}"))
}

/// A scenario of so many seconds with these hosts. `rest` is what follows.
pub fn scenario(seconds: u32, hosts: &[&str], rest: &[String]) -> String {
    let mut text = format!("[scenario]\nname = \"test\"\nduration = \"{seconds} s\"\n");
    hosts.iter().for_each(|host| text += &table("hosts", host, ""));
    text + &rest.concat()
}

/// A host `client` and a host `server` with links between them, by name, and a connection `bulk`
/// from the client; `tcp` is what the table of that name says.
pub fn two_hosts(seconds: u32, tcp: &str, links: &[(&str, &str)], bulk: &str) -> String {
    let ends = ["client", "server"];
    let mut rest = vec![format!("[tcp]\n{tcp}\n")];
    rest.extend(links.iter().map(|(name, lines)| link(name, ends, lines)));
    rest.push(connection("bulk", ends, bulk));
    scenario(seconds, &ends, &rest)
}
