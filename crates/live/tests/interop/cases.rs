//! The cases: what stands on the way, what the application does, and what has to come of it.

use crate::middlebox as mb;
use crate::namespace::{self, run as command};
use crate::scene::{Family, Report, Role, Scene};
use ropewalk_host::CookiePolicy;
use ropewalk_live::Way;
use ropewalk_mptcp::{EndpointFlags, KernelChange, KernelCommand, KernelEndpoint};
use ropewalk_units::{Duration, Instant};

/// One case; it runs in each of its roles.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) roles: &'static [Role],
    family: Family,
    paths: u8,
    multipath: bool,
    arrange: fn(&mut Scene),
    /// What has to hold beside the streams themselves.
    holds: fn(&Report) -> bool,
}

const BOTH: &[Role] = &[Role::Client, Role::Server];
const MEGABYTE: u64 = 1 << 20;

/// Multipath TCP in both roles.
const fn case(name: &'static str, paths: u8, arrange: fn(&mut Scene), holds: fn(&Report) -> bool) -> Case {
    Case { name, roles: BOTH, family: Family::V4, paths, multipath: true, arrange, holds }
}

const fn tcp(name: &'static str, arrange: fn(&mut Scene), holds: fn(&Report) -> bool) -> Case {
    Case { name, roles: BOTH, family: Family::V4, paths: 1, multipath: false, arrange, holds }
}

fn any(_: &Report) -> bool {
    true
}

/// It stayed Multipath TCP, with so many subflows.
fn stays<const SUBFLOWS: usize>(report: &Report) -> bool {
    !report.fell_back && report.carried.len() == SUBFLOWS
}

/// After the change the second subflow carried what it had been given before; the rest went by the
/// first.
fn rests(report: &Report) -> bool {
    let after = |at: usize| report.carried[at] - report.carried_before[at];
    after(1) * 4 < after(0) * 3
}

fn falls_back(report: &Report) -> bool {
    report.fell_back
}

/// Neither the third segment nor the first data need arrive.
fn cookies_and_losses(scene: &mut Scene) {
    scene.cookies = CookiePolicy::Always;
    scene.mptcp.checksum = true;
    scene.through(mb::lossy(50));
}

/// We join from our second endpoint, of which something is changed while data flows.
fn changes(scene: &mut Scene, command: KernelCommand) {
    scene.octets = [80 * MEGABYTE; 2];
    let flags = EndpointFlags { subflow: true, ..EndpointFlags::default() };
    let at = Instant::ZERO + Duration::from_millis(300);
    scene.endpoint(scene.second_endpoint(flags), vec![KernelChange { at, command }]);
}

/// A stream that is long enough for what happens at a time of its own.
fn long(scene: &mut Scene) {
    scene.octets = [40 * MEGABYTE; 2];
}

pub(crate) const CASES: &[Case] = &[
    tcp("TCP", |_| {}, any),
    tcp("TCP, 2 % lost", |scene| scene.through(mb::lossy(50)), |report| report.retransmissions > 0),
    tcp("TCP, 5 % late by three packets", |scene| scene.through(mb::reordering(20)), any),
    tcp("TCP, 5 % twice", |scene| scene.through(mb::duplicating(20)), any),
    tcp("TCP, sequence numbers changed on the way", |scene| scene.through(mb::renumbering(1 << 31)), any),
    tcp("TCP, segments split on the way", |scene| scene.through(mb::splitting()), any),
    tcp("TCP, an unknown option on every segment", |scene| scene.through(mb::adding_unknown()), any),
    Case {
        roles: &[Role::Server],
        ..tcp("TCP, a SYN answered with a cookie", |scene| scene.cookies = CookiePolicy::Always, any)
    },
    Case {
        roles: &[Role::Server],
        ..case("a SYN answered with a cookie", 2, |scene| scene.cookies = CookiePolicy::Always, stays::<2>)
    },
    Case {
        roles: &[Role::Server],
        ..case(
            "a SYN answered with a cookie, 2 % lost, with DSS checksums",
            1,
            cookies_and_losses,
            stays::<1>,
        )
    },
    case("one subflow", 1, |_| {}, stays::<1>),
    case(
        "two subflows",
        2,
        |_| {},
        |report| stays::<2>(report) && report.carried.iter().all(|octets| *octets > 0),
    ),
    case("three subflows", 3, long, stays::<3>),
    case("four subflows", 4, long, stays::<4>),
    case(
        "2 % lost",
        2,
        |scene| scene.through(mb::later(1, mb::lossy(50))),
        |report| stays::<2>(report) && report.retransmissions > 0,
    ),
    case("5 % late by three packets", 2, |scene| scene.through(mb::later(1, mb::reordering(20))), stays::<2>),
    case(
        "2 % lost, handshakes too",
        2,
        |scene| {
            scene.joined = 1;
            scene.through(mb::lossy(50));
        },
        |report| !report.fell_back && report.retransmissions > 0,
    ),
    case("5 % twice", 2, |scene| scene.through(mb::duplicating(20)), stays::<2>),
    case(
        "sequence numbers changed on the way",
        2,
        |scene| scene.through(mb::renumbering(1 << 31)),
        stays::<2>,
    ),
    case(
        "segments merged on the way, one in a hundred",
        2,
        |scene| scene.through(mb::later(1, mb::merging(1, 100))),
        |report| !report.fell_back,
    ),
    // Our mappings are of one segment each: the second one's is lost. Linux goes on as TCP. So do we if that happens before the first
    // DATA_ACK (RFC 8684 §3.7).
    case(
        "the only subflow's segments merged after 1 MB",
        1,
        |scene| {
            scene.fails = Some("no subflow is left, and not everything was delivered");
            scene.mptcp.close_timeout = Duration::from_secs(1);
            scene.through(mb::beyond(0, MEGABYTE, mb::merging(0, 100)));
        },
        |report| !report.fell_back,
    ),
    tcp("TCP, segments merged on the way", |scene| scene.through(mb::merging(0, 10)), any),
    case("segments split on the way", 2, |scene| scene.through(mb::splitting()), stays::<2>),
    case(
        "an unknown option on every segment",
        2,
        |scene| scene.through(mb::adding_unknown()),
        |report| !report.fell_back,
    ),
    case("options stripped from SYN", 1, |scene| scene.through(mb::stripping(mb::Sight::is_syn)), falls_back),
    case(
        "options stripped from SYN/ACK",
        1,
        |scene| {
            scene.through(mb::stripping(mb::Sight::is_syn_ack));
        },
        falls_back,
    ),
    case(
        "options stripped from all but SYN and SYN/ACK",
        1,
        |scene| {
            scene.through(mb::stripping(|sight| !sight.is_syn() && !sight.is_syn_ack()));
        },
        falls_back,
    ),
    case("options stripped from everything", 1, |scene| scene.through(mb::stripping(|_| true)), falls_back),
    case(
        "options stripped from the joining SYN",
        2,
        |scene| {
            scene.joined = 1;
            scene.through(mb::stripping(|sight| sight.port == 1 && sight.is_syn()));
        },
        stays::<1>,
    ),
    case(
        "options stripped from the joining SYN/ACK",
        2,
        |scene| {
            scene.joined = 1;
            scene.through(mb::stripping(|sight| sight.port == 1 && sight.is_syn_ack()));
        },
        stays::<1>,
    ),
    case(
        "options stripped from a subflow after 1 MB",
        2,
        |scene| {
            scene.through(mb::stripping(|sight| sight.port == 1 && sight.passed > MEGABYTE));
        },
        |report| !report.fell_back,
    ),
    // RFC 8684 §3.7: such a subflow SHOULD be reset. Linux goes on as TCP instead.
    case(
        "options stripped from the only subflow after 1 MB",
        1,
        |scene| {
            scene.fails = Some("no subflow is left, and not everything was delivered");
            scene.mptcp.close_timeout = Duration::from_secs(1);
            scene.through(mb::stripping(|sight| sight.passed > MEGABYTE));
        },
        |report| !report.fell_back,
    ),
    case(
        "the joined subflow reset after 1 MB",
        2,
        |scene| scene.through(mb::resetting(1, MEGABYTE)),
        |report| !report.fell_back,
    ),
    case(
        "the initial subflow reset after 1 MB",
        2,
        |scene| scene.through(mb::resetting(0, MEGABYTE)),
        |report| !report.fell_back,
    ),
    case(
        "the joined path dark for 2 s",
        2,
        |scene| {
            long(scene);
            scene.through(mb::later(1, mb::dark(1, 300, 2_300)));
        },
        |report| !report.fell_back,
    ),
    case(
        "the joined path dark for ever",
        2,
        |scene| {
            long(scene);
            scene.through(mb::later(1, mb::dark(1, 300, u64::MAX)));
        },
        |report| !report.fell_back,
    ),
    case(
        "the initial path dark for ever",
        2,
        |scene| {
            long(scene);
            scene.through(mb::later(1, mb::dark(0, 300, u64::MAX)));
        },
        |report| !report.fell_back,
    ),
    case("nothing but DATA_FINs", 2, |scene| scene.octets = [0, 0], |report| !report.fell_back),
    case("DATA_FIN from our side first", 2, |scene| scene.octets[0] = 1, |report| !report.fell_back),
    case("DATA_FIN from the kernel first", 2, |scene| scene.octets[1] = 1, |report| !report.fell_back),
    case("we read nothing for a second, then all", 2, |scene| scene.pause = 1_000, stays::<2>),
    case("a receive buffer of 64 kB", 2, |scene| scene.mptcp.receive_buffer = 65_536, stays::<2>),
    Case {
        name: "the kernel's second endpoint is a backup",
        roles: &[Role::Server],
        family: Family::V4,
        paths: 2,
        multipath: true,
        arrange: |_| command("ip mptcp endpoint change id 1 backup"),
        holds: |report| stays::<2>(report) && report.carried[1] == 0,
    },
    Case {
        name: "our address announced, nothing opened by us",
        roles: &[Role::Server],
        family: Family::V4,
        paths: 2,
        multipath: true,
        arrange: |_| {
            command("ip mptcp endpoint flush");
        },
        holds: |report| !report.fell_back && report.carried.len() == 2,
    },
    Case { family: Family::V6, ..tcp("TCP over IPv6", |_| {}, any) },
    Case { family: Family::V6, ..case("three subflows over IPv6", 3, long, stays::<3>) },
    Case {
        family: Family::V6,
        ..case(
            "2 % lost over IPv6",
            2,
            |scene| scene.through(mb::later(1, mb::lossy(50))),
            |report| stays::<2>(report) && report.retransmissions > 0,
        )
    },
    case(
        "fast close by us after 1 MB",
        2,
        |scene| {
            scene.aborts_after = Some(MEGABYTE);
            scene.fails = Some("the connection was aborted");
        },
        |_| namespace::has_counted("MPFastcloseRx"),
    ),
    case(
        "fast close by the kernel after 1 MB",
        2,
        |scene| {
            scene.kernel_aborts_after = Some(MEGABYTE);
            scene.fails = Some("the peer aborted the connection");
        },
        |_| namespace::has_counted("MPFastcloseTx"),
    ),
    Case {
        roles: &[Role::Server],
        ..case(
            "the kernel's second endpoint removed after 1 MB",
            2,
            |scene| {
                long(scene);
                scene.meanwhile = Some((MEGABYTE, || command("ip mptcp endpoint delete id 1")));
            },
            |report| !report.fell_back && namespace::has_counted("RmAddrTx") && rests(report),
        )
    },
    Case {
        roles: &[Role::Server],
        ..case(
            "the kernel's second endpoint becomes a backup after 1 MB",
            2,
            |scene| {
                long(scene);
                scene.meanwhile = Some((MEGABYTE, || command("ip mptcp endpoint change id 1 backup")));
            },
            |report| stays::<2>(report) && namespace::has_counted("MPPrioTx") && rests(report),
        )
    },
    Case {
        roles: &[Role::Client],
        ..case(
            "our second endpoint removed while data flows",
            2,
            |scene| changes(scene, KernelCommand::Delete { id: 1 }),
            |report| !report.fell_back && namespace::has_counted("RmAddr") && rests(report),
        )
    },
    Case {
        roles: &[Role::Client],
        ..case(
            "our second endpoint becomes a backup while data flows",
            2,
            |scene| changes(scene, KernelCommand::Change { id: 1, backup: true, fullmesh: false }),
            |report| stays::<2>(report) && namespace::has_counted("MPPrioRx") && rests(report),
        )
    },
    Case {
        roles: &[Role::Server],
        ..case(
            "our address announced with a port",
            2,
            |scene| {
                command("ip mptcp endpoint flush");
                let flags = EndpointFlags { signal: true, ..EndpointFlags::default() };
                scene.endpoint(
                    KernelEndpoint { port: Some(5002), ..scene.second_endpoint(flags) },
                    Vec::new(),
                );
            },
            |report| stays::<2>(report) && namespace::has_counted("PortAdd"),
        )
    },
    case(
        "DSS checksums: both want them",
        2,
        |scene| {
            scene.mptcp.checksum = true;
            command("sysctl -qw net.mptcp.checksum_enabled=1");
        },
        stays::<2>,
    ),
    case("DSS checksums: we want them", 2, |scene| scene.mptcp.checksum = true, stays::<2>),
    case(
        "DSS checksums: the kernel wants them",
        2,
        |_| command("sysctl -qw net.mptcp.checksum_enabled=1"),
        stays::<2>,
    ),
    case(
        "DSS checksums: 2 % lost",
        2,
        |scene| {
            scene.mptcp.checksum = true;
            scene.through(mb::later(1, mb::lossy(50)));
        },
        stays::<2>,
    ),
    case(
        "DSS checksums: an octet changed on the way to the kernel",
        2,
        |scene| {
            scene.mptcp.checksum = true;
            // The kernel resets the subflow. It repeats what it had sent there, one mapping in
            // 0.9 s. With a small buffer that is little.
            scene.mptcp.receive_buffer = 131_072;
            scene.through(mb::changing(1, Way::Out, MEGABYTE));
        },
        |report| !report.fell_back && namespace::has_counted("DataCsumErr"),
    ),
    case(
        "DSS checksums: an octet changed on the way to us",
        2,
        |scene| {
            scene.mptcp.checksum = true;
            scene.through(mb::changing(1, Way::In, MEGABYTE));
        },
        |report| !report.fell_back && namespace::has_counted("MPFailRx"),
    ),
    // RFC 8684 §3.1: the flag C says that no more subflows to this address are wanted.
    Case {
        roles: &[Role::Client],
        ..case(
            "the kernel wants no subflow to its first address",
            2,
            |scene| {
                scene.joined = 1;
                command("sysctl -qw net.mptcp.allow_join_initial_addr_port=0");
            },
            |report| stays::<1>(report) && !namespace::has_counted("MPJoinSynRx"),
        )
    },
];

/// Runs a case in a role, inside its namespace, and prints its report.
pub(crate) fn run(name: &str) {
    namespace::prepare();
    let found = CASES.iter().find_map(|case| {
        let role = case.roles.iter().find(|role| format!("{}/{role:?}", case.name) == name)?;
        Some((case, *role))
    });
    let (case, role) = found.expect("a case of this name");
    let mut scene = Scene::new(case.family, case.paths, case.multipath, role);
    (case.arrange)(&mut scene);
    std::panic::set_hook(Box::new(|why| println!("{why}\nthe kernel counted{}", namespace::counters())));
    let report = scene.run(role);
    assert!((case.holds)(&report), "{name}: {report:?}");
    println!("report: {report}");
}
