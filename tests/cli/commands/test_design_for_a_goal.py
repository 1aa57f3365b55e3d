"""``sfumato design --loss '500 m'`` and ``--attacker-finds``: the epsilon is found, said, and proved."""

import re

import numpy as np
import pytest

import sfumato as sf
from sfumato.attacks import chance_within
from sfumato.proofs import VertexPrivacy

FAST = ("--spacing", "1.5 km", "--no-picture")
FOUND = re.compile(r"Epsilon was searched for: ([\d.]+)(?:/km)? is the (smallest|largest) of (\d+) tried")


@pytest.mark.slow
def test_a_loss_finds_the_smallest_epsilon(run):
    done = run("design", *FAST, "--loss", "1.2 km", "--method", "table")
    assert done.code == 0, done.err
    said = FOUND.search(done.text)
    assert said is not None
    assert said[2] == "smallest"
    held, visits = sf.read_mechanism_file("city.sfm"), sf.synthetic_city()
    promised = held.guarantees[0]
    assert isinstance(promised, VertexPrivacy)
    assert promised.promise.epsilon == float(said[1])
    assert f"Epsilon {said[1]}/km for any two points (proved)" in done.text
    # By another route: reports of the visits themselves.
    lat, lon = np.tile(visits.lat, 8), np.tile(visits.lon, 8)
    places = held.mechanism.secrets
    assert isinstance(places, sf.Lattice)
    plane = places.projection
    away = np.hypot(
        *(plane.forward(lat, lon) - plane.forward(*sf.simulator(held.mechanism, 3).blur(lat, lon).T)).T
    )
    assert away.mean() == pytest.approx(1195, abs=4 * away.std() / np.sqrt(len(away)) + 5)
    # A little less epsilon is too little.
    assert held.prior is not None
    promise = sf.CoordinatePrivacy(0.985 * float(said[1]))
    less = sf.design(
        held.prior, loss=places.loss(visits), guarantees=promise, method="table", gap=1e-4, tie_break=False
    )
    assert less.certificate.bound > 1.2


@pytest.mark.slow
def test_an_attacker_finds_the_largest_epsilon(run):
    done = run("design", *FAST, "--attacker-finds", "55 % within 1 km")
    assert done.code == 0, done.err
    said = FOUND.search(done.text)
    assert said is not None
    assert said[2] == "largest"
    assert "within 1 km of the true point at most" in done.text
    held = sf.read_mechanism_file("city.sfm")
    found = chance_within(held.report_channel, sf.synthetic_city(), "1 km")
    assert 0.97 * 0.55 < found.upper <= 0.55


@pytest.mark.slow
def test_noise_is_kept_where_it_needs_less_epsilon(run, visits_file, tmp_path):
    """The search finds what ``design`` of that epsilon gives; a coarse lattice alone could not."""
    done = run("design", visits_file, *FAST, "--loss", "600 m")
    assert done.code == 0, done.err
    said = FOUND.search(done.text)
    assert said is not None
    assert "Noise for coordinates" in done.text
    text = " ".join(done.text.split())
    assert "with which the loss is at most 600 m on average" in text
    assert f"Epsilon {said[1]}/km for any two points (proved)" in text
    assert "Epsilon was searched for" in (tmp_path / "visits.md").read_text()
    made, visits = sf.load("visits.sfm"), sf.read_visits(visits_file)
    lat, lon = np.tile(visits.lat, 20), np.tile(visits.lon, 20)
    plane = sf.Lattice.covering(visits, "1.5 km").projection
    away = np.hypot(*(plane.forward(lat, lon) - plane.forward(*sf.simulator(made, 3).blur(lat, lon).T)).T)
    assert away.mean() <= 600 + 4 * away.std() / np.sqrt(len(away))
    assert away.mean() == pytest.approx(600, rel=0.03)


@pytest.mark.slow
def test_cells_and_users_have_goals_too(run, visits_file):
    user = next(iter(sf.read_visits(visits_file).users()))
    for options in (
        ("--cells", "5x4", "--loss", "1.2 km"),
        ("--cells", "5x4", "--loss", "1.2 km", "--protect-within", "2 km"),
        (*FAST, "--user", user, "--attacker-finds", "90 % within 800 m"),
    ):
        done = run("design", visits_file, *options, "--no-picture")
        assert done.code == 0, done.err
        assert FOUND.search(done.text)
        assert len(sf.read_mechanism_file("visits.sfm").guarantees) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--loss", "1 km", "--epsilon", "1/km"), "--epsilon was given with --loss"),
        (("--loss", "1 km", "--max-loss", "1 km"), "--max-loss was given with --loss"),
        (("--loss", "1 km", "--distortion", "1 km"), "--distortion was given with --loss"),
        (("--loss", "1 km", "--objective", "worst-case"), "--objective was given with --loss"),
        (("--loss", "1 km", "--pairs", "spanner"), "--pairs was given with --loss"),
        (("--loss", "1 km", "--attacker-finds", "40 % within 1 km"), "both given"),
        (
            ("--attacker-finds", "40 % within 1 km", "--epsilon", "1/km"),
            "--epsilon was given with --attacker-finds",
        ),
        (("--loss", "500"), "--loss: the loss '500' has no unit"),
        (("--loss", "500 h"), "--loss: the loss '500 h'"),
        (("--loss", "-1 km"), "every guarantee costs some"),
        (("--loss", "0 m"), "every guarantee costs some"),
        (("--loss", "10 m", "--method", "table"), "already loses"),
        (("--attacker-finds", "40 % within 1 km", "--method", "noise"), "chance to be near is not proved for it"),
        (("--loss", "50 km"), "needs no epsilon"),
        (("--loss", "nan km"), "--loss"),
        (("--attacker-finds", "40 %"), "--attacker-finds: '40 %' is not a percentage within a length"),
        (("--attacker-finds", "140 % within 1 km"), "not between 0 and 1"),
        (("--attacker-finds", "1 % within 1 km"), "without a report"),
        (("--attacker-finds", "99 % within 10 m"), "every epsilon limits the best attacker"),
        (("--attacker-finds", "40 % within 5000 km"), "reaches beyond"),
    ],
)
def test_wrong_goals_are_refused_with_what_is_possible(run, options, message):
    done = run("design", *FAST, *options)
    assert done.code == 1
    assert message in " ".join(done.err.split())
    assert "Hint:" in done.err
    assert "Traceback" not in done.err


@pytest.mark.slow
def test_a_search_without_enough_time_says_so(run):
    done = run("design", "--loss", "700 m", "--no-picture", "--time-limit", "1")
    assert done.code in (1, 3)
    assert "before the search was stopped" in done.err or "NOT FINISHED" in done.text
