use super::{Assignment, drawn_radios};

fn first_hops(assignment: &Assignment, route: usize, channels: u32) -> Vec<u32> {
    let pattern = assignment.pattern(route, channels).expect("no radios");
    pattern.iter().copied().cycle().take(5).collect()
}

#[test]
fn channels_go_by_route_along_the_hops_or_by_a_list() {
    let list = Assignment::List(vec![2, 0]);
    let cases = [
        (&Assignment::PerRoute, 0, [0, 0, 0, 0, 0]),
        (&Assignment::PerRoute, 4, [1, 1, 1, 1, 1]),
        (&Assignment::Alternate, 0, [0, 1, 2, 0, 1]),
        (&Assignment::Alternate, 2, [2, 0, 1, 2, 0]),
        (&list, 0, [2, 0, 2, 0, 2]),
        (&list, 1, [2, 0, 2, 0, 2]),
    ];
    for (assignment, route, expected) in cases {
        assert_eq!(first_hops(assignment, route, 3), expected, "{assignment:?}, route {route}");
    }
    assert_eq!(Assignment::Radios.pattern(0, 3), None);
}

#[test]
fn assignments_are_read_by_name_or_as_a_list() {
    assert_eq!("alternate".parse(), Ok(Assignment::Alternate));
    assert_eq!("0, 1,0".parse(), Ok(Assignment::List(vec![0, 1, 0])));
    for wrong in ["", "0,-1", "0;1", "by-luck"] {
        let error = wrong.parse::<Assignment>().expect_err(wrong).to_string();
        assert!(error.starts_with(&format!("assign: \"{wrong}\" is none; choose per-route,")), "{error}");
    }
}

#[test]
fn a_list_may_name_only_channels_that_there_are() {
    assert_eq!(Assignment::List(vec![0, 2]).validate(3), Ok(()));
    let message = |channels| Assignment::List(vec![0, 3]).validate(channels).expect_err("3").to_string();
    assert_eq!(message(3), "assign: there is no channel 3: the channels are 0 to 2");
    assert_eq!(message(1), "assign: there is no channel 3: there is channel 0 only");
}

#[test]
fn radios_are_drawn_on_different_channels_all_equally_often() {
    let drawn = drawn_radios(30_000, 2, 3, 1, 0);
    for pair in [[0, 1], [0, 2], [1, 2]] {
        let times = drawn.iter().filter(|own| own.as_slice() == pair).count();
        // Binomial with 30 000 and 1/3: 10 000 with a standard deviation of 82.
        assert!((9_700..10_300).contains(&times), "{pair:?}: {times}");
    }
    assert_eq!(drawn_radios(10, 2, 3, 1, 0), drawn[..10]);
    assert_ne!(drawn_radios(10, 2, 3, 1, 7), drawn[..10]);
}
