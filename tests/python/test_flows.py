"""Completion times and fairness of several connections."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ropewalk
from conftest import TWO_PATHS
from ropewalk.flows import jain, of_connections, percentile


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.floats(0, 100))
def test_percentiles_are_those_of_numpy(values: list[float], percent: float) -> None:
    ours = percentile(sorted(values), percent)
    assert ours == pytest.approx(float(np.percentile(values, percent)), rel=1e-9, abs=1e-6)


def test_fairness_is_one_for_equal_shares_and_a_part_for_one_that_has_all() -> None:
    assert jain([3.0, 3.0, 3.0]) == pytest.approx(1)
    assert jain([5.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    assert jain([0.0, 0.0]) is None


def test_one_connection_is_no_crowd_and_unfinished_ones_have_no_time() -> None:
    row = {"completed": True, "start_s": 1.0, "end_s": 3.0, "goodput_mbps": 1.0}
    assert of_connections([row]) is None
    figures = of_connections([row, {**row, "end_s": 5.0}, {**row, "completed": False, "end_s": None}])
    assert figures is not None
    assert (figures["connections"], figures["completed"]) == (3, 2)
    assert (figures["completion_p50_s"], figures["completion_max_s"]) == (3.0, 4.0)
    assert figures["fairness"] == pytest.approx(1)


def test_a_run_of_several_connections_says_so() -> None:
    text = TWO_PATHS.replace(
        'application = { kind = "bulk" }', 'application = { kind = "bulk", bytes = "50 kB" }'
    )
    several = text.replace("[connections.bulk]", "[connections.bulk]\ncount = 4")
    result = ropewalk.run(several, compare=False, replications=2)
    for run in result.runs:
        assert run["flows"]["completed"] == 4
        assert 0 < run["flows"]["completion_p50_s"] <= run["flows"]["completion_max_s"] < 3
        assert 0.25 <= run["flows"]["fairness"] <= 1
    assert result.combined["flows"]["completed"].mean == 4
    assert "flows" not in ropewalk.run(text, compare=False).runs[0]


def test_results_are_pictures_frames_and_tables_of_notebooks() -> None:
    result = ropewalk.run(TWO_PATHS, replications=2)
    picture = result.plot("cwnd")
    (axes,) = picture.axes
    assert axes.get_ylabel() == "cwnd [octets]"
    assert {line.get_label() for line in axes.get_lines()} == {
        f"bulk {path} seed {seed}" for path in "ab" for seed in (7, 8)
    }
    assert result.plot("hol_blocked_ms").axes[0].get_ylabel() == "hol blocked [ms]"
    with pytest.raises(ropewalk.InputError, match="give one of cwnd, ssthresh"):
        result.plot("windows")
    frame = result.benefit_frame()
    assert frame["connection"].to_list() == ["bulk"]
    assert {"verdict", "goodput_mbps", "goodput_mbps_low", "alone_mbps.a", "alone_mbps.b"} <= set(
        frame.columns
    )
    assert "two-paths" in result._repr_html_()
    assert "<table" in result._repr_html_()


def test_results_are_charts_of_altair_and_frames_of_pandas() -> None:
    result = ropewalk.run(TWO_PATHS, replications=2, compare=False)
    chart = result.chart("cwnd").to_dict()
    assert chart["mark"]["type"] == "line"
    assert chart["encoding"]["y"]["title"] == "cwnd [octets]"
    (rows,) = chart["datasets"].values()
    assert {row["line"] for row in rows} == {f"bulk {path} seed {seed}" for path in "ab" for seed in (7, 8)}
    with pytest.raises(ropewalk.InputError, match="give one of cwnd, ssthresh"):
        result.chart("windows")
    pandas = result.connections.to_pandas()
    assert pandas["goodput_mbps"].tolist() == result.connections["goodput_mbps"].to_list()
