"""Memos: they repeat, are drawn as the mechanism says, and their store names nothing."""

import json

import numpy as np
import pytest
from scipy.stats import chisquare

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.evidence.observed import repetition
from sfumato.releases.budget import Memo, new_memo_key

SPACE = sf.Space(["home", "work", "clinic", "bar"])
MECHANISM = sf.mechanisms.randomised_response(SPACE, 1.0)


def test_a_memo_repeats_for_ever_and_after_it_is_opened_again(tmp_path):
    key, path = new_memo_key(), tmp_path / "memo.json"
    memo = Memo(MECHANISM, key, path)
    first = memo.draw(np.arange(4))
    for _ in range(20):
        np.testing.assert_array_equal(memo.draw([[3, 2], [1, 0]]), first[[3, 2, 1, 0]].reshape(2, 2))
    np.testing.assert_array_equal(Memo(MECHANISM, key, path).draw(np.arange(4)), first)
    assert len(memo) == 4


def test_memos_are_drawn_from_the_row():
    drawn = np.array([Memo(MECHANISM, new_memo_key()).draw([2])[0] for _ in range(2000)])
    expected = 2000 * MECHANISM.matrix[2]
    assert chisquare(np.bincount(drawn, minlength=4), expected * 2000 / expected.sum()).pvalue > 1e-9


def test_the_store_holds_neither_secrets_nor_the_key(tmp_path):
    key, path = new_memo_key(), tmp_path / "memo.json"
    Memo(MECHANISM, key, path).draw([2, 0])
    text = path.read_text(encoding="utf-8")
    for private in ("home", "clinic", key.hex()):
        assert private not in text
    entries = json.loads(text)["memos"]
    assert all(len(name) == 64 for name in entries)
    assert list(entries) == sorted(entries)
    # Without the key, trying all secrets finds nothing; with another key nothing is found either.
    stranger = Memo(MECHANISM, new_memo_key(), path)
    stranger.draw(np.arange(4))
    assert len(json.loads(path.read_text(encoding="utf-8"))["memos"]) == 6


def test_stores_that_are_open_at_once_lose_nothing(tmp_path):
    """A memo that was lost would be drawn again, and so be fresh noise."""
    path, key, other = tmp_path / "memo.json", new_memo_key(), new_memo_key()
    opened = [Memo(MECHANISM, key, path), Memo(MECHANISM, other, path), Memo(MECHANISM, key, path)]
    reports = [memo.draw(np.arange(4)) for memo in opened]
    np.testing.assert_array_equal(reports[0], reports[2])
    for again, first in ((key, reports[0]), (other, reports[1])):
        memo = Memo(MECHANISM, again, path)
        assert len(memo) == 8
        np.testing.assert_array_equal(memo.draw(np.arange(4)), first)
    assert [found.name for found in tmp_path.iterdir()] == ["memo.json"]


def test_keys_are_random_and_digests_do_not_match_between_users(tmp_path):
    assert new_memo_key() != new_memo_key()
    stores = []
    for name in "ab":
        Memo(MECHANISM, new_memo_key(), tmp_path / name).draw(np.arange(4))
        stores.append(set(json.loads((tmp_path / name).read_text(encoding="utf-8"))["memos"]))
    assert not stores[0] & stores[1]


def test_another_mechanism_has_memos_of_its_own(tmp_path):
    key, path = new_memo_key(), tmp_path / "memo.json"
    Memo(MECHANISM, key, path).draw(np.arange(4))
    other = Memo(sf.mechanisms.randomised_response(SPACE, 1.1), key, path)
    other.draw(np.arange(4))
    assert len(other) == 8


def test_a_memo_that_cannot_be_kept_is_not_given_out(tmp_path, monkeypatch):
    memo = Memo(MECHANISM, new_memo_key(), tmp_path / "memo.json")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(FileError):
        memo.draw([1])
    assert len(memo) == 0


@pytest.mark.parametrize(
    "content", ["x", "[]", '{"format": "other"}', '{"format": "sfumato memo", "memos": {"ab": 1}}']
)
def test_a_file_that_is_no_store_is_refused(tmp_path, content):
    (tmp_path / "memo.json").write_text(content, encoding="utf-8")
    with pytest.raises(FileError, match="is not a store of memos"):
        Memo(MECHANISM, new_memo_key(), tmp_path / "memo.json")


def test_a_short_key_and_positions_outside_are_refused():
    with pytest.raises(InputError, match="32 bytes"):
        Memo(MECHANISM, b"short")
    with pytest.raises(InputError, match="position"):
        Memo(MECHANISM, new_memo_key()).draw([4])


def test_a_memo_sold_as_fresh_noise_is_found_out_and_fresh_noise_is_not():
    """The last known-bad sampler of the list: outputs that never change."""
    memo, fresh = Memo(MECHANISM, new_memo_key()), sf.sampler(MECHANISM)

    def boxed(source):
        return lambda secret: SPACE.labels[int(source.draw([SPACE.position(secret)])[0])]

    sold = repetition(boxed(memo), SPACE.labels, calls=32, mechanism=MECHANISM)
    assert len(sold.constant) == 4
    assert sold.probability is not None
    assert sold.probability < 1e-6
    by_epsilon = repetition(boxed(memo), ["home", "work"], calls=32, epsilon=1.0)
    assert by_epsilon.constant
    honest = repetition(boxed(fresh), SPACE.labels, calls=32, mechanism=MECHANISM)
    assert not honest.constant  # fails once in 1e9 runs
