import numpy as np
import pytest

from sfumato.core import Loss, Metric, Space, as_distance, as_loss, hamming, loss
from sfumato.errors import InputError, UnitError, at_command_line

from .arrays import refused

PLACES = Space("abc", [[0, 0], [3, 4], [6, 8]], "km")
POINTS = Space("xy", [[0, 0], [0, 4]], "km")


def test_between_secrets_and_other_observables():
    found = loss(PLACES, POINTS)
    np.testing.assert_allclose(found.array, [[0, 4], [5, 3], [10, 52**0.5]])
    assert found.unit == "km"
    np.testing.assert_allclose(loss(PLACES, POINTS, "euclidean", "m").array, 1000 * found.array)
    assert loss(PLACES, POINTS, unit="metres").unit == "m"
    np.testing.assert_array_equal(loss(PLACES, PLACES, "hamming").array, hamming(PLACES).array)


def test_any_function_of_two_labels():
    ages = Space.numbers([18, 30, 65], "year")
    bands = Space([(0, 29), (30, 99)])

    def outside(age, band):
        return max(0, band[0] - age, age - band[1])

    found = loss(ages, bands, outside, "year")
    np.testing.assert_array_equal(found.array, [[0, 12], [1, 0], [36, 0]])
    assert (found.unit, found.name) == ("year", "outside")


def test_generalised_observables():
    cells = PLACES.group_labels([["a", "b"], ["c"], ["a", "b", "c"]])
    np.testing.assert_array_equal(loss(PLACES, cells, "member").array, [[0, 1, 0], [0, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(loss(PLACES, PLACES, "member").array, 1 - np.eye(3))
    np.testing.assert_array_equal(loss(PLACES, cells, "hamming").array, np.ones((3, 3)))
    middle = loss(PLACES, cells, "euclidean").array
    np.testing.assert_allclose(middle[0], [2.5, 10, 5])


def test_semantic_loss():
    secrets, observables = Space(["pub", "clinic"]), Space(["bar", "hospital"])
    kinds = {"pub": "fun", "bar": "fun", "clinic": "health", "hospital": "health"}
    np.testing.assert_array_equal(loss(secrets, observables, "semantic", categories=kinds).array, [[0, 1], [1, 0]])


def test_any_form_is_a_loss():
    plain = [[0.0, 2.5], [1.0, 0.0]]
    for given in (plain, np.array(plain), Loss(plain)):
        np.testing.assert_array_equal(as_loss(given, 2, 2).array, plain)
    metric = Metric([[0, 1], [1, 0]], "km", name="walk")
    assert (as_loss(metric, 2, 2).unit, as_loss(metric, 2, 2).name) == ("km", "walk")
    assert as_distance(metric).name == "walk"
    assert as_distance([[1.0, 2.0]]).array.shape == (1, 2)
    kept = Loss(plain, "m")
    assert as_distance(kept) is kept
    assert as_loss(kept, 2, 2) is kept
    assert repr(kept) == "Loss 'loss' of 2 secrets and 2 observables in m"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Loss([1.0, 2.0]), "shape 2"),
        (lambda: Loss([[1.0, np.inf]]), "inf"),
        (lambda: Loss([[1.0, np.nan]]), "nan"),
        (lambda: Loss([["far"]]), "not an array of numbers"),
        (lambda: as_loss([[1, 2, 3]], 2, 2), "for 1 secrets and 3 observables, but there are 2 and 2"),
        (lambda: as_loss(Metric([[0, np.inf], [np.inf, 0]]), 2, 2), "inf"),
        (lambda: loss(PLACES, PLACES, lambda s, o: float("nan")), "nan"),
        (lambda: loss(PLACES, PLACES, "chebyshev"), "unknown"),
        (lambda: loss(PLACES, Space("abc")), "needs coordinates"),
    ],
)
def test_what_is_no_loss_is_refused(make, says):
    refused(make, says)


def test_a_loss_of_other_reports_says_how_to_name_them():
    with pytest.raises(InputError) as error:
        as_loss([[1, 2, 3], [3, 2, 1]], 2, 2)
    assert "pass observables=" in error.value.hint
    assert "observables=" not in error.value.render(at_command_line)


def test_units_must_fit():
    refused(lambda: loss(PLACES, PLACES, "euclidean", "year"), "'km' does not fit 'year'", UnitError)
    with pytest.raises(InputError):
        loss(PLACES, PLACES, "hamming", "km")
