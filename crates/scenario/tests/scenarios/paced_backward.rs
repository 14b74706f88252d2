//! A server whose messages are due before anybody has connected waits for the connection.

use crate::support::outcome;

#[test]
fn messages_of_a_server_wait_for_the_connection() {
    for application in ["constant-rate\", rate = \"1 Mbit/s\"", "on-off\", rate = \"1 Mbit/s\""] {
        let text = format!(
            "[scenario]\nname = \"feed\"\nduration = \"3 s\"\n[hosts.client]\n[hosts.server]\n\
             [links.dsl]\nbetween = [\"client\", \"server\"]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\n\
             [connections.feed]\nfrom = \"client\"\nto = \"server\"\ndata = \"backward\"\n\
             application = {{ kind = \"{application} }}\n"
        );
        let outcome = outcome(&text, &[]);
        assert!(outcome.connections[0].bytes > 50_000, "{:?}", outcome.connections);
    }
}
