"""Words of rows: the same for the same secret and key however rows are batched, and uniform to everybody else."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from sfumato import Space
from sfumato.core import Row
from sfumato.errors import InputError
from sfumato.mechanisms import UnaryEncoding
from sfumato.sampling import KeyedWords, UnevenWordsError
from tests.sampling.mechanisms import random_mechanism
from tests.sampling.test_sampler import FALSE_ALARM, p_value

SECRET = bytes(range(32))
KNOWN = ["420d826eea51c46b", "7ee3c6469ac982b5", "565ff3bfb893b498"]


def test_known_words():
    """Computed from the definition alone, and once and for all."""
    words = KeyedWords(SECRET, [b"ada"], b"test").draw(10)
    blocks = [
        hashlib.blake2b(number.to_bytes(8, "little") + b"ada", key=SECRET, person=b"test").digest()
        for number in (0, 1)
    ]
    assert words.tolist() == np.frombuffer(b"".join(blocks), "<u8")[:10].tolist()
    assert [f"{word:016x}" for word in words[[0, 7, 8]].tolist()] == KNOWN


@given(st.integers(1, 40), st.lists(st.integers(0, 11), min_size=1, max_size=6))
def test_a_row_has_its_words_in_whatever_company(rows, sizes):
    keys = [str(row).encode() for row in range(rows)]
    together = KeyedWords(SECRET, keys)
    found = np.hstack([together.draw(rows * size).reshape(rows, size) for size in sizes])
    alone = [KeyedWords(SECRET, [key]).draw(sum(sizes)) for key in keys]
    assert np.array_equal(found, alone)


def test_words_are_uniform_and_rows_independent():
    words = KeyedWords(SECRET, [row.to_bytes(8, "little") for row in range(20_000)]).draw(60_000).reshape(-1, 3)
    for shift in (0, 24, 56):
        parts = (words >> np.uint64(shift)).astype(np.uint8)
        pairs = [parts[:, 0], parts[:, 2], parts[:-1, 0] ^ parts[1:, 0], parts[:, 0] ^ parts[:, 1]]
        for values in pairs:
            counts = np.bincount(values, minlength=256)
            expected = len(values) / 256
            assert chi2.sf(((counts - expected) ** 2 / expected).sum(), 255) > FALSE_ALARM
    assert len(np.unique(words)) == words.size


@pytest.mark.parametrize("other", [(bytes(32), b"a", b""), (SECRET, b"b", b""), (SECRET, b"a", b"other")])
def test_other_secrets_keys_and_purposes_give_other_words(other):
    secret, key, purpose = other
    mine, theirs = KeyedWords(SECRET, [b"a"]).draw(4096), KeyedWords(secret, [key], purpose).draw(4096)
    apart = np.bitwise_count(mine ^ theirs).sum()
    assert abs(float(apart) - 32 * 4096) < 6 * np.sqrt(64 * 4096) / 2


@pytest.mark.parametrize("tiny", [False, True])
def test_reports_follow_the_integers(tiny):
    blur = random_mechanism(3, 5, 9, tiny=tiny)
    keys = [row.to_bytes(8, "little") for row in range(40_000)]
    found = Row(blur).draw(np.full(len(keys), 2), KeyedWords(SECRET, keys))
    assert p_value(blur, 2, np.bincount(found, minlength=9)) > FALSE_ALARM


@pytest.mark.parametrize(
    "recipe", [Row(random_mechanism(3, 7, 9)), UnaryEncoding(Space(range(7)), 1.0, "optimised").recipe()]
)
def test_rowwise_recipes_draw_for_many_rows_as_for_each_alone(recipe):
    assert recipe.rowwise
    keys, secrets = [bytes([row]) for row in range(70)], np.arange(70) % 7
    together = recipe.draw(secrets, KeyedWords(SECRET, keys))
    alone = [recipe.draw(secrets[[row]], KeyedWords(SECRET, [keys[row]]))[0] for row in range(70)]
    assert np.array_equal(together, alone)


def test_what_cannot_be_shared_out_is_refused():
    assert KeyedWords(SECRET, []).draw(0).size == 0
    assert KeyedWords(SECRET, [b"a", b"b"]).draw(0).size == 0
    with pytest.raises(UnevenWordsError, match="3 words cannot be shared out among 2 rows"):
        KeyedWords(SECRET, [b"a", b"b"]).draw(3)
    with pytest.raises(UnevenWordsError):
        KeyedWords(SECRET, []).draw(1)


def test_a_secret_is_long_enough_and_never_shown():
    assert SECRET.hex() not in repr(KeyedWords(SECRET, [b"a"]))
    assert repr(SECRET) not in repr(KeyedWords(SECRET, [b"a"]))
    with pytest.raises(InputError, match="a secret of 31 bytes"):
        KeyedWords(SECRET[1:], [b"a"])
    with pytest.raises(InputError, match="a purpose of 17 bytes"):
        KeyedWords(SECRET, [b"a"], bytes(17))
