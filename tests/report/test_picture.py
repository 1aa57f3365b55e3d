"""The picture shows what it says, and needs places."""

import numpy as np
import pytest

import sfumato as sf


@pytest.fixture(scope="module")
def city():
    visits = sf.synthetic_city(users=20, days=7)
    grid = sf.Grid.covering(visits, shape=(4, 3))
    return sf.Prior.from_visits(grid, visits), grid.metric("euclidean", unit="km")


def blurred(prior, ground):
    rows = np.exp(-0.5 * ground.array)
    return sf.Mechanism(rows / rows.sum(axis=1, keepdims=True), prior.space)


def test_panels_hold_prior_row_and_posterior(city, tmp_path):
    prior, ground = city
    mechanism = blurred(prior, ground)
    figure = sf.report.picture(mechanism, prior, ground)
    panels = [np.asarray(ax.collections[0].get_array()) for ax in figure.axes[:3]]
    true = int(np.argmax(prior.probabilities))
    report = int(np.argmax(mechanism.matrix[true]))
    np.testing.assert_allclose(panels[0], 100 * prior.probabilities)
    np.testing.assert_allclose(panels[1], 100 * mechanism.matrix[true])
    np.testing.assert_allclose(panels[2], 100 * mechanism.posterior(prior)[report])
    for ax in figure.axes[:3]:
        assert "(km)" in ax.get_xlabel()
    sf.report.save_picture(figure, tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_values_that_are_no_places_are_refused():
    space = sf.Space.numbers(range(3))
    with pytest.raises(sf.errors.InputError, match="only a mechanism from places"):
        sf.report.picture(sf.Mechanism(np.eye(3), space), sf.Prior.uniform(space), space.metric("absolute"))
