"""The page on audits: its table of notions and the sentences that it quotes."""

from pathlib import Path

import numpy as np
from docs._made import completed

import sfumato as sf
from sfumato.privacy import VOCABULARY
from sfumato.privacy.vocabulary import table

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "audit.md"


def test_the_page_shows_the_table():
    assert table() in completed(PAGE.read_text(encoding="utf-8"))


def test_the_sentences_are_those_of_the_matrix():
    space = sf.Space(["yes", "no"])
    mechanism = sf.Mechanism(np.array([[0.75, 0.25], [0.25, 0.75]]), space)
    said = [f"{entry.title}: {entry.sentence}" for entry in sf.audit(mechanism, prior=sf.Prior.uniform(space))]
    quoted = [line[4:] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("> - ")]
    assert len(quoted) == 3
    assert set(quoted) <= set(said)


def test_the_table_says_what_an_audit_measures():
    space = sf.Space.numbers(range(3))
    mechanism = sf.mechanisms.geometric(space, 1.0)
    prior = sf.Prior(space, np.array([0.5, 0.5, 0.0]))
    said = {row.split("|")[1].strip(" `"): row.split("|")[3].strip() for row in table().splitlines()[2:]}
    bare = {entry.key for entry in sf.audit(mechanism)}
    full = {entry.key for entry in sf.audit(mechanism, prior=prior, metric=space.metric("absolute"))}
    assert set(said) == set(VOCABULARY)
    assert {key for key, when in said.items() if when == "always"} == bare & set(VOCABULARY)
    assert {key for key, when in said.items() if when in ("with a metric", "with a prior and a metric")} == (
        full - bare
    ) & set(VOCABULARY)
