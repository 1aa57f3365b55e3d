"""Conversions of guarantees from the command line: values, steps, and what is refused."""

import json
import math
from pathlib import Path

import pytest

from sfumato.privacy import ATLAS, VOCABULARY


def implied(run, *arguments):
    done = run("convert", *arguments, "-o", "found.json")
    assert done.code == 0, done.err
    return json.loads(Path("found.json").read_text(encoding="utf-8"))


def numbers(found, notion, **given):
    (entry,) = [
        each
        for each in found["implied"]
        if each["notion"] == notion and given.items() <= {**each["numbers"], "of": each["of"]}.items()
    ]
    return entry["numbers"]


def test_a_guarantee_in_all_notions(run):
    found = implied(run, "epsilon <= 1")
    half = math.tanh(0.5)
    assert numbers(found, "concentrated-privacy")["rho"] == pytest.approx(half)
    assert numbers(found, "kl-privacy")["epsilon"] == pytest.approx(half)
    assert numbers(found, "divergence-privacy", of="total-variation")["epsilon"] == pytest.approx(half)
    assert numbers(found, "semantic")["epsilon"] == pytest.approx(math.tanh(0.25))
    order = (math.e**2 + math.exp(-1)) / (1 + math.e)
    assert numbers(found, "renyi-privacy", order=2.0)["epsilon"] == pytest.approx(math.log(order))
    assert not any(each["notion"] == "differential-privacy" for each in found["implied"])
    assert {each["notion"] for each in found["implied"]} | set(found["not_implied"]) == set(VOCABULARY) - {
        "differential-privacy"
    }
    known = {edge.name: edge for edge in ATLAS}
    for each in found["implied"]:
        assert all(step["source"] == known[step["name"]].source for step in each["steps"])


def test_delta_and_order(run):
    found = implied(run, "rho <= 0.5", "--delta", "1e-5", "--delta", "1e-9", "--order", "8")
    for delta in (1e-5, 1e-9):
        known = 0.5 + 2 * math.sqrt(0.5 * math.log(1 / delta))
        assert 0.5 < numbers(found, "differential-privacy", delta=delta)["epsilon"] < known
    assert numbers(found, "renyi-privacy")["epsilon"] == pytest.approx(4)
    found = implied(run, "epsilon <= 1", "--order", "inf")
    assert numbers(found, "renyi-privacy") == {"epsilon": pytest.approx(1), "order": "inf"}


def test_distances_of_a_file_have_the_unit_of_the_guarantee(run, tmp_path):
    (tmp_path / "minutes.csv").write_text("0,2\n3,0\n", encoding="utf-8")
    distances = ("--labels", "a,b", "--distances", "minutes.csv", "--asymmetric")
    assert numbers(implied(run, "epsilon <= 0.1/min", *distances), "semantic")
    assert numbers(implied(run, "epsilon <= 6/h", *distances, "--unit", "min"), "semantic")


def test_the_steps_are_shown(run):
    done = run("convert", "epsilon <= 1", "--to", "rho", "--to", "renyi-privacy(order=8)")
    assert done.code == 0
    assert "if delta = 0 and the relation is symmetric" in done.text
    assert "Bun and Steinke 2016" in done.text
    assert "rho 0.462118" in done.text
    assert "Mironov 2017" in done.text


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("guarantee", "secrets", "epsilon"),
    [
        ("epsilon <= 0.1/year", ("--numbers", "18..99", "--metric", "absolute"), 8.1),
        ("metric-privacy <= 0.1", ("--numbers", "0..20", "--metric", "absolute"), 2),
        ("metric-privacy <= 0.5", ("--labels", "a,b,c", "--metric", "hamming"), 0.5),
    ],
)
def test_metric_privacy(run, guarantee, secrets, epsilon):
    found = implied(run, guarantee, *secrets)
    assert numbers(found, "differential-privacy")["epsilon"] == pytest.approx(epsilon)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("epsilon <= 0.1/year",), "--metric"),
        (("epsilon <= 0.1/year", "--metric", "absolute"), "--numbers 18..99"),
        (("epsilon <= 1", "--labels", "a,b"), "--metric absolute"),
        (("epsilon >= 1",), "use <="),
        (("epsilon",), "epsilon <= 0.7/km"),
        (("nonsense <= 1",), "differential-privacy"),
        (("distortion <= 1",), "'sfumato audit' measures"),
        (("zcdp <= 0.5",), "did you mean concentrated-privacy?"),
        (("epsilon <= 1", "--to", "rdp(order=8)"), "did you mean renyi-privacy?"),
        (("epsilon(delta=1e-6) <= 1", "--to", "rho"), "delta = 0 is needed"),
        (("epsilon <= 1", "--to", "nonsense"), "--to: no notion is called"),
        (("epsilon <= 1", "--to", "renyi-privacy"), "renyi-privacy(order=2)"),
        (("epsilon <= 1", "--to", "rho", "--delta", "0.1"), "--delta was given with --to"),
        (("epsilon <= 1", "-o", "found.txt"), "found.json"),
        (("epsilon <= 1", "--numbers", "5..1", "--metric", "absolute"), "--numbers"),
    ],
)
def test_a_poor_request_is_explained(run, arguments, said):
    done = run("convert", *arguments)
    assert done.code == 1
    assert done.out == ""
    assert said in done.err
    assert not list(Path().iterdir())
