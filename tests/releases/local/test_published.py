"""Releases that end between any two changes of a folder: no table has another's mark, and each has a record."""

import itertools
import os
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.releases import Mark, prepare, read_mark
from tests.releases.forks import Fork, before_changes

SPACE = sf.Space(range(3))


def always(label):
    """Return a mechanism that reports one label, so that its rows are known."""
    return sf.Mechanism(np.eye(3)[[label] * 3], SPACE)


def prepared(folder, name, label, **options):
    return prepare(always(label), folder / f"{name}.parquet", folder / "p.csv", column="answer", **options)


def stopping(say, folder, at):
    """Release b in the place of a's table, and end before the change of the folder with this number, or name."""
    made = prepared(folder, "b", 1)
    numbers = itertools.count(1)

    def end(name: str) -> None:
        if at in (next(numbers), name):
            say(name)
            os._exit(0)

    before_changes(folder, end)
    made.run()


def label_in(path):
    (label,) = set(path.read_text().split()[1:])
    return int(label)


def mark_of(path):
    found = read_mark(path)
    return None if found is None else found.mechanisms


@pytest.fixture
def folder(tmp_path):
    for name, rows in (("a", 4), ("b", 5)):
        pq.write_table(pa.table({"answer": np.arange(rows) % 3}), tmp_path / f"{name}.parquet")
    return tmp_path


def check_stopped(folder, at):
    """Stop a release there and check what that leaves, and what goes on from it; return where it was, and that.

    Args:
        folder: Where it is.
        at: The number or the name of the change before which it stops.
    """
    target = folder / "p.csv"
    for path in folder.glob(".p.csv*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    marks = {0: prepared(folder, "a", 0).run().mark, 1: mark_of_one()}
    (said,) = Fork(stopping, folder, at).rest()
    label, mark = label_in(target), mark_of(target)
    assert mark in (None, marks[label])
    if label == 1:  # the table is there, so its source is not released again by mistake
        with pytest.raises(InputError, match="released before"):
            prepared(folder, "b", 1)
    with pytest.raises(InputError, match="released before"):
        prepared(folder, "a", 0)
    if (folder / ".p.csv.release" / "run.json").exists():
        done = prepared(folder, "b", 1, resume=True).run()
        assert "released" not in "".join(done.notes)  # it does not count itself
    else:
        prepared(folder, "b", 1, again=True).run()
    assert (label_in(target), mark_of(target)) == (1, marks[1])
    return said, (label, mark is not None)


def mark_of_one():
    return Mark.of({"": always(1)}).mechanisms


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("at", "left"),
    [
        ("os.rename run.json.new", (0, True)),
        ("os.rename part-000000000000000-000000000000005.arrow.new", (0, True)),
        ("os.remove p.csv.sfumato.json", (0, True)),
        ("os.rename table", (0, False)),
        ("os.rename mark", (1, False)),
    ],
)
def test_a_release_that_ends_leaves_no_table_with_the_mark_of_another(folder, at, left):
    assert check_stopped(folder, at) == (at, left)


@pytest.mark.slow
def test_wherever_it_ends(folder):
    seen = set()
    for at in itertools.count(1):
        said, left = check_stopped(folder, at)
        seen.add(left)
        if said == "done":
            break
    assert at > 12
    assert seen == {(0, True), (0, False), (1, False), (1, True)}


def test_a_release_that_ended_after_its_record_says_how_to_go_on(folder):
    prepared(folder, "a", 0).run()
    assert Fork(stopping, folder, "os.rename table").rest() == ["os.rename table"]
    with pytest.raises(InputError, match="released before") as told:
        prepared(folder, "b", 1)
    assert "was interrupted: continue it with resume=True" in told.value.hint
