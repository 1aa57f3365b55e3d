"""The benchmarks' smallest case, by sfumato's own solver, in a process of its own as the command runs it."""

import pytest
from benchmarks.registry import CONTENDERS, OURS, SUITES, Case, Instance, suite
from benchmarks.results import newest
from benchmarks.run import run
from benchmarks.table import TARGET, in_short, ratios


@pytest.mark.slow
def test_the_smallest_case_of_our_own_solver():
    case = min(
        (case for case in suite("quick") if case.contender.name in OURS), key=lambda case: case.instance.cells
    )
    record = run(case, 60.0)
    assert record["outcome"] == "solved", record["status"]
    assert record["cost"] == pytest.approx(1.448197, abs=2e-6)  # golden cost of 5 x 5 cells
    assert record["gap"] <= 2 * case.instance.gap
    assert record["infinite_pairs"] == 0
    assert record["epsilon"] <= record["proved_epsilon"] <= case.instance.epsilon
    assert 0 < record["solve_cpu_s"] <= record["process_cpu_s"]


@pytest.mark.slow
def test_a_run_past_its_limit_is_recorded_as_not_finished():
    # Any time is enough for a private mechanism, and this is too little for a small gap.
    case = Case(Instance("uniform", "euclidean", 7, 7), CONTENDERS["structured"])
    record = run(case, 0.001)
    assert record["outcome"] == "not finished"
    assert record["epsilon"] <= case.instance.epsilon
    assert record["gap"] > case.instance.gap


def test_every_suite_names_its_runs_once():
    for name in SUITES:
        names = [(case.instance, case.contender.name) for case in SUITES[name]()]
        assert len(names) == len(set(names))


def test_ratios_are_to_the_structured_method_and_leave_failures_out():
    runs = [
        {"contender": "qif with GLOP, plain", "outcome": "not finished", "process_cpu_s": 30.0},
        {"contender": "structured, symmetry", "outcome": "solved", "process_cpu_s": 9.0, "solve_cpu_s": 1.0},
        {"contender": "structured", "outcome": "solved", "process_cpu_s": 9.0, "solve_cpu_s": 3.0},
        {"contender": "Clarabel, plain", "outcome": "failed", "process_cpu_s": 1.0},
    ]
    assert ratios(runs) == pytest.approx(
        {"structured": 1.0, "structured, symmetry": 1 / 3, "qif with GLOP, plain": 10.0}
    )


def test_the_page_begins_with_what_the_results_say():
    found = newest(list(SUITES))
    assert in_short(found) in TARGET.read_text(encoding="utf-8")
    (headline,) = (each for each in found if each.suite == "headline")
    for each in headline.runs:
        asked = each["instance"]["epsilon"] * (1 + 1e-6)
        kept = each["outcome"] == "solved" and not each["infinite_pairs"] and each["epsilon"] <= asked
        assert (f"({each['contender']})" in in_short([headline])) == kept
