"""Distances between distributions from the command line, by cumulative sums and linear programs."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

VALUES = [0, 1, 3]
GROUPS = {"u": [0.5, 0.5, 0.0], "v": [0.125, 0.5, 0.375], "w": [0.25, 0.25, 0.5]}


@pytest.fixture
def files(tmp_path):
    """Write a family of three distributions, and a relation of neighbours."""
    rows = [f"{name},{x},{p}" for name, row in GROUPS.items() for x, p in zip(VALUES, row, strict=True) if p]
    Path("groups.csv").write_text("\n".join(["distribution,secret,probability", *rows]) + "\n", encoding="ascii")
    Path("near.csv").write_text("secret,other\n0,1\n", encoding="ascii")


def measured(run, *arguments):
    done = run("distance", "groups.csv", *arguments, "-o", "found.json")
    assert done.code == 0, done.err
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    return {(each["from"], each["to"], each["measure"]): float(each["value"]) for each in found["entries"]}


def test_wasserstein_distances_on_a_line(run, files):
    found = measured(run, "--metric", "absolute", "--unit", "year")
    gaps = np.diff(VALUES)
    for one, p in GROUPS.items():
        for other, q in GROUPS.items():
            if one != other:
                between = np.abs(np.cumsum(p) - np.cumsum(q))[:-1] @ gaps
                assert found[one, other, "W1"] == pytest.approx(between)
    assert found["u", "v", "Winf"] == 2  # 0.375 moves from 1 to 3, and as much from 0 to 1
    assert found["u", "w", "Winf"] == 2


def test_divergences(run, files):
    found = measured(run, "--order", "3", "--delta", "0.1")
    p, q = np.array(GROUPS["v"]), np.array(GROUPS["w"])
    assert found["v", "w", "total variation"] == pytest.approx(np.abs(p - q).sum() / 2)
    assert found["v", "w", "KL divergence"] == pytest.approx((p * np.log(p / q)).sum())
    assert found["w", "v", "reverse KL divergence"] == pytest.approx((p * np.log(p / q)).sum())
    assert found["v", "w", "Rényi divergence of order 3"] == pytest.approx(math.log((p**3 / q**2).sum()) / 2)
    assert math.isinf(found["v", "u", "KL divergence"])
    epsilon = found["v", "w", "epsilon at delta 0.1"]
    assert np.maximum(p - math.exp(epsilon) * q, 0).sum() == pytest.approx(0.1)
    assert not any(name in ("W1", "Winf") for *_, name in found)


def test_liftings(run, files):
    found = measured(run, "--metric", "absolute", "--relation", "near.csv")
    related = np.eye(3) + np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    sums = np.vstack([np.kron(np.eye(3), np.ones(3)), np.kron(np.ones(3), np.eye(3))])
    for one, p in GROUPS.items():
        for other, q in GROUPS.items():
            if one != other:
                least = linprog((related == 0).ravel(), A_eq=sums, b_eq=[*p, *q]).fun
                outside = found[one, other, "mass moved between unrelated secrets"]
                assert outside == pytest.approx(least, abs=1e-9)
                assert math.isinf(found[one, other, "W1 between related secrets"]) == (outside > 1e-9)


def test_the_table_names_both_directions(run, files):
    done = run("distance", "groups.csv", "--metric", "absolute", "--unit", "year")
    assert "W1 and Winf in year" in done.out
    assert done.out.count("u to v") == done.out.count("v to u") == 1


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("distribution,secret,probability\nu,a,1\n", (), "holds one distribution"),
        ("distribution,secret,probability\nu,a,1\nv,a,0.5\n", (), "sum"),
        ("distribution,secret\nu,a\n", (), "probability"),
        ("distribution,secret,probability\nu,a,1\nv,b,1\n", ("--metric", "absolute"), "choose hamming"),
        ("distribution,secret,probability\nu,a,1\nv,b,1\n", ("-o", "groups.csv"), ".json"),
        ("distribution,secret,probability\nu,a,1\nv,b,1\n", ("--delta", "2"), "delta"),
        ("distribution,secret,probability\nu,a,1\nv,b,1\n", ("--unit", "km"), "--unit was given without"),
        ("distribution,secret,probability\nu,,1\nv,b,1\n", (), "a cell of the column secret"),
        ("distribution,secret,probability\nu,a,1\nv,b,1\n", ("--relation", "none.csv"), "none.csv"),
    ],
)
def test_a_poor_table_is_explained(run, text, arguments, said):
    Path("groups.csv").write_text(text, encoding="ascii")
    done = run("distance", "groups.csv", *arguments)
    assert done.code == 1
    assert said in done.err
    assert [path.name for path in Path().iterdir()] == ["groups.csv"]
