"""Cost of reports, in words: of places it is counted from the true point, and the numbers are read back."""

import re

import numpy as np
import pytest

import sfumato as sf
from sfumato.reports import summarise
from sfumato_papers.invented_city import invented_city

VISITS = invented_city()
KEPT, APART = VISITS.held_out(0.2)
REGION = VISITS.region(trim=0.02)


def km(pattern, text):
    found = re.search(pattern + r" ([\d.,]+) (m|km)", text)
    assert found, (pattern, text)
    return float(found[1].replace(",", "")) / (1000 if found[2] == "m" else 1)


def mean_distance(mechanism, visits, norm=np.hypot):
    """The mean distance from the visits to their reports, by plain sums."""
    places = mechanism.secrets
    rounding = places.rounding(visits.lat, visits.lon)
    xy = places.projection.forward(visits.lat, visits.lon)[rounding.inside]
    rows = np.zeros((len(xy), mechanism.shape[1]))
    for position, share in zip(
        rounding.positions[rounding.inside].T, rounding.shares[rounding.inside].T, strict=True
    ):
        rows += share[:, None] * mechanism.matrix[position]
    away = norm(*(xy[:, None] - mechanism.observables.coordinates[None]).transpose(2, 0, 1)) / 1000
    return float((rows * away).sum() / len(xy))


@pytest.fixture(scope="module", params=["lattice", "grid"])
def made(request):
    places: sf.geo.Places
    promise: sf.CoordinatePrivacy | sf.MetricPrivacy
    if request.param == "lattice":
        places = sf.Lattice.covering(VISITS, "1 km", region=REGION)
        promise = sf.CoordinatePrivacy("1/km")
    else:
        places = sf.Grid.covering(VISITS, "1 km", region=REGION)
        promise = sf.MetricPrivacy("1/km", places.metric(unit="km"))
    prior = sf.Prior.from_visits(places, KEPT)
    return sf.design(prior, loss=places.loss(KEPT), guarantees=promise, tie_break=False, method="table")


@pytest.mark.thinned(2)
def test_the_loss_and_the_attack_are_those_of_the_true_point(made):
    text = summarise(made, visits=KEPT, held_out=APART).markdown()
    true = mean_distance(made.mechanism, KEPT)
    stated = km("report: at most", text)
    assert true * (1 - 1e-9) <= stated <= true * 1.01
    low, high = km("average error between", text), km(r"average error between [\d.]+ km and", text)
    found = sf.attacks.true_place(made.mechanism, KEPT)
    assert low <= found.error.lower <= found.error.upper <= high <= low * 1.02
    assert high <= stated  # the attacker may guess the report itself
    assert "for the worst" not in text
    assert " at worst" not in text


@pytest.mark.slow
def test_the_loss_on_visits_held_out_is_an_estimate_from_them(made):
    text = summarise(made, visits=KEPT, held_out=APART).markdown()
    assert km("has not seen, the average distance from the true point is about", text) == pytest.approx(
        mean_distance(made.mechanism, APART), rel=0.01
    )
    inside = int(made.mechanism.secrets.inside(APART.lat, APART.lon).sum())
    assert f"On {inside:,} visits held out" in text
    assert "held out" not in summarise(made, visits=KEPT).markdown()


def test_other_losses_are_told_beside_the_true_distance():
    grid = sf.Grid.covering(VISITS, "2 km", region=REGION)
    prior, metric = sf.Prior.from_visits(grid, KEPT), grid.metric(unit="km")
    promise = sf.MetricPrivacy("1/km", metric)
    made = sf.design(prior, loss=sf.hamming(grid), guarantees=promise, tie_break=False, method="table")
    text = summarise(made, metric, visits=KEPT, held_out=APART).markdown()
    true = mean_distance(made.mechanism, KEPT)
    assert true * (1 - 1e-9) <= km("report: at most", text) <= true * 1.01
    assert "of the reports name another place" in text
    assert km("has not seen, the average distance from the true point is about", text) == pytest.approx(
        mean_distance(made.mechanism, APART), rel=0.01
    )
    without = summarise(made, metric).markdown()
    assert "The position within the cell is not counted" in without
    assert "true point" not in without


def test_manhattan_distances_are_called_so():
    grid = sf.Grid.covering(VISITS, "2 km", region=REGION)
    prior, metric = sf.Prior.from_visits(grid, KEPT), grid.metric(unit="km")
    loss = grid.loss(KEPT, "manhattan")
    made = sf.design(prior, loss=loss, guarantees=sf.MetricPrivacy("1/km", metric), tie_break=False)
    text = summarise(made, metric, visits=KEPT, held_out=APART).markdown()
    assert "over the visits (manhattan distance)" in text

    def norm(x, y):
        return np.abs(x) + np.abs(y)

    assert km("has not seen, the average distance from the true point is about", text) == pytest.approx(
        mean_distance(made.mechanism, APART, norm), rel=0.01
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lattice", "grid"])
def test_smoothing_does_not_change_whose_loss_is_stated(kind):
    """Smoothing counts people where nobody was: the loss on the visits is another number."""
    places: sf.geo.Places
    promise: sf.CoordinatePrivacy | sf.MetricPrivacy
    if kind == "lattice":
        places = sf.Lattice.covering(VISITS, "1.5 km", region=REGION)
        promise = sf.CoordinatePrivacy("1/km")
    else:
        places = sf.Grid.covering(VISITS, "1.5 km", region=REGION)
        promise = sf.MetricPrivacy("1/km", places.metric(unit="km"))
    prior = sf.Prior.from_visits(places, KEPT, smoothing=300)
    made = sf.design(prior, loss=places.loss(KEPT), guarantees=promise, tie_break=False, method="table", gap=1e-4)
    true = mean_distance(made.mechanism, KEPT)
    assert abs(made.certificate.loss - true) > 0.02 * true
    for text in (summarise(made, visits=KEPT).markdown(), summarise(made).markdown()):
        assert true * (1 - 1e-9) <= km("report: at most", text) <= true * 1.01
        under = km("Under it the average loss is at most", text)
        assert made.certificate.loss <= under <= made.certificate.loss * 1.01
    plain = sf.design(
        sf.Prior.from_visits(places, KEPT),
        loss=places.loss(KEPT),
        guarantees=promise,
        tie_break=False,
        method="table",
        gap=1e-4,
    )
    assert "as with smoothing" not in summarise(plain, visits=KEPT).markdown()
