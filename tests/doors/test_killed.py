"""Releases with a ledger that are killed at any moment: no charge is lost or made twice, and no row is missing."""

import itertools
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, event
from sqlalchemy.pool import Pool

import sfumato as sf
from sfumato.releases import prepare

from ..releases.forks import Fork, Say, Steps
from .proofs import FILES

ROWS, USERS = 60, 4
OWED = Counter(f"u{row % USERS}" for row in range(ROWS))


def prepare_folder(folder: Path) -> None:
    """Write the table and an empty ledger."""
    places = {"lat": [48.85] * ROWS, "lon": [2.35] * ROWS, "user": [f"u{row % USERS}" for row in range(ROWS)]}
    pq.write_table(pa.table({**places, "id": range(ROWS)}), folder / "in.parquet")
    sf.Ledger.create(folder / "l.db", "1000/km").close()


def release(folder: Path) -> None:
    """Go on with a release, or begin one, of a table in three batches; each row is paid by its user."""
    with sf.Ledger(folder / "l.db") as ledger:
        blur = sf.Blur(sf.load(FILES["design visits"]), ledger, sf.CoordinatePrivacy("1/km"))
        source, target = folder / "in.parquet", folder / "out.parquet"
        for resume in (True, False):
            try:
                prepare(blur, source, target, user="user", keep=["id"], batch_rows=ROWS // 3, resume=resume).run()
            except sf.errors.InputError:
                if not resume:
                    raise
            else:
                return


def release_and_die(say: Say, folder: Path, step: int) -> None:
    """Release, and be killed before or after a change of a file or of the ledger."""
    del say
    steps = Steps(step)
    steps.watch(folder)
    event.listen(Engine, "commit", steps)
    event.listen(Pool, "checkin", steps)
    release(folder)


def spent(folder: Path) -> Counter[str]:
    with sf.Ledger(folder / "l.db") as ledger:
        assert ledger.check().sound
        return Counter({user: int(ledger.balance(user).spent) for user in ledger.users})


def killed(folder: Path, step: int) -> bool:
    """Kill a release twice, let it end, and check; return whether it was hit."""
    paid, hits = Counter[str](), 0
    for _ in range(2):
        hits += Fork(release_and_die, folder, step).died()
        before, paid = paid, spent(folder)
        assert before <= paid <= OWED
        if (folder / "out.parquet").exists():
            break
    else:
        release(folder)
    assert pq.read_table(folder / "out.parquet")["id"].to_pylist() == list(range(ROWS))
    assert spent(folder) == OWED
    return bool(hits)


@pytest.mark.slow
def test_killed_at_every_third_step(tmp_path):
    for step in itertools.count(1, 3):
        folder = tmp_path / str(step)
        folder.mkdir()
        prepare_folder(folder)
        if not killed(folder, step):
            break
    assert step > 20
