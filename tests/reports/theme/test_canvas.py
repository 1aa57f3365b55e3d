"""New figures: their size, and what is said without matplotlib."""

import sys

import pytest

from sfumato.errors import MissingExtraError
from sfumato.reports.theme import blank


def test_a_figure_has_the_size_asked_and_no_axes():
    figure = blank(6.0, 4.5)
    assert tuple(figure.get_size_inches()) == (6.0, 4.5)
    assert figure.axes == []


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[report\]'"):
        blank(6.0, 4.5)
