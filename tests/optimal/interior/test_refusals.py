"""What no mechanism can do, and data that means nothing."""

import numpy as np
import pytest

from sfumato.errors import InfeasibleError, InputError
from sfumato.optimal.interior import Infeasible

from .programs import EVEN, HAMMING, LINE, Case


def test_too_much_distortion():
    with pytest.raises(Infeasible, match=r"1\.2 is the most that any mechanism gives") as caught:
        Case(EVEN, HAMMING, LINE, LINE, 1.3).solve()
    assert isinstance(caught.value, InfeasibleError)
    assert caught.value.hint


def test_too_little_loss():
    with pytest.raises(Infeasible, match="least loss"):
        Case(EVEN, HAMMING, LINE, LINE, loss_bound=0.4).solve()


@pytest.mark.parametrize("entry", [-1.0, np.nan])
def test_log_ratios_that_are_none(entry):
    ratio = LINE.copy()
    ratio[0, 1] = entry
    with pytest.raises(InputError, match="negative entries or NaN"):
        Case(EVEN, HAMMING, ratio).solve()


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        (Case(EVEN + 0.1, HAMMING, LINE), "sums to 1.5"),
        (Case(np.array([-0.2, 0.6, 0.2, 0.2, 0.2]), HAMMING, LINE), "least entry is -0.2"),
        (Case(EVEN, HAMMING[:4], LINE), "have shapes"),
        (Case(EVEN, HAMMING, LINE[:4]), "have shapes"),
        (Case(EVEN, np.where(HAMMING > 0, np.nan, 0.0), LINE), "not finite"),
        (Case(EVEN, np.where(HAMMING > 0, np.inf, 0.0), LINE), "not finite"),
        (Case(EVEN, HAMMING, LINE, LINE[:, :4], 0.5), "does not fit"),
        (Case(EVEN, HAMMING, LINE, -LINE, 0.5), "does not fit"),
        (Case(EVEN, HAMMING, LINE, LINE[0], 0.5), "does not fit"),
        (Case(EVEN, HAMMING, LINE, LINE), "both a distance and a minimum"),
        (Case(EVEN, HAMMING, LINE, LINE, 0.5, loss_bound=0.5), "needs a distance and no minimum"),
        (Case(EVEN, HAMMING, LINE, loss_bound=0.5), "needs a distance and no minimum"),
    ],
)
def test_bad_data(case, problem):
    with pytest.raises(InputError, match=problem) as caught:
        case.solve()
    assert caught.value.hint
