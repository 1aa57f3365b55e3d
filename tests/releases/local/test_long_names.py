"""Targets whose names are as long as file systems allow, in bytes: they are written, or refused before a draw."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.geo import Lattice
from sfumato.ledgers import Blur, Ledger
from sfumato.releases import prepare, read_mark

LATTICE = Lattice.covering("6 km x 6 km around 48.85,2.35", "1 km")
UNIFORM = sf.Mechanism(np.full((len(LATTICE), len(LATTICE)), 1 / len(LATTICE)), LATTICE)


@pytest.fixture
def source(tmp_path):
    table = pa.table({"lat": [48.85] * 4, "lon": [2.35] * 4, "user": ["ada", "bob", "cy", "dee"]})
    pq.write_table(table, tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "l.db", "2/km")


def blurred(ledger):
    return Blur(UNIFORM, ledger, sf.CoordinatePrivacy("1/km"))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["名" * 76, "名" * 82, "x" * 247, "é" * 123, "名" * 20])
def test_a_name_in_many_bytes_is_like_any_other(source, ledger, name):
    target = source.with_name(f"{name}.parquet")
    done = prepare(blurred(ledger), source, target, batch_rows=2).run()
    assert pq.read_metadata(target).num_rows == done.rows == 4
    assert [int(ledger.balance(user).spent) for user in ("ada", "dee")] == [1, 1]
    with pytest.raises(InputError, match="released before"):
        prepare(UNIFORM, source, source.with_name("other.parquet"))


def test_a_name_that_is_too_long_is_refused_before_anybody_is_charged(source, ledger):
    with pytest.raises(FileError, match="File name too long"):
        prepare(blurred(ledger), source, source.with_name("名" * 83 + ".parquet"))
    long = source.with_name("x" * 251 + ".csv")  # a name that is allowed, but not that of the mark beside it
    with pytest.raises(FileError, match="File name too long"):
        prepare(blurred(ledger), source, long)
    assert not ledger.users
    assert not [path for path in source.parent.iterdir() if path.name.startswith(".")]
    target = source.with_name("x" * 238 + ".csv")
    done = prepare(blurred(ledger), source, target).run()
    mark = read_mark(target)
    assert mark is not None
    assert mark.mechanisms == done.mark


def test_long_names_that_begin_alike_do_not_meet(source):
    one, two = (source.with_name("名" * 75 + end + ".parquet") for end in "ab")

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(UNIFORM, source, one, batch_rows=2).run(stop)
    prepare(UNIFORM, source, two, batch_rows=2).run()
    with pytest.raises(InputError, match="released before"):
        prepare(UNIFORM, source, one, batch_rows=2, resume=True).run()
    prepare(UNIFORM, source, one, batch_rows=2, resume=True, again=True).run()
    assert pq.read_metadata(one).num_rows == 4
