"""Noise for coordinates in words and pictures: every number is on its side, and the table's places are named."""

import re

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.files import MechanismFile
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.optimal.coordinates.rival import certify_noise
from sfumato.reports import noise_maps, summarise_noise

PLANE = Projection(48.86, 2.34)
X = np.random.default_rng(4).normal(size=(20, 2)) * 900
NOISE = CoordinateNoise("1/km", "2 m", PLANE, "30 km").for_places(X, np.ones(20), fineness=0.3)
CELLS = sf.Grid.covering("4 km x 3 km around 48.86,2.34", cell="1 km")
HELD = MechanismFile(NOISE, sf.Prior.uniform(CELLS), claims={"loss": 1}, source="20 places of nobody")


def metres(text):
    return [float(a) * (1000 if unit == "km" else 1) for a, unit in re.findall(r"([0-9.]+) (k?m)\b", text)]


def test_every_section():
    certificate = certify_noise(NOISE, X, np.ones(20))
    text = summarise_noise(HELD, certificate).markdown()
    for part in (
        "e^(1/km x (distance + 2.83 m)) times as likely from one point as from another, for any two points",
        "2.726 times for points 1 km apart",
        "made of '20 places of nobody'; anyone who sees reports or the file can see where these places are",
        "over 20 places of nobody.",
        "the writer's own, from which nothing is proved: 'loss'.",
    ):
        assert part in text
    cost = next(line for line in text.splitlines() if line.startswith("Average distance"))
    low, high = metres(cost)
    assert low <= certificate.loss.lower <= certificate.loss.upper <= high
    attack = next(line for line in text.splitlines() if line.startswith("Best attacker"))
    low, high, blind = metres(attack)
    assert low <= certificate.attacker.lower <= certificate.attacker.upper <= high
    assert blind == pytest.approx(certificate.blind.value, rel=0.01)


def test_the_factor_covers_the_slack():
    text = summarise_noise(MechanismFile(NOISE)).markdown()
    factor = re.search(r": ([0-9.]+) times for points", text)
    assert factor is not None
    assert float(factor[1]) >= np.exp(1 + 2.83e-3) - 1e-3
    cost = text.split("## Cost")[1].split("\n## ")[0]
    assert cost.strip().startswith("At least 95 % of reports")  # no average, which depends on the true points
    assert "verage" not in cost
    assert "## Attack" not in text


def test_what_the_recipe_does_not_decide_is_listed_with_its_reason():
    text = summarise_noise(HELD).markdown()
    assert "Proved from the recipe of the noise" in text
    unchecked = text.split("## Not checked")[1]
    assert "depend on the true points, which the recipe does not contain" in unchecked
    assert "Any table has the guarantee." in unchecked
    bare = summarise_noise(MechanismFile(CoordinateNoise("1/km", "2 m", NOISE.projection))).markdown()
    assert "table" not in bare


@pytest.mark.slow
def test_simulated_reports_lie_between_the_certificate():
    """The mean distance of reports, and the best guess for each place of the table."""
    certificate = certify_noise(NOISE, X, np.ones(20))
    assert certificate.holds
    size = 20_000
    reports = NOISE.simulate(np.repeat(X, size, axis=0), seed=3)
    away = np.hypot(*(reports - np.repeat(X, size, axis=0)).T)
    allowed = 5 * away.std() / (20 * size) ** 0.5
    assert certificate.loss.lower - allowed < away.mean() < certificate.loss.upper + allowed
    targets, where = np.unique(reports, axis=0, return_inverse=True)
    counts = np.zeros((len(targets), 20))
    np.add.at(counts, (where.ravel(), np.repeat(np.arange(20), size)), 1)
    apart = np.hypot(*(X[:, None] - X).transpose(2, 0, 1))
    at_places = (counts @ apart).min(
        axis=1
    ).sum() / counts.sum()  # guesses at places alone err no less than the best
    assert certificate.attacker.lower < at_places + allowed
    assert at_places < 1.15 * certificate.attacker.upper


def test_maps_are_of_cells(tmp_path):
    figure = noise_maps(HELD)
    assert len(figure.axes) == 6
    with pytest.raises(InputError, match="no prior on cells"):
        noise_maps(MechanismFile(NOISE))
