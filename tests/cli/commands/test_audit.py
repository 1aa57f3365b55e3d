"""``sfumato audit``: files, matrices, samples and functions; requirements and exit codes."""

import json
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.rounding import at_most

COIN = ",heads,tails\na,0.75,0.25\nb,0.25,0.75\n"


@pytest.fixture
def coin(run, tmp_path):
    (tmp_path / "coin.csv").write_text(COIN)
    return "coin.csv"


def test_audit_proves_the_file_again(run, designed):
    done = run("audit", "m.sfm")
    assert done.code == 0, done.err
    assert "epsilon is at most 1/km" in done.text
    assert "comes closest to the bound" in done.text
    assert "No mechanism with this guarantee and these reports has an average loss below" in done.text


def test_audit_does_not_believe_the_file(run, designed):
    liar = sf.MechanismFile(
        designed.mechanism,
        designed.prior,
        designed.loss,
        [sf.MetricPrivacy(0.5, designed.guarantees[0].metric)],
        {"certificate": {"holds": True}},
    )
    sf.save(liar, "liar.sfm")
    done = run("audit", "liar.sfm")
    assert done.code == 1
    assert "The file claims this: no report is more than e^(0.5 x distance" in done.text
    assert "NOT PROVED" in done.text
    assert "breaks the guarantee most" in done.text


def test_audit_of_a_mechanism_saved_alone(run, designed):
    sf.save(designed.mechanism, "alone.sfm")
    done = run("audit", "alone.sfm", "--promises")
    assert done.code == 0, done.err
    assert "epsilon is at most 1/km" in done.text
    sf.save(sf.mechanisms.randomised_response(sf.Space("abc"), 1.0), "closed.sfm")
    done = run("audit", "closed.sfm", "--promises")
    assert done.code == 0, done.err
    assert "guarantees nothing" not in done.text


def test_audit_of_a_file_without_promises(run, designed):
    sf.save(designed.mechanism.promising([]), "bare.sfm")
    done = run("audit", "bare.sfm")
    assert done.code == 0, done.err
    assert "guarantees nothing" in done.text
    assert run("audit", "bare.sfm", "--promises").code == 1
    assert run("audit", "m.sfm", "--promises").code == 0


def test_a_designed_file_keeps_requirements(run, designed):
    done = run("audit", "m.sfm", "--require", "epsilon <= 1/km", "--require", "bayes_vulnerability <= 99 %")
    assert done.code == 0, done.err
    assert done.text.count("HOLDS") == 2
    failed = run("audit", "m.sfm", "--require", "epsilon <= 0.9/km", "--require", "epsilon <= 1/km")
    assert failed.code == 1
    assert "The requirement 'epsilon <= 0.9/km' FAILS: epsilon is at least" in failed.text
    assert "attained by" in failed.text


@pytest.mark.slow
def test_a_lattice_is_audited_in_lengths_not_in_steps(run, visits_file):
    done = run("design", visits_file, "--spacing", "1.5 km", "--method", "table", "-o", "l.sfm", "--no-picture")
    assert done.code == 0, done.err
    done = run("audit", "l.sfm", "-o", "l.json", "--require", "epsilon <= 1/km")
    assert done.code == 0, done.err
    assert "step" not in done.text
    assert "The secrets are the vertices that points are rounded to at random." in done.text
    assert "counted from the vertex that you are rounded to, if they guess a vertex" in done.text
    entries = {entry["name"]: entry for entry in json.loads(Path("l.json").read_text())["entries"]}
    assert (entries["metric-privacy"]["unit"], entries["distortion"]["unit"]) == ("/km", "km")
    mechanism = sf.read_mechanism_file("l.sfm").alone().report_channel
    places = mechanism.secrets.coordinates
    assert places is not None
    apart = np.hypot(*((places[:, None] - places[None]) / 1000).transpose(2, 0, 1))
    logs = np.log(mechanism.matrix)
    steep: np.ndarray = (logs[:, None] - logs[None]).max(axis=2) / np.where(apart > 0, apart, np.inf)
    assert entries["metric-privacy"]["value"] == pytest.approx(steep.max(), rel=1e-9)
    metres = run("audit", "l.sfm", "-o", "m.json", "--unit", "m")
    assert metres.code == 0, metres.err
    entries = {entry["name"]: entry for entry in json.loads(Path("m.json").read_text())["entries"]}
    assert entries["metric-privacy"]["value"] == pytest.approx(steep.max() / 1000, rel=1e-9)


def test_a_matrix_is_measured_under_every_notion(run, coin):
    done = run("audit", coin, "--prior", "uniform", "--require", "epsilon <= 1.0987", "--output", "found.json")
    assert done.code == 0, done.err
    for name in ("Differential privacy", "Gaussian", "Bounded range", "Membership", "Semantic", "capacity"):
        assert name in done.text
    assert "a against b" in done.text or "b against a" in done.text
    with open("found.json", encoding="utf-8") as file:
        found = json.load(file)
    epsilon = next(entry for entry in found["entries"] if entry["key"] == "differential-privacy")
    assert epsilon["value"] == pytest.approx(np.log(3))
    assert epsilon["side"] == "at most, proved"
    assert run("audit", coin, "--require", "epsilon <= 1.09").code == 1


def test_a_metric_of_ones_own(run, tmp_path):
    np.save(tmp_path / "m.npy", np.array([[0.75, 0.25], [0.25, 0.75]]))
    (tmp_path / "d.csv").write_text("0,2\n2,0\n")
    done = run("audit", "m.npy", "--distances", "d.csv", "--unit", "km", "--require", "epsilon <= 0.55/km")
    assert done.code == 0, done.err
    assert run("audit", "m.npy", "--metric", "absolute", "--require", "epsilon <= 1.09").code == 1
    assert "choose one" in run("audit", "m.npy", "--metric", "absolute", "--distances", "d.csv").err


def test_distances_that_depend_on_the_direction(run, tmp_path):
    np.save(tmp_path / "m.npy", np.array([[0.75, 0.25], [0.5, 0.5]]))
    (tmp_path / "d.csv").write_text("0,1\n4,0\n")
    audit = ("audit", "m.npy", "--distances", "d.csv", "--unit", "km")
    refused = run(*audit)
    assert refused.code == 1
    assert "pass --asymmetric if the distance depends on the direction" in " ".join(refused.err.split())
    done = run(
        *audit, "--asymmetric", "--require", "metric-privacy <= 0.406/km"
    )  # ln 1.5 over 1 km; ln 2 over 4 km
    assert done.code == 0, done.err
    assert "Attained by 0 against 1, report 0, 1 km from the first to the second" in " ".join(done.text.split())
    assert run(*audit, "--asymmetric", "--require", "metric-privacy <= 0.405/km").code == 1
    assert "--asymmetric was given without" in run("audit", "m.npy", "--asymmetric").err


def test_beliefs_near_the_distributions(run, coin, tmp_path):
    """The worst beliefs in two secrets move 0.1 of the mass: b has 0.6 for 0.5, and 0.15 for 0.25."""
    family = "distribution,secret,probability\nyoung,a,0.75\nyoung,b,0.25\nold,a,0.5\nold,b,0.5\n"
    (tmp_path / "family.csv").write_text(family)
    options = ("--family", "family.csv", "--beliefs-within", "0.1", "--delta", "0.01", "-o", "found.json")
    assert run("audit", coin, *options).code == 0
    (pure, rare) = json.loads(Path("found.json").read_text(encoding="utf-8"))["notes"][-2:]
    tails = 0.25 + 0.5 * np.array([0.6, 0.15])  # the probability of tails, from that of b
    assert f"epsilon at most {at_most(np.log(tails[0] / tails[1]))} with delta 0 " in pure
    assert f"epsilon at most {at_most(np.log((tails[0] - 0.01) / tails[1]))} with delta 0.01 " in rare
    refused = run("audit", coin, "--beliefs-within", "0.1")
    assert (refused.code, refused.out) == (1, "")
    assert "add the distributions: --family" in refused.err
    assert run("audit", coin, "--family", "family.csv", "--beliefs-within", "2").code == 2


@pytest.mark.slow
def test_figures(run, coin, tmp_path):
    done = run("audit", coin, "--metric", "hamming", "--prior", "uniform", "--figures", "figures")
    assert done.code == 0, done.err
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {"profile.png", "trade-off.png", "prior-to-posterior.png", "epsilon-by-distance.png"}


@pytest.mark.slow
def test_figures_of_another_kind_and_those_left_out(run, coin, tmp_path):
    done = run("audit", coin, "--figures", "figures", "--figures-as", "svg", "--dark")
    assert done.code == 0, done.err
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {"profile.svg", "trade-off.svg", "prior-to-posterior.svg"}
    assert "#15181d" in (tmp_path / "figures" / "profile.svg").read_text(encoding="utf-8")
    assert "Left out: epsilon-by-distance.svg, because no distance of two secrets is given" in done.err
    assert "add --metric or --distances" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--figures", "here", "--figures-as", "gif"), "there are no figures as 'gif'"),
        (("--figures-as", "svg"), "--figures-as was given, but no figures are drawn"),
        (("--dark",), "--dark was given, but no figures are drawn"),
    ],
)
def test_figures_that_cannot_be_are_refused_first(run, coin, tmp_path, words, said):
    done = run("audit", coin, *words)
    assert done.code == 1
    assert said in done.err
    assert not (tmp_path / "here").exists()


@pytest.mark.slow
def test_figures_are_of_the_pairs_that_were_asked_for(run, tmp_path):
    (tmp_path / "m.csv").write_text("0.8,0.2\n0.2,0.8\n0.5,0.5\n")
    (tmp_path / "pairs.csv").write_text("secret,other\n0,2\n")
    for more, words in (((), "any two secrets"), (("--relation", "pairs.csv"), "listed pairs")):
        done = run("audit", "m.csv", *more, "--figures", "figures", "--figures-as", "svg")
        assert done.code == 0, done.err
        drawn = (tmp_path / "figures" / "profile.svg").read_text(encoding="utf-8")
        assert words in drawn, drawn[-3000:]


def test_samples_refute_but_never_prove(run, tmp_path):
    rng = np.random.default_rng(1)
    secret = rng.integers(0, 2, 5000)
    output = np.where(rng.random(5000) < 0.9, secret, 1 - secret)
    lines = [f"{s},{o}" for s, o in zip(secret, output, strict=True)]
    (tmp_path / "seen.csv").write_text("place,report\n" + "\n".join(lines) + "\n")
    base = ("audit-samples", "seen.csv", "--columns", "place,report", "--failure", "1e-3")
    assert run(*base, "--require", "epsilon <= 1").code == 1
    done = run(*base, "--require", "epsilon <= 3")
    assert done.code == 3
    assert "samples cannot prove it" in done.text
    assert "no column" in run("audit-samples", "seen.csv").err


@pytest.mark.slow
def test_a_function_is_called_until_its_claim_is_refuted(run, tmp_path):
    (tmp_path / "noise_of_test_audit.py").write_text(
        "from random import Random\n\nrandom = Random(1)\n\n\ndef keep(secret):\n    return secret\n\n\n"
        "def toss(secret):\n    return secret if random.randrange(4) else 1 - secret\n"
    )
    base = ("audit-function", "--secrets", "0-1", "--failure", "1e-3", "--limit", "6000")
    refuted = run(*base, "noise_of_test_audit:keep", "--epsilon", "1")
    assert refuted.code == 1
    assert "the claim is violated" in refuted.text
    kept = run(*base, "noise_of_test_audit:toss", "--epsilon", "1.1")
    assert kept.code == 0, kept.err
    assert "does not prove it" in kept.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("coin.csv", "--require", "epsilon < 1"), "is not a valid requirement"),
        (("coin.csv", "--require", "epsilon <= much"), "the bound 'much'"),
        (
            ("coin.csv", "--promises", "--require", "epsilon <= 1"),
            "--require was given, which",
        ),
        (
            ("coin.csv", "--promises", "--figures", "here"),
            "--figures was given, which",
        ),
        (("coin.csv", "--require", "epsilon <= 1/km"), "cannot be measured without a metric"),
        (("coin.csv", "--prior", "nowhere.csv"), "there is no file"),
        (("nowhere.csv",), "there is no file"),
    ],
)
def test_refusals(run, coin, arguments, message):
    done = run("audit", *arguments)
    assert done.code == 1
    assert message in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonsense", "--secrets", "a,b", "--epsilon", "1"), "does not name a function"),
        (("no_such_module:f", "--secrets", "a,b", "--epsilon", "1"), "cannot be imported"),
        (("json:nothing", "--secrets", "a,b", "--epsilon", "1"), "has no 'nothing'"),
        (("json:dumps", "--secrets", "a", "--epsilon", "1"), "names 1 secrets"),
        (("json:dumps",), "Missing option '--secrets'"),
    ],
)
def test_refusals_of_functions(run, arguments, message):
    done = run("audit-function", *arguments)
    assert done.code == (2 if "Missing" in message else 1)
    assert message in " ".join(done.err.split())


def test_a_mechanism_file_is_known_by_its_content(run, designed):
    Path("m.sfm").rename("m.csv")
    assert run("audit", "m.csv", "--promises").code == 0
    assert run("tuple", "m.csv", "-o", "t.sfm", "--dummies", 2).code == 0


def test_a_page_says_first_what_became_of_the_promise(run, designed, coin):
    metric = designed.guarantees[0].metric
    for claimed, said, warns in (
        (1.0, "was verified when", False),
        (0.5, "NOT PROVED: the guarantee of this file", True),
    ):
        held = sf.MechanismFile(
            designed.mechanism, designed.prior, designed.loss, [sf.MetricPrivacy(claimed, metric)]
        )
        sf.save(held, "some.sfm")
        assert run("audit", "some.sfm", "-o", "some.html").code == warns
        page = Path("some.html").read_text()
        assert said in page.split("<section")[0]
        assert ('class="lead warning"' in page) == warns
        assert "SHA-256 of the file" in page
        assert "sfumato audit some.sfm -o some.html" in page
        assert "Audited: a mechanism of 12 secrets and 12 reports." in page
        assert run("audit", "some.sfm", "-o", "some.json").code == warns
        written = json.loads(Path("some.json").read_text())["promises"]
        assert written["outcome"] == ("fails" if warns else "holds")
    assert run("audit", coin, "-o", "coin.html").code == 0
    assert "This file guarantees nothing." in Path("coin.html").read_text()
