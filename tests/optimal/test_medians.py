"""Reports at medians: the same promise, a smaller loss, and files and draws that follow."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.optimal import at_medians
from sfumato.proofs import prove_guarantees, steepest
from sfumato_papers.invented_city import invented_city
from tests.thinned import thinned

VISITS = invented_city(users=50, days=7)
REGION = VISITS.region(trim=0.05)


def made_on(places, promise, solver="auto"):
    prior = sf.Prior.from_visits(places, VISITS)
    return sf.design(
        prior,
        loss=places.loss(VISITS),
        guarantees=promise,
        solver=solver,
        tie_break=False,
        gap=1e-4,
        method="table",
    )


@pytest.fixture(
    scope="module",
    params=thinned(("triangular", "square", "grid"), 3),
)
def case(request):
    places: sf.geo.Places
    promise: sf.CoordinatePrivacy | sf.MetricPrivacy
    if request.param == "grid":
        places = sf.Grid.covering(VISITS, "1.5 km", region=REGION)
        promise = sf.MetricPrivacy("2/km", places.metric(unit="km"))
    else:
        places = sf.Lattice.covering(VISITS, "1.5 km", region=REGION, kind=request.param)
        promise = sf.CoordinatePrivacy("2/km")
    made = made_on(places, promise)
    return promise, made, at_medians(made, VISITS)


def test_it_loses_less_under_the_same_promise(case):
    promise, made, better = case
    assert better.certificate.holds
    assert better.certificate.loss < 0.98 * made.certificate.loss
    assert better.certificate.gap <= 1e-4
    (proof,), _ = prove_guarantees(better.mechanism, better.problem.prior, promise)
    assert proof.holds
    assert proof.upper <= 2.0
    if isinstance(better.mechanism.secrets, sf.geo.Lattice):
        assert steepest(better.mechanism).epsilon.lower <= 2.0


def test_it_is_no_worse_than_the_same_rows_with_moved_reports(case):
    """The remap alone, by the attack of the true point, is an upper bound of what a redesign reaches."""
    _, made, better = case
    moved = sf.attacks.true_place(made.mechanism, VISITS).error.upper
    assert better.certificate.loss <= moved * (1 + 2e-4)


def test_the_loss_is_that_of_simulated_reports(case):
    _, _, better = case
    places = better.mechanism.secrets
    rng = np.random.default_rng(3)
    inside = places.inside(VISITS.lat, VISITS.lon)
    lat, lon = np.tile(VISITS.lat[inside], 120), np.tile(VISITS.lon[inside], 120)
    secrets = places.draw_secrets(lat, lon, lambda n: rng.integers(0, 2**64, n, dtype=np.uint64))
    reports = sf.simulator(better.mechanism, seed=5).draw(secrets)
    at = better.mechanism.observables.latlon[reports]
    away = np.hypot(*(places.projection.forward(lat, lon) - places.projection.forward(*at.T)).T) / 1000
    assert away.mean() == pytest.approx(better.certificate.loss, abs=5 * away.std() / len(away) ** 0.5)


def test_files_and_draws_know_where_the_reports_are(case, tmp_path):
    _, _, better = case
    held = sf.MechanismFile(better.mechanism, better.problem.prior, better.problem.loss, better.problem.guarantees)
    sf.save(held, tmp_path / "m.sfm")
    mechanism = sf.read_mechanism_file(tmp_path / "m.sfm").alone().mechanism
    assert mechanism.observables == better.mechanism.observables
    lat, lon = VISITS.lat[:40], VISITS.lon[:40]
    assert isinstance(mechanism.secrets, sf.geo.Places)
    inside = mechanism.secrets.inside(lat, lon)
    drawn = np.asarray(sf.sampler(mechanism).blur(lat[inside], lon[inside]))
    known = mechanism.observables.latlon
    assert all((np.abs(np.round(known, 7) - point).sum(axis=1) == 0).any() for point in drawn.reshape(-1, 2))


@pytest.mark.slow
def test_few_reports_that_were_kept_are_no_worse_to_begin_with_than_all():
    places = sf.Lattice.covering(VISITS, "1.2 km", region=REGION, kind="triangular")
    promise = sf.CoordinatePrivacy("1/km")
    made = [made_on(places, promise, solver) for solver in ("structured", "generating")]
    kept = [each.mechanism.matrix.shape[1] for each in made]
    assert kept[1] < kept[0]
    whole, few = (at_medians(each, VISITS).certificate.loss for each in made)
    assert few < 1.002 * whole


def test_what_has_no_medians_is_refused():
    ages = sf.Space.numbers(range(4))
    prior = sf.Prior.uniform(ages)
    metric = ages.metric("absolute")
    plain = sf.design(prior, loss=metric, guarantees=sf.MetricPrivacy(1.0, metric), tie_break=False)
    with pytest.raises(InputError, match="not places"):
        at_medians(plain, VISITS)
    grid = sf.Grid.covering(VISITS, "3 km", region=REGION)
    prior, metric = sf.Prior.from_visits(grid, VISITS), grid.metric(unit="km")
    centres = sf.design(prior, loss=metric, guarantees=sf.MetricPrivacy("1/km", metric), tie_break=False)
    with pytest.raises(InputError, match="distance of the true point"):
        at_medians(centres, VISITS)
