"""Each notion is described once: its classes, its claims and its requirements use the same names."""

import inspect
import math
import re

import numpy as np
import pytest

import sfumato as sf
from sfumato import privacy
from sfumato.divergences import KL
from sfumato.errors import InputError
from sfumato.privacy import KINDS, VOCABULARY, Claim, Family, Notion, Priors, Relation, Rivals, TradeOff, describe
from sfumato.privacy.vocabulary import kinds

N = 3
LINE = sf.Space.numbers(range(N))
STEPS = LINE.metric("absolute")
ROWS = np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
CONTEXT = {
    "priors": Priors.of(sf.Prior.uniform(LINE)),
    "metric": STEPS,
    "relation": Relation.of_radius(STEPS, 1),
    "divergence": KL,
    "rivals": Rivals.of_pairs(LINE, [([0], [1, 2])]),
    "family": Family({"low": [1.0, 0.0, 0.0], "high": [0.0, 0.5, 0.5]}),
    "interventions": (np.array([[0, 0, 0], [2, 2, 2]]),),
    "curve": TradeOff.of(ROWS, None),
    "delta": 0.1,
    "epsilon": 0.5,
    "order": 2.0,
}


def test_every_exported_notion_is_in_its_room_and_no_other():
    exported = {each for name in dir(privacy) if inspect.isclass(each := getattr(privacy, name))}
    assert {each for each in exported if issubclass(each, Notion) and not inspect.isabstract(each)} == set(KINDS)
    assert len(KINDS) == len(set(KINDS))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_notion_is_made_of_parts_that_are_named_as_in_claims(kind):
    assert kind.supports(CONTEXT)
    notion = kind.of(CONTEXT)
    assert (notion.key, notion.title) == (kind.description.key, kind.description.title)
    assert notion.unit == (STEPS.unit if "metric" in kind.parts() else "")
    for name in kind.needs():
        assert not kind.supports({**CONTEXT, name: None}), name
    for name, value in notion.settings.items():  # what it was made of, under the same names
        assert name in (*kind.description.numbers, *kind.description.context)
        assert value is CONTEXT[name] or np.array_equal(np.asarray(value), np.asarray(CONTEXT[name]))
    found = notion.measure(ROWS)
    assert math.isfinite(found.value)
    assert repr(found).startswith(kind.description.heading)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_finding_becomes_a_claim_that_becomes_the_notion_again(kind):
    notion = kind.of(CONTEXT)
    if kind.parameter not in kind.description.numbers or {"family", "rivals"} & {*kind.needs()}:
        return
    claim = Claim.of(notion.measure(ROWS))
    assert claim[kind.parameter] == notion.measure(ROWS).upper
    again = claim.to_notion()
    if kind.parameter == kind.description.numbers[0]:
        assert again is not None
        assert type(again) is kind
        assert again.measure(ROWS).value == notion.measure(ROWS).value


@pytest.mark.parametrize("key", VOCABULARY)
def test_descriptions_are_whole(key):
    word = describe(key)
    assert word.key == key == key.lower()
    assert word.title
    assert word.heading[1:] == word.title[1:]
    assert word.question[-1] in ".?)"
    assert word.source
    assert set(word.essentials) <= set(word.context)
    assert set(word.defaults) <= set(word.numbers)
    stated = set(re.findall(r"{(\w+)}", word.promise)) - {"about", "divergence", "unit", "up_to"}
    assert stated <= set(word.numbers) <= stated | {"delta"}
    assert all(kind.description is word for kind in kinds(key))  # two classes share one description
    assert word.audited or kinds(key)


def test_an_unknown_key_is_refused():
    with pytest.raises(InputError, match="no notion of privacy is called 'rumour'"):
        describe("rumour")
