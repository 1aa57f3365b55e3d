"""Tables that ``sfumato audit`` reads beside the mechanism: every notion is reached, poor files are told why."""

import json
import math
from itertools import permutations

import numpy as np
import pytest

from sfumato.audits.request import request_name
from sfumato.privacy import KINDS, VOCABULARY

MATRIX = "secret,x,y,z\nhome,0.5,0.3,0.2\nwork,0.3,0.4,0.3\nbar,0.2,0.3,0.5\n"
FILES = {
    "m.csv": MATRIX,
    "d.csv": "0,1,2\n1,0,1\n2,1,0\n",
    "prior.csv": "secret,probability\nhome,0.5\nwork,0.25\nbar,0.25\n",
    "relation.csv": "secret,other\nhome,work\n",
    "events.csv": "event,secret\nout,bar\nbusy,work\nin,home\n",
    "kinds.csv": "secret,value\nhome,private\nbar,private\nwork,public\n",
    "rivals.csv": "event,rival\nout,in\n",
    "family.csv": "distribution,secret,probability\nday,work,0.75\nday,home,0.25\nnight,home,1\n",
    "set.csv": "record,value,secret,becomes\n"
    + "".join(
        f"place,{value},{secret},{value}\n" for value in ("home", "bar") for secret in ("home", "work", "bar")
    ),
    "curve.csv": "alpha,beta\n0,0.9\n0.1,0.5\n1,0\n",
}
ROWS = np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
HOME, WORK, BAR = ROWS


@pytest.fixture
def audited(run, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def call(*options):
        done = run("audit", "m.csv", "--output", "found.json", *options)
        if done.code == 1:
            return done, {}
        found = json.loads((tmp_path / "found.json").read_text())["entries"]
        return done, {entry["name"]: entry for entry in found}

    return call


def log_ratio(p, q):
    return float(np.abs(np.log(p / q)).max())


def test_every_key_can_be_reached_from_the_command_line(audited):
    twice = {"adversarial", "probabilistic-differential-privacy"}  # their deltas, at an epsilon
    named = {request_name(kind.description.key, kind.parameter) for kind in KINDS if kind.on_request} - twice
    files = {"prior": "prior.csv", "events": "events.csv", "rivals": "rivals.csv", "relation": "relation.csv"}
    files |= {"family": "family.csv", "interventions": "set.csv", "distances": "d.csv", "curve": "epsilon=0.3"}
    options = [part for name, file in files.items() for part in (f"--{name}", file)]
    done, found = audited(
        *options, "--unit", "km", *(part for key in sorted(named) for part in ("--measure", key))
    )
    assert done.code == 0, done.err
    assert {entry["key"] for entry in found.values()} >= set(VOCABULARY)


def test_tables_mean_what_they_say(audited):
    _, found = audited("--relation", "relation.csv", "--order", "8", "--delta-at", "0.2", "--curve", "epsilon=0.3")
    assert found["differential-privacy"]["value"] == pytest.approx(log_ratio(HOME, WORK))
    powers = (math.log((p**8 * q**-7).sum()) / 7 for p, q in ((HOME, WORK), (WORK, HOME)))
    assert found["renyi-privacy(order=8)"]["value"] == pytest.approx(max(powers))
    excess = max(np.maximum(p - math.exp(0.2) * q, 0).sum() for p, q in ((HOME, WORK), (WORK, HOME)))
    assert found["differential-privacy(epsilon=0.2)"]["value"] == pytest.approx(excess)
    assert "trade-off" in found
    _, found = audited("--prior", "prior.csv", "--events", "kinds.csv")
    private = (0.5 * HOME + 0.25 * BAR) / 0.75
    assert found["noiseless"]["value"] == pytest.approx(log_ratio(private, WORK))
    _, found = audited("--prior", "prior.csv", "--events", "events.csv", "--rivals", "rivals.csv")
    assert found["pufferfish"]["value"] == pytest.approx(log_ratio(BAR, HOME))
    _, found = audited("--family", "family.csv")
    assert found["distribution-privacy"]["value"] == pytest.approx(log_ratio(0.75 * WORK + 0.25 * HOME, HOME))
    _, found = audited("--interventions", "set.csv")
    assert found["causal(prior=every)"]["value"] == pytest.approx(log_ratio(HOME, BAR))


def test_witnesses_name_records_and_values_as_the_table_does(audited):
    options = ("--interventions", "set.csv", "--prior", "prior.csv", "--measure", "inference-based-causal")
    _, found = audited(*options)
    assert found["causal"]["witness"].endswith("report x, record place set to home and to bar")
    assert found["causal"]["value"] == pytest.approx(log_ratio(HOME, BAR))
    assert "record place set to " in found["inference-based-causal"]["witness"]


def test_a_curve_of_vertices(audited):
    _, found = audited("--curve", "curve.csv")
    gaps = [0.9 - 1.0]  # at alpha 0 no test is better than the curve
    for p, q in permutations(ROWS, 2):  # the curve minus the error of each likelihood ratio test
        order = np.argsort(-q / p, kind="stable")
        gaps.extend(np.interp(p[order].cumsum(), [0, 0.1, 1], [0.9, 0.5, 0]) - (1 - q[order].cumsum()))
    assert max(gaps) > 0
    assert found["trade-off"]["value"] == pytest.approx(max(gaps), rel=1e-9)


def test_requirements_measure_what_they_name(audited):
    done, _ = audited(
        *("--require", "divergence-privacy(of=total-variation) <= 0.6"),
        *("--require", "renyi-privacy(order=8) <= 1"),
        *("--require", "distribution-privacy <= 9"),
        *("--require", "adversarial(epsilon=0.5, prior=every) <= 0.5"),
        *("--family", "family.csv"),
    )
    assert done.code == 0, done.err
    assert done.text.count("HOLDS") == 4


BAD = [
    (("--require", "divergence-privacy <= .6"), "", "divergence-privacy(of=total-variation)"),
    (("--require", "distribution-privacy <= 1"), "", "give --family"),
    (("--require", "metric-privacy <= 1"), "", "give --metric"),
    (("--require", "bayes-vulnerability <= 1"), "", "give --prior"),
    (("--measure", "gausian"), "", "did you mean gaussian"),
    (("--delta", "-1"), "", "-1 was given as a delta"),
    (("--delta-at", "-1"), "", "-1"),
    (("--order", "-1"), "", "order"),
    (("--relation", "x.csv"), "secret,other\nhome,work\nhome,pub\n", "row 2 of the column other"),
    (("--relation", "x.csv"), "secret,other\nhome,home\n", "no pair of two different secrets"),
    (("--relation", "x.csv"), "a,b\nhome,work\n", "no column 'secret'"),
    (("--relation", "x.csv"), "secret,other\n", "no rows"),
    (("--relation", "nowhere.csv"), "", "there is no file"),
    (("--relation", "x.txt"), "secret,other\nhome,work\n", "neither a CSV nor a Parquet"),
    (("--events", "x.csv"), "secret,value\nhome,a\nwork,b\n", "gives 'bar' 0 values"),
    (("--events", "x.csv"), "secret,value\nhome,a\nwork,a\nbar,a\n", "one value of the attribute"),
    (("--events", "x.csv"), "event,secret\ne,home\ne,work\ne,bar\n", "'e' is true of every secret"),
    (("--events", "x.csv"), "fact,secret\ne,home\n", "give event and secret"),
    (("--rivals", "rivals.csv"), "", "--rivals was given without --events"),
    (
        ("--events", "events.csv", "--rivals", "x.csv"),
        "event,rival\nout,up\n",
        "names an event which --events does not have",
    ),
    (("--events", "events.csv", "--rivals", "x.csv"), "event,rival\nout,out\n", "rival of itself"),
    (("--family", "x.csv"), "distribution,secret,probability\nday,home,1\n", "holds one distribution"),
    (
        ("--family", "x.csv"),
        "distribution,secret,probability\nday,home,0.5\nnight,work,1\n",
        "distribution day has smallest entry 0 and sum 0.5",
    ),
    (
        ("--family", "x.csv"),
        "distribution,secret,probability\nday,home,0.5\nday,home,0.5\nnight,work,1\n",
        "names 'home' twice",
    ),
    (("--family", "x.csv"), "distribution,secret,probability\nday,home,all\n", "write numbers there"),
    (
        ("--interventions", "x.csv"),
        "record,value,secret,becomes\nr,a,home,home\n",
        "does not say what 'work' becomes",
    ),
    (
        ("--interventions", "x.csv"),
        "record,value,secret,becomes\nr,a,home,home\nr,a,home,work\n",
        "says twice what 'home' becomes when 'r' is 'a'",
    ),
    (
        ("--family", "x.csv"),
        "distribution,secret,probability\nday,home,1\n,work,1\n",
        "a cell of the column distribution of x.csv is empty",
    ),
    (("--kind-column", "kind"), "", "--kind-column was given without --kinds"),
    (("--curve", "tau=1"), "", "'tau=1' is not a curve"),
    (("--curve", "mu=x"), "", "mu"),
    (("--curve", "mu=-1"), "", "mu is -1"),
    (("--curve", "x.csv"), "alpha,beta\n0,1\n1,0.5\n", "not those of a trade-off curve"),
    (("--curve", "x.csv"), "alpha,beta\n0,1\n0.5,0.9\n1,0\n", "not convex"),
    (("--promises", "--family", "family.csv"), "", "was given, which has no meaning for --promises"),
]


@pytest.mark.parametrize(("options", "text", "message"), BAD, ids=[message[:40] for *_, message in BAD])
def test_what_cannot_be_used_is_told_in_the_words_of_the_command_line(audited, tmp_path, options, text, message):
    for name in ("x.csv", "x.txt"):
        if text:
            (tmp_path / name).write_text(text)
    done, _ = audited(*options)
    assert done.code == 1
    said = " ".join(done.err.split())
    assert message in said
    assert "Hint: " in done.err
    for python in ("Traceback", "prior=", "metric=", "family=", "sf."):
        assert python not in said.replace("prior=every", "")


def test_other_tables_are_recognised(run, tmp_path):
    (tmp_path / "visits.csv").write_text("user,lat,lon\na,48.8,2.3\nb,48.9,-2.4\n")
    done = run("audit", "visits.csv")
    assert done.code == 1
    assert "looks like a table of places (columns user, lat, lon)" in " ".join(done.err.split())
    assert "sfumato design visits.csv -o mine.sfm" in done.err
    (tmp_path / "seen.csv").write_text("secret,output\na,x\nb,y\n")
    assert "sfumato audit-samples seen.csv" in run("audit", "seen.csv").err
