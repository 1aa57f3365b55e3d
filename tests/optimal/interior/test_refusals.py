"""Requests that no mechanism can meet; meaningless data is refused earlier (tests/optimal/test_refusals.py)."""

import pytest

from sfumato.errors import InfeasibleError

from .programs import EVEN, HAMMING, LINE, Case


def test_too_much_distortion():
    with pytest.raises(InfeasibleError, match=r"no mechanism gives more than 1\.2") as caught:
        Case(EVEN, HAMMING, LINE, LINE, 1.3).solve()
    assert caught.value.hint


def test_too_little_loss():
    with pytest.raises(InfeasibleError, match="least loss"):
        Case(EVEN, HAMMING, LINE, LINE, max_loss=0.4).solve()
