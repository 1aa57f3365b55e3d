"""The error of the true point in a file: proved again from the file alone, whatever the file says of it."""

import io
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import FileError
from sfumato.proofs import prove_guarantees
from sfumato_papers.invented_city import invented_city

from .forging import forged, npy, opened

VISITS = invented_city().select(np.arange(300))
CITY = sf.Grid.covering(VISITS, "3 km", region=VISITS.region(trim=0.05))
PRIOR = sf.Prior.from_visits(CITY, VISITS)
KEPT_KM = 0.8


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A mechanism that always reports the same, with what an attacker without a report errs by, nearly."""
    constant = np.zeros((len(CITY), len(CITY)))
    constant[:, 0] = 1.0
    asked = sf.PlaceDistortion(KEPT_KM, CITY, VISITS)
    held = sf.MechanismFile(sf.Mechanism(constant, CITY, CITY), PRIOR, CITY.loss(VISITS), asked)
    sf.save(held, tmp_path / "m.sfm")
    return tmp_path / "m.sfm"


def test_it_is_proved_again_from_the_file_alone(written: Path) -> None:
    loaded = sf.read_mechanism_file(written)
    (asked,) = loaded.guarantees
    assert isinstance(asked, sf.PlaceDistortion)
    assert loaded.prior is not None
    _, (proof,) = prove_guarantees(loaded.report_channel, loaded.prior, asked)
    assert proof.holds
    assert proof.lower <= sf.attacks.true_place(loaded.report_channel, asked.visits).error.upper
    assert proof.lower == pytest.approx(sf.attacks.true_place(loaded.report_channel, VISITS).error.lower, rel=1e-7)


def test_more_than_is_kept_is_not_believed(written: Path) -> None:
    manifest, members = opened(written)
    manifest["guarantees"][0]["minimum"] = 1000.0
    forged(written, manifest, members)
    loaded = sf.read_mechanism_file(written)
    assert loaded.prior is not None
    _, proofs = prove_guarantees(loaded.report_channel, loaded.prior, loaded.guarantees)
    assert not proofs[0].holds
    said = " ".join(sf.reports.summarise_file(loaded).markdown().split())
    assert "NOT PROVED: an average error of at least 1000 km for the best attacker from the true point" in said


@pytest.mark.parametrize(
    ("member", "change"),
    [
        ("visited", lambda a: a + 40),
        ("visited", lambda a: a * np.nan),
        ("visited", lambda a: a[:-1]),
        ("times", lambda a: a * 0),
        ("times", lambda a: a + (1 << 40)),
        ("guesses", lambda a: a * np.inf),
        ("guesses", lambda a: a * 1e9 + 1e9),
        ("guesses", lambda a: a[:0]),
        ("guesses", lambda a: a[:, :1]),
    ],
)
def test_damaged_places_are_refused(written: Path, member: str, change: object) -> None:
    assert callable(change)
    manifest, members = opened(written)
    name = manifest["guarantees"][0][member]
    with np.errstate(invalid="ignore"):
        array = change(np.load(io.BytesIO(members[name])))
    members[name] = npy(np.ascontiguousarray(array))
    forged(written, manifest, members)
    with pytest.raises(FileError) as raised:
        sf.read_mechanism_file(written)
    assert raised.value.hint


def test_other_places_are_refused(written: Path) -> None:
    manifest, members = opened(written)
    other = sf.Grid.covering(VISITS, "2.9 km", region=VISITS.region(trim=0.05))
    manifest["spaces"].append(other.describe())
    manifest["guarantees"][0]["places"] = len(manifest["spaces"]) - 1
    forged(written, manifest, members)
    with pytest.raises(FileError):
        sf.read_mechanism_file(written)
