"""The page on audits lists the notions that there are, and marks those that an audit measures."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato import privacy
from sfumato.privacy import NOTIONS, Notion

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
ROW = re.compile(r"^\| (\**)`([a-z-]+)`\** \| ([a-z, ]+) \| (.+\?|.+\.) \| (.+) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def rows():
    """The table: key to its mark, parameters and source."""
    text = PAGE.read_text(encoding="utf-8").partition("## The notions")[2]
    return {key: (mark, parameters, source) for mark, key, parameters, _, source in ROW.findall(text)}


def classes():
    found: dict[str, list[type[Notion]]] = {}
    for name in privacy.__all__:
        each = getattr(privacy, name)
        if inspect.isclass(each) and issubclass(each, Notion) and each is not Notion:
            found.setdefault(each.key, []).append(each)
    return found


def test_every_notion_is_listed_with_its_parameters_and_a_source(rows):
    assert list(rows) == list(NOTIONS)
    for key, kinds in classes().items():
        _, parameters, source = rows[key]
        assert set(parameters.split(", ")) == {kind.parameter for kind in kinds}
        assert source in {kind.source for kind in kinds}


def test_the_marks_say_what_an_audit_measures(rows):
    space = sf.Space.numbers(range(3))
    mechanism = sf.mechanisms.geometric(space, 1.0)
    prior = sf.Prior(space, np.array([0.5, 0.5, 0.0]))
    bare = {entry.key for entry in sf.audit(mechanism)}
    full = {entry.key for entry in sf.audit(mechanism, prior=prior, metric=space.metric("absolute"))}
    assert {key for key, (mark, *_) in rows.items() if mark == "**"} == bare & set(NOTIONS)
    assert {key for key, (mark, *_) in rows.items() if mark == "*"} == (full - bare) & set(NOTIONS)
