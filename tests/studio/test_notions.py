"""Titles of the notions in the studio: plain, and true at every value of the number."""

import re

from sfumato.privacy.atlas import NOTION_KEYS
from sfumato.privacy.vocabulary import VOCABULARY
from sfumato_studio.notions import PLAIN, notions_answer


def test_titles_are_those_of_notions():
    assert PLAIN.keys() <= VOCABULARY.keys()
    assert len(set(PLAIN.values())) == len(PLAIN)


def test_titles_need_no_literature_and_say_nothing_of_the_number():
    for key, title in PLAIN.items():
        assert 15 < len(title) < 62, key
        assert re.fullmatch(r"(How|Which) [a-z, ]+", title), key
        assert not re.search(r"epsilon|divergence|entropy|coupling|metric|prior|posterior|Rényi", title), key


def test_a_notion_without_a_title_shows_its_question(ages, monkeypatch):
    """As one that was added by docs/architecture.md."""
    monkeypatch.delitem(PLAIN, "causal")
    studio = ages.studio.app.state.studio
    domain = studio.domain(studio.store.workspace(ages.id))
    shown = {each.key: each for each in notions_answer(domain, 1.0).notions}
    assert shown.keys() == set(NOTION_KEYS)
    assert shown["causal"].plain == VOCABULARY["causal"].question
