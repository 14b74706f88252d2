//! Our TCP and Multipath TCP talk to Linux's, in both roles, over TUN interfaces in a network namespace of each test's own.

mod kernel;
mod namespace;
mod scene;

use kernel::Noise;
use namespace::inside;
use scene::{Role, Scene};

const MEGABYTE: u64 = 1 << 20;

#[test]
fn tcp_as_client() {
    inside("tcp_as_client", || {
        let seen = Scene::new(1, false).run(Role::Client, 20 * MEGABYTE);
        assert_eq!(seen.retransmissions, 0, "nothing is lost");
    });
}

#[test]
fn tcp_as_server() {
    inside("tcp_as_server", || {
        Scene::new(1, false).run(Role::Server, 20 * MEGABYTE);
    });
}

#[test]
fn multipath_tcp_as_client() {
    inside("multipath_tcp_as_client", || {
        let seen = Scene::new(2, true).run(Role::Client, 50 * MEGABYTE);
        assert!(!seen.fell_back && seen.carried.len() == 2, "{seen:?}");
        assert!(seen.carried.iter().all(|octets| *octets > MEGABYTE), "both carry: {seen:?}");
    });
}

#[test]
fn multipath_tcp_as_server() {
    inside("multipath_tcp_as_server", || {
        let seen = Scene::new(2, true).run(Role::Server, 50 * MEGABYTE);
        assert!(!seen.fell_back && seen.carried.len() == 2, "{seen:?}");
    });
}

#[test]
fn two_in_a_hundred_are_lost() {
    for role in [Role::Client, Role::Server] {
        let name = "two_in_a_hundred_are_lost";
        inside(name, || {
            let mut scene = Scene::new(2, true);
            scene.lose(50);
            let seen = scene.run(role, 5 * MEGABYTE);
            assert!(!seen.fell_back && seen.retransmissions > 0, "{role:?}: {seen:?}");
        });
        if std::env::var("ROPEWALK_INSIDE").is_err() {
            break;
        }
    }
    let _ = Noise::new(1, 1);
}
