"""The distribution privacy experiment: its numbers by enumeration, its claims where they are theorems."""

import itertools
import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.mechanisms import Tupling, exponential, mixture_dummies
from sfumato_papers.distribution_privacy import Groups, sweep_figure
from sfumato_papers.distribution_privacy.measurements import Line, measure_tupling, published_lines, sweep
from sfumato_papers.invented_city import invented_city
from sfumato_papers.results import where

LINE = sf.Space(("a", "b", "c", "d"), [[0.0], [1.0], [2.0], [4.0]], "km")
# Nobody is ever at d, and nobody of the first group at c.
TWO = Groups(
    ("one", "two"),
    (sf.Prior(LINE, [0.7, 0.3, 0.0, 0.0]), sf.Prior(LINE, [0.2, 0.3, 0.5, 0.0])),
    LINE.metric("euclidean", unit="km"),
)
# The last observable is never reported.
INNER = sf.Mechanism(
    [[0.6, 0.3, 0.1, 0.0], [0.2, 0.5, 0.3, 0.0], [0.1, 0.2, 0.7, 0.0], [0.0, 0.3, 0.7, 0.0]], LINE, LINE
)


def enumerated(tupling, groups):
    """Both groups' laws over all tuples, and the expected distance to the best answer, one tuple at a time."""
    nu, inner = tupling.distribution, tupling.inner.matrix
    n = tupling.queries
    laws, loss = [], 0.0
    tuples = list(itertools.product(range(inner.shape[1]), repeat=n))
    everyone = groups.population.probabilities
    for lam in [*groups.distributions, everyone]:
        law = []
        for y in tuples:
            law.append(
                sum(lam @ inner[:, y[i]] * math.prod(nu[y[j]] for j in range(n) if j != i) / n for i in range(n))
            )
        laws.append(np.array(law))
    for s, weight in enumerate(everyone):
        for y in tuples:
            chance = sum(inner[s, y[i]] * math.prod(nu[y[j]] for j in range(n) if j != i) / n for i in range(n))
            loss += weight * chance * min(groups.metric.array[s, o] for o in y)
    return laws[0], laws[1], loss


def hockey_stick(p, q, epsilon):
    return max(np.maximum(p - math.exp(epsilon) * q, 0).sum(), np.maximum(q - math.exp(epsilon) * p, 0).sum())


@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("delta", [1e-3, 0.05])
def test_a_row_is_what_enumeration_gives(k, delta):
    tupling = Tupling(INNER, k, mixture_dummies(INNER, TWO.distributions))
    row = measure_tupling(TWO, tupling, "inner", 1.0, "mixture", delta)
    p, q, loss = enumerated(tupling, TWO)
    assert hockey_stick(p, q, row.epsilon.upper) <= delta * (1 + 1e-9)
    assert row.epsilon.lower <= row.epsilon.upper <= row.epsilon.lower + 2e-4
    assert hockey_stick(p, q, row.epsilon.lower - 1e-6) > delta
    assert row.loss_km == pytest.approx(loss, rel=1e-12)
    assert row.attack_success == pytest.approx(0.5 + np.abs(p - q).sum() / 4, abs=1e-4)
    assert row.attack_success >= 0.5 + np.abs(p - q).sum() / 4 - 1e-12


@pytest.fixture(scope="module")
def city():
    """Two areas of the synthetic city on 8 x 6 cells, some of which nobody visits."""
    grid = sf.Grid.covering("8 km x 6 km around 40,-30", cell="1 km")
    return grid, Groups.from_visits(grid, invented_city(users=60), "area", "Old Town", "Harbour")


@pytest.fixture(scope="module")
def rows(city):
    grid, groups = city
    lines = published_lines(grid, groups.metric, slopes=(0.5, 2.0), radii_km=(1.5, 3.0))
    lines = [Line(line.name, line.build, line.parameters[-2:]) for line in lines]
    return list(sweep(groups, lines, (0, 2, 10)))


@pytest.mark.slow
def test_more_dummies_lower_both_epsilon_and_loss(rows):
    """Theorems: a dummy more is post-processing, and the best of more answers is no farther."""
    table = {(row.mechanism, row.parameter, row.dummies, row.source): row for row in rows}
    assert len(rows) == 6 * 2 * (1 + 2 * 2)
    compared = 0
    for (name, parameter, k, _), row in table.items():
        if k:
            continue
        for source in ("uniform", "mixture"):
            chain = [row, *(table[name, parameter, more, source] for more in (2, 10))]
            for fewer, more in itertools.pairwise(chain):
                assert more.epsilon.lower <= fewer.epsilon.upper
                assert more.loss_km <= fewer.loss_km * (1 + 1e-12)
                assert more.attack_success <= fewer.attack_success + 1e-4
                assert more.least_gain >= fewer.least_gain - 1e-12 >= -1e-12
                compared += 1
    assert compared == 6 * 2 * 2 * 2


def test_dummies_dominate_at_equal_loss(rows):
    """With dummies that look like the reports, every line needs a smaller epsilon for no more loss."""
    for name in dict.fromkeys(row.mechanism for row in rows):
        for row in rows:
            if row.mechanism == name and row.dummies == 0:
                among = where(rows, mechanism=name, dummies=10, source="mixture")
                better = min(each.epsilon.upper for each in among if each.loss_km <= row.loss_km)
                assert better < 0.6 * row.epsilon.upper


def test_restricted_noise_is_planar_laplace_noise_within_its_radius(city):
    grid, groups = city
    lines = {line.name: line for line in published_lines(grid, groups.metric, radii_km=(1.5, 50.0))}
    wide, everywhere = lines["restricted Laplace, 50 km"].build(1.0), lines["planar Laplace"].build(1.0)
    np.testing.assert_allclose(wide.matrix, everywhere.matrix, atol=1e-15)
    near = groups.metric.array <= 1.5
    assert np.array_equal(lines["restricted Laplace, 1.5 km"].build(1.0).matrix > 0, near)
    gaussian, laplace = lines["planar Gaussian"].build(1.0), exponential(grid, groups.metric, 2.0)
    assert gaussian.shape == laplace.shape
    truth = lines["randomised response"]
    told = truth.build(math.log(len(grid) - 1)).matrix.diagonal()
    np.testing.assert_allclose(told, 0.5, rtol=1e-12)


def test_optimised_dummies_are_no_worse_than_the_mixture(city):
    grid, groups = city
    line = next(line for line in published_lines(grid, groups.metric) if line.name.startswith("restricted"))
    few = Line(line.name, line.build, (1.0,))
    mixture, optimised = sweep(groups, [few], (5,), sources=("mixture", "optimised"))
    assert optimised.epsilon.upper <= mixture.epsilon.upper + 1e-4


def test_groups(city):
    grid, groups = city
    assert groups.names == ("Old Town", "Harbour")
    assert groups.total_variation == pytest.approx(
        np.maximum(groups.distributions[0] - groups.distributions[1], 0).sum()
    )
    assert groups.population.probabilities == pytest.approx(groups.distributions.sum(axis=0) / 2)
    visits = invented_city(users=3, days=2)
    with pytest.raises(InputError, match="no attribute 'home'"):
        Groups.from_visits(grid, visits, "home", "x", "y")
    with pytest.raises(DataError):
        Groups.from_visits(grid, visits, "area", "Old Town", "Atlantis")
    with pytest.raises(InputError, match="unknown"):
        list(sweep(groups, [], (5,), sources=("guessed",)))


def test_figure(rows):
    name = rows[0].mechanism
    figure = sweep_figure(rows)
    assert [ax.get_title() for ax in figure.axes] == ["dummies from the mixture", "uniform dummies"]
    for ax in figure.axes:
        line = ax.lines[0]
        alone = sorted(
            (row.loss_km, row.epsilon.upper) for row in rows if (row.mechanism, row.dummies) == (name, 0)
        )
        np.testing.assert_allclose(np.column_stack([line.get_xdata(), line.get_ydata()]), alone)
    with pytest.raises(InputError, match="no rows"):
        sweep_figure([])


@pytest.mark.slow
def test_two_boroughs(shared_data):
    """People from Manhattan and from Brooklyn, on the cells of an earlier run."""
    visits = sf.read_visits(shared_data / "foursquare_nyc.parquet")
    grid = sf.Grid.covering("6 km x 9 km around 40.745,-73.985", cell="400 m")
    groups = Groups.from_visits(grid, visits, "home_area", "Manhattan", "Brooklyn")
    assert len(grid) == 345
    assert groups.total_variation == pytest.approx(0.566, abs=1e-3)
    lines = published_lines(grid, groups.metric, slopes=(0.25, 1.0, 4.0))
    found = {
        (row.mechanism, row.parameter, row.dummies, row.source): row
        for line in lines
        if line.name != "randomised response"
        for row in sweep(groups, [line], (0, 10, 100))
    }
    for (name, parameter, k, source), row in found.items():
        if name == "restricted Laplace, 1 km":
            wider = [found[f"restricted Laplace, {r} km", parameter, k, source].epsilon.upper for r in (2, 4)]
            assert row.epsilon.upper * (1 + 1e-3) >= wider[0] >= wider[1] * (1 - 1e-3)
        if k == 100 and source == "mixture":
            assert row.epsilon.upper < 0.2
    assert found["planar Laplace", 1.0, 0, "none"].epsilon.upper == pytest.approx(2.067, abs=2e-3)
    assert found["planar Laplace", 1.0, 10, "mixture"].epsilon.upper == pytest.approx(0.318, abs=2e-3)
