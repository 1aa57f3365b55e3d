"""The sentences on the best conceivable, read back."""

import re

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.reports import best_section


def number(pattern, text):
    found = re.search(pattern, text)
    assert found is not None
    return float(found[1])


def test_what_is_said_is_no_better_than_what_is_proved():
    places = np.random.default_rng(3).random((12, 2)) * 2000
    bound = sf.coordinate_bound(places, "1/km", gap=0.05, time_limit=20)
    loss = 1.3 * bound.lower
    section = best_section(bound, loss)
    assert section.title == "The best conceivable"
    stated, least, near = section.sentences
    assert number(r"at most ([\d.]+) m", stated) / 1000 >= loss
    assert number(r"less than ([\d.]+) m", least) / 1000 <= bound.lower
    assert "on these 12 places" in least
    assert number(r"within ([\d.]+) %", near) / 100 >= loss / bound.lower - 1
    assert near.endswith("of the best that any mechanism of this epsilon could do on these places.")


def test_a_loss_below_the_bound_is_refused():
    bound = sf.coordinate_bound([[0, 0], [1000, 0]], "1/km", time_limit=20)
    with pytest.raises(InputError, match="no mechanism with this promise"):
        best_section(bound, 0.9 * bound.lower)
