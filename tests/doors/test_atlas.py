"""Implications of the atlas: their words, and what they compute on a grid of claims, as the data `atlas.json`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sfumato.privacy.atlas import ATLAS

from .atlas import facts

GOLDEN: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("atlas.json").read_text(encoding="ascii"))
NUMBER = re.compile(r"\b\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def apart(value: Any) -> tuple[str, list[float]]:
    """Return the words of data and their numbers."""
    text = json.dumps(value)
    return NUMBER.sub("#", text), [float(each) for each in NUMBER.findall(text)]


def test_the_implications_are_those_of_the_list_in_its_order():
    assert [edge.name for edge in ATLAS] == list(GOLDEN)


@pytest.mark.parametrize("edge", ATLAS, ids=lambda edge: edge.name)
def test_an_implication_says_and_gives_what_it_did(edge):
    """To all digits but three: some numbers start from an optimum of SciPy, whose last digits vary."""
    (words, numbers), (known, golden) = apart(facts(edge)), apart(GOLDEN[edge.name])
    assert words == known
    assert numbers == pytest.approx(golden, rel=1e-13, abs=0)


def test_the_grid_reaches_what_each_implication_gives():
    for name, each in GOLDEN.items():
        given = [[of] if isinstance(of, str) else of.values() for of in each["gives"].values()]
        assert any(not text.startswith("refused") for texts in given for text in texts), name
