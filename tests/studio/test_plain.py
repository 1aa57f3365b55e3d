"""Plain titles of the notions: one for each, in a group, and without the jargon."""

import re

from sfumato.privacy.vocabulary import VOCABULARY
from sfumato.studio.plain import GROUPS, PLAIN


def test_every_notion_has_a_plain_title_and_a_group():
    assert PLAIN.keys() == GROUPS.keys() == VOCABULARY.keys()
    assert len(set(PLAIN.values())) == len(PLAIN)
    assert len(set(GROUPS.values())) == 3


def test_plain_titles_need_no_literature():
    for key, title in PLAIN.items():
        assert 15 < len(title) < 60, key
        assert re.fullmatch(r"[A-Z][a-z, ]+", title), key
        assert not re.search(r"epsilon|divergence|entropy|coupling|metric|prior|posterior|Rényi", title), key
