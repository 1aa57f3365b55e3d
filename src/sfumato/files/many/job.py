"""One design of many: what a worker is sent, does and returns."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...core import Loss, Metric, Prior
from ...core.guarantees import Asked
from ...core.immutable import CompactRepr
from ...errors import SfumatoError
from ...geo import Visits
from ...optimal import Auto, design
from ...proofs import PlaceDistortion
from ..mechanism_file import MechanismFile
from ..saving import save
from .names import stem_of


class Job(Protocol):
    """A design to be made, as a worker is sent it."""

    @property
    def name(self) -> str:
        """Whose it is."""

    @property
    def request(self) -> str:
        """A fingerprint of all that the design depends on, the number of threads left out."""

    def prepared(self) -> DesignJob:
        """Return it with its prior, loss and guarantees."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignJob(CompactRepr):
    """One design to be made.

    Attributes:
        name: Whose it is.
        prior: Their prior.
        loss: Their loss.
        guarantees: What is asked for.
        medians: Their visits, where reports are moved to medians.
        options: The other arguments of `design`.
        threads: Worker threads of the solver.
    """

    name: str
    prior: Prior
    loss: Loss
    guarantees: tuple[Asked, ...]
    medians: Visits | None
    options: Mapping[str, Any]
    threads: int

    @property
    def request(self) -> str:
        """A fingerprint of all that the design depends on, the number of threads left out."""
        texts = [
            type(self.prior.space).__name__,
            repr(self.prior.space.labels),
            self.prior.space.unit,
            self.prior.space.crs,
            self.loss.name,
            self.loss.unit,
            repr(sorted(self.options.items())),
        ]
        arrays: list[np.ndarray | None] = [self.prior.space.coordinates, self.prior.probabilities, self.loss.array]
        for each in self.guarantees:
            texts.append(f"{type(each).__name__} {each}")
            distances = getattr(each, "metric", None) or getattr(each, "distance", None)
            if isinstance(distances, Loss | Metric):
                arrays.append(distances.array)
            if isinstance(each, PlaceDistortion):
                arrays += [each.degrees, each.times]
        if self.medians is not None:
            arrays += [self.medians.lat, self.medians.lon]
        return fingerprint_of(texts, arrays)

    def prepared(self) -> DesignJob:
        """Return the job itself."""
        return self


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignRow(CompactRepr):
    """A design in the index.

    Attributes:
        name: Whose it is.
        file: The name of its file in the folder.
        request: The fingerprint of what was asked for.
        kind: ``program`` or ``noise``.
        loss: At most so much is lost on average, or at worst where that was the objective.
        unit: The unit of the loss.
        slack_m: What a promise per metre adds to every distance, metres.
        finished: Whether the wanted gap was reached.
        seconds: The time that it took.
        sha256: Of the file.
    """

    name: str
    file: str
    request: str
    kind: str
    loss: float
    unit: str
    slack_m: float
    finished: bool
    seconds: float
    sha256: str

    def entry(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignDone(CompactRepr):
    """A design, or why there is none, as a worker returns it.

    Attributes:
        row: The row of the index; None where no design was made.
        content: The bytes of the mechanism file.
        reason: Why there is no design; empty if there is one.
    """

    row: DesignRow | None
    content: bytes = field(repr=False)
    reason: str = ""


def done(job: Job) -> DesignDone:
    """Make a design, in whatever process this runs, and return its file as bytes.

    Args:
        job: What is asked for.
    """
    begun = time.monotonic()
    try:
        asked = job.prepared()
        options = {"solver": Auto(asked.threads), **asked.options}
        made = design(
            asked.prior,
            loss=asked.loss,
            guarantees=asked.guarantees,
            medians=asked.medians,
            keep="better",
            **options,
        )
        held = MechanismFile.of_design(made, visits=asked.medians)
    except SfumatoError as error:
        return DesignDone(None, b"", error.problem)
    except Exception as error:  # noqa: BLE001  the others go on
        return DesignDone(None, b"", f"an error inside sfumato, {type(error).__name__}: {error}.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.sfm"
        save(held, path)
        content = path.read_bytes()
    seconds, check = time.monotonic() - begun, hashlib.sha256(content).hexdigest()
    name = job.name
    row = DesignRow(
        name,
        f"{stem_of(name)}.sfm",
        job.request,
        made.kind,
        float(made.value),
        made.loss_unit,
        float(made.slack_m),
        made.finished,
        seconds,
        check,
    )
    return DesignDone(row, content)


def fingerprint_of(texts: list[Any], arrays: list[np.ndarray | None]) -> str:
    """Return a hash of texts and arrays, in their order."""
    parts = hashlib.sha256()
    for text in texts:
        parts.update(f"{text!r}\0".encode())
    for array in arrays:
        if array is None:
            parts.update(b"none\0")
        else:
            parts.update(f"{array.shape}\0".encode() + np.ascontiguousarray(array).tobytes())
    return parts.hexdigest()
