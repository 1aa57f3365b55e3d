"""A least error of the true point: proved for every guess, at a loss that is near the best possible."""

import pickle

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InfeasibleError, InputError, UnitError
from sfumato.proofs import prove_guarantees
from sfumato_papers.invented_city import invented_city
from tests.thinned import thinned

VISITS = invented_city(users=50, days=7)
REGION = VISITS.region(trim=0.05)


def places_of(kind):
    if kind == "grid":
        return sf.Grid.covering(VISITS, "1.5 km", region=REGION)
    return sf.Lattice.covering(VISITS, "1.5 km", region=REGION, kind=kind)


def promise_of(places, epsilon):
    if isinstance(places, sf.geo.Lattice):
        return sf.CoordinatePrivacy(epsilon)
    return sf.MetricPrivacy(epsilon, places.metric(unit="km"))


@pytest.fixture(
    scope="module",
    params=thinned(("triangular", "square", "grid"), 3),
)
def case(request):
    places = places_of(request.param)
    prior, loss = sf.Prior.from_visits(places, VISITS), places.loss(VISITS)
    promise = promise_of(places, "4/km")
    plain = sf.design(prior, loss=loss, guarantees=promise, tie_break=False, method="table").mechanism
    least = 1.1 * sf.attacks.true_place(plain, VISITS).error.upper  # more than it would be anyway, in km
    made = sf.design(
        prior, loss=loss, guarantees=[promise, sf.PlaceDistortion(least, places, VISITS)], observables=places
    )
    return places, prior, loss, promise, made, least


def test_no_attacker_errs_less_wherever_they_guess(case):
    places, prior, _, promise, made, least = case
    assert made.certificate.holds
    assert made.certificate.distortion[0].lower >= least
    points = places.true_points(VISITS)
    joint = points.masses @ made.mechanism.matrix
    ends = np.linspace(points.xy.min(axis=0), points.xy.max(axis=0), 15)
    guesses = np.stack(np.meshgrid(*ends.T), axis=-1).reshape(-1, 2)
    found = places.projection.forward(*sf.attacks.true_place(made.mechanism, VISITS).guesses.T)
    guesses = np.concatenate([guesses, found, points.xy[::40]])
    brute = (np.hypot(*(guesses[:, None] - points.xy[None]).transpose(2, 0, 1)) @ joint).min(axis=0).sum()
    assert brute >= 1000 * least * (1 - 1e-12)
    assert brute <= 1000 * least * 1.01
    proofs, _ = prove_guarantees(made.mechanism, prior, promise)
    assert proofs[0].holds


def test_finite_guesses_promise_too_much(case):
    """The same error against guesses at vertices or centres alone is not kept against all guesses."""
    _, prior, loss, promise, made, least = case
    finite = sf.DistortionPrivacy(least, sf.Loss(loss.array.T, "km"))
    weaker = sf.design(prior, loss=loss, guarantees=[promise, finite], tie_break=False)
    assert weaker.certificate.holds
    assert sf.attacks.true_place(weaker.mechanism, VISITS).error.upper < 0.99 * least
    assert weaker.certificate.loss <= made.certificate.loss * (1 + 1e-6)


@pytest.mark.slow
def test_the_loss_is_near_the_best_by_another_route(case):
    """A covering list of guesses, and the loss it needs at least: the same optimum from below, solved at once."""
    places, prior, loss, promise, made, least = case
    assert made.certificate.gap <= 2e-3
    asked = sf.PlaceDistortion(least, places, VISITS)
    found = sf.attacks.true_place(made.mechanism, VISITS)
    asked = asked.with_guesses(places.projection.forward(*found.guesses.T))
    below = sf.design(prior, loss=loss, guarantees=[promise, asked.finite], tie_break=False)
    assert below.certificate.bound <= made.certificate.loss
    assert below.certificate.loss >= made.certificate.loss * (1 - 0.01)


def test_what_is_kept_anyway_costs_nothing():
    places = places_of("grid")
    prior, loss, promise = sf.Prior.from_visits(places, VISITS), places.loss(VISITS), promise_of(places, "1/km")
    plain = sf.design(prior, loss=loss, guarantees=promise, tie_break=False, method="table")
    with_error = sf.design(
        prior, loss=loss, guarantees=[promise, sf.PlaceDistortion("100 m", places, VISITS)], observables=places
    )
    assert with_error.certificate.loss == pytest.approx(plain.certificate.loss, rel=1e-3)


@pytest.mark.slow
def test_alone_and_at_worst_it_is_kept_too():
    places = places_of("grid")
    prior, loss = sf.Prior.from_visits(places, VISITS), places.metric(unit="km")
    asked = sf.PlaceDistortion(0.7, places, VISITS)
    for objective in ("expected", "worst-case"):
        made = sf.design(prior, loss=loss, guarantees=asked, objective=objective, gap=1e-2)
        assert made.certificate.holds
        assert sf.attacks.true_place(made.mechanism, VISITS).error.lower >= 0.7 * (1 - 1e-9)


def test_smoothed_priors_put_people_at_centres_where_nobody_was():
    places = places_of("square")
    visits = VISITS.select(np.arange(40))
    prior = sf.Prior.from_visits(places, visits, smoothing=0.5)
    asked = sf.PlaceDistortion("500 m", places, visits)
    mechanism = sf.Mechanism(np.full((len(places), 1), 1.0), places, sf.Space(["x"]))
    found = asked.attack(mechanism, prior)
    xy, centres = places.true_points(visits).xy, np.asarray(places.coordinates)
    seen = np.asarray(places.true_points(visits).masses.sum(axis=0))
    loss = places.loss(visits, unit="m", observables=sf.Space(["g"], found.points, "m", places.crs)).array[:, 0]
    assert found.value == pytest.approx(float(prior.probabilities @ loss), rel=1e-9)
    assert len(xy)
    assert (seen == 0).any()
    assert len(centres) == len(places)


def test_copies_and_files_keep_it(tmp_path):
    places = places_of("grid")
    asked = sf.PlaceDistortion("0.9 km", places, VISITS)
    again = pickle.loads(pickle.dumps(asked))
    assert (again.minimum, again.places) == (0.9, places)
    np.testing.assert_array_equal(again.distance.array, asked.distance.array)
    prior, loss = sf.Prior.from_visits(places, VISITS), places.loss(VISITS)
    made = sf.design(prior, loss=loss, guarantees=[promise_of(places, "4/km"), asked], gap=1e-2)
    held = sf.MechanismFile(made.mechanism, prior, made.problem.loss, made.problem.guarantees, {}, made.optimality)
    sf.save(held, tmp_path / "m.sfm")
    loaded = sf.read_mechanism_file(tmp_path / "m.sfm")
    _, (first,) = prove_guarantees(made.mechanism, prior, made.problem.guarantees)
    assert loaded.prior is not None
    _, (proof,) = prove_guarantees(loaded.report_channel, loaded.prior, loaded.guarantees)
    assert proof == first  # proved again from the file alone, of guesses anywhere
    assert proof.holds
    said = " ".join(sf.reports.summarise_file(loaded).markdown().split())
    assert "with knowledge of which of" in said
    assert "for any guess (proved: at least 900" in said
    assert "That people are where the file states it" in said
    sf.save(loaded, tmp_path / "again.sfm")
    assert (tmp_path / "again.sfm").read_bytes() == (tmp_path / "m.sfm").read_bytes()
    told = " ".join(sf.reports.summarise(made, visits=VISITS).markdown().split())
    assert "average error at least 900 m from the true point, for any guess (proved: at least 900" in told


def test_what_cannot_be_is_refused():
    places = places_of("grid")
    prior, loss = sf.Prior.from_visits(places, VISITS), places.loss(VISITS)
    with pytest.raises(InfeasibleError, match="an attacker who sees no report guesses within about"):
        sf.design(prior, loss=loss, guarantees=sf.PlaceDistortion("50 km", places, VISITS))
    asked = sf.PlaceDistortion("500 m", places, VISITS)
    with pytest.raises(InputError, match="with another distortion"):
        sf.design(prior, loss=loss, guarantees=[asked, asked.finite])
    with pytest.raises(InputError, match="negative"):
        sf.PlaceDistortion(-1, places, VISITS)
    with pytest.raises(UnitError):
        sf.PlaceDistortion("1 h", places, VISITS)
    other = sf.Grid.covering(VISITS, "2 km", region=REGION)
    with pytest.raises(InputError, match="use the places of the mechanism"):
        prove_guarantees(sf.Mechanism(np.eye(len(other)), other, other), sf.Prior.uniform(other), asked)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["triangular", "grid"])
def test_the_most_that_a_limit_of_the_loss_allows(kind):
    """The dual game: its value is the attacker's, its bound is above every mechanism's within the limit."""
    places = places_of(kind)
    prior, loss = sf.Prior.from_visits(places, VISITS), places.loss(VISITS)
    game = sf.PlaceDistortion(0, places, VISITS)
    made = sf.maximise_distortion(prior, loss=loss, distance=game, max_loss="1.3 km", gap=2e-3, observables=places)
    found = sf.attacks.true_place(made.mechanism, VISITS)
    assert made.certificate.loss <= 1.3
    assert made.certificate.value == pytest.approx(found.error.lower, rel=1e-6)
    assert found.error.lower <= made.certificate.bound * (1 + 1e-12)
    assert made.certificate.gap <= 2e-3
    least = sf.design(
        prior,
        loss=loss,
        guarantees=sf.PlaceDistortion(0.98 * made.certificate.value, places, VISITS),
        gap=2e-3,
        observables=places,
    )
    assert least.certificate.loss <= 1.3 * 1.002  # what the game reaches, a design reaches at no more loss
    with pytest.raises(InfeasibleError):
        sf.design(prior, loss=loss, guarantees=sf.PlaceDistortion(1.5 * made.certificate.bound, places, VISITS))
    with pytest.raises(InputError, match="gap"):
        sf.maximise_distortion(prior, loss=loss, distance=game, max_loss="1.3 km", gap=-1)


@pytest.mark.slow
def test_another_solver_with_more_guesses_finds_the_same():
    """With the guesses of the design and others 300 m apart, the loss is between its bound and its own loss."""
    places = places_of("grid")
    prior, loss, promise = sf.Prior.from_visits(places, VISITS), places.loss(VISITS), promise_of(places, "3/km")
    asked = sf.PlaceDistortion("900 m", places, VISITS)
    made = sf.design(prior, loss=loss, guarantees=[promise, asked], observables=places)
    last = next(each for each in made.problem.guarantees if isinstance(each, sf.PlaceDistortion))
    low, high = asked.points.xy.min(axis=0), asked.points.xy.max(axis=0)
    ticks = [np.arange(least, most, 300.0) for least, most in zip(low, high, strict=True)]
    more = last.with_guesses(np.stack(np.meshgrid(*ticks), axis=-1).reshape(-1, 2))
    other = sf.design(prior, loss=loss, guarantees=[promise, more.finite], solver="highs", tie_break=False)
    assert other.certificate.bound <= made.certificate.loss
    assert other.certificate.loss >= made.certificate.bound
    assert made.certificate.gap <= 2e-3


def test_little_time_still_gives_a_proved_mechanism():
    places = places_of("triangular")
    prior, loss = sf.Prior.from_visits(places, VISITS), places.loss(VISITS)
    most = sf.attacks.true_place(sf.Mechanism(np.ones((len(places), 1)), places), VISITS).error.lower
    for share in (0.5, 0.9999):
        asked = sf.PlaceDistortion(share * most, places, VISITS)
        made = sf.design(
            prior, loss=loss, guarantees=[promise_of(places, "2/km"), asked], time_limit=1e-3, observables=places
        )
        assert made.certificate.holds
        assert made.certificate.bound <= made.certificate.loss


def test_few_visits_and_those_on_a_line():
    places = places_of("grid")
    centres = np.asarray(places.latlon)
    for degrees in (centres[:2], np.linspace(centres[0], centres[3], 9), centres[[0, 0, 0, 5]]):
        visits = sf.Visits(*degrees.T)
        prior, loss = sf.Prior.from_visits(places, visits), places.loss(visits)
        most = sf.attacks.true_place(sf.Mechanism(np.ones((len(places), 1)), places), visits).error.lower
        made = sf.design(prior, loss=loss, guarantees=sf.PlaceDistortion(0.5 * most, places, visits))
        assert made.certificate.holds
        assert sf.attacks.true_place(made.mechanism, visits).error.lower >= 0.5 * most
