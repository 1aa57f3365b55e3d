"""Writing of mechanism files: from objects to the manifest and members."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import (
    ONE_WORD,
    DistortionPrivacy,
    Guarantee,
    JointSpace,
    Loss,
    Mechanism,
    Metric,
    MetricPrivacy,
    NumberBins,
    Prior,
    Randomizer,
    Space,
    ThresholdPrivacy,
    as_words,
)
from ..errors import InputError, python
from ..geo import ChosenPlaces, Places, places_from
from ..mechanisms.planar import CoordinateNoise
from ..mechanisms.tupling import TuplePrivacy, Tupling
from ..optimal import Design
from ..proofs import FamilyPrivacy, LinearConstraint, Optimality, PlaceDistortion, VertexPrivacy
from .archive import MAX_ENTRIES, encoded_label, pack, write_archive
from .mechanism_file import MechanismFile

_FOREIGN: Final = frozenset({".csv", ".json", ".mat", ".npy", ".npz", ".parquet", ".png", ".html"})  # formats


def encode(file: MechanismFile) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the members' bytes by name; equal parts are stored once."""
    parts = _Parts()
    if not file.has_matrix:
        noise = {"noise": parts.noise(file.noise), "prior": parts.prior(file.prior), "source": file.source}
        return {**noise, "claims": file.claims, "spaces": parts.spaces}, parts.members
    matrix = file.report_channel
    manifest = {
        "mechanism": parts.mechanism(matrix),
        "tupling": None if file.tupling is None else parts.tupling(file.tupling),
        "prior": parts.prior(file.prior),
        "loss": None if file.loss is None else parts.loss(file.loss),
        "guarantees": [parts.guarantee(guarantee) for guarantee in (*file.guarantees, *file.tuple_guarantees)],
        "optimality": None if file.optimality is None else parts.optimality(file.optimality, matrix.shape),
        "constraints": [parts.constraint(constraint) for constraint in file.constraints],
        "claims": file.claims,
    }
    return {**manifest, "spaces": parts.spaces, "metrics": parts.metrics, "losses": parts.losses}, parts.members


def fingerprint(part: Space | Metric) -> str:
    """Return the SHA-256 of a space or a metric as stored in a mechanism file; `InputError` if it cannot be."""
    parts = _Parts()
    place = parts.metric(part) if isinstance(part, Metric) else parts.space(part)
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in parts.members.items()}
    text = json.dumps([place, parts.spaces, parts.metrics, hashes], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(slots=True)
class _Parts:
    """The parts that the entries of the manifest refer to, collected while they are made."""

    members: dict[str, bytes] = field(default_factory=dict)
    spaces: list[dict[str, Any]] = field(default_factory=list)
    metrics: list[dict[str, Any]] = field(default_factory=list)
    losses: list[dict[str, Any]] = field(default_factory=list)
    _names: dict[bytes, str] = field(default_factory=dict)

    def mechanism(self, mechanism: Mechanism) -> dict[str, Any]:
        spaces = {"secrets": self.space(mechanism.secrets), "observables": self.space(mechanism.observables)}
        if mechanism.bits == ONE_WORD:
            return {"bits": mechanism.bits, "weights": self.array("weights", mechanism.weights), **spaces}
        high, low = as_words(mechanism.weights)
        return {"bits": mechanism.bits, "high": self.array("high", high), "low": self.array("low", low), **spaces}

    def tupling(self, tupling: Tupling) -> dict[str, Any]:
        return {"dummies": tupling.dummies, "source": self.mechanism(tupling.source)}

    def noise(self, noise: CoordinateNoise) -> dict[str, Any]:
        table = None
        if noise.remap is not None:
            frames, targets = noise.remap.arrays()
            table = {"frames": self.array("frames", frames), "targets": self.array("targets", targets)}
        return {
            "epsilon_per_km": noise.epsilon,
            "rate": list(noise.noise.rate.as_integer_ratio()),
            "step_m": list(noise.step_m.as_integer_ratio()),
            "crs": None if noise.projection is None else noise.projection.crs,
            "reach_m": noise.reach_m,
            "table": table,
        }

    def prior(self, prior: Prior | None) -> dict[str, Any] | None:
        if prior is None:
            return None
        return {"space": self.space(prior.space), "probabilities": self.array("prior", prior.probabilities)}

    def loss(self, loss: Loss) -> int:
        array = self.array("loss", loss.array)
        return _place(self.losses, {"array": array, "unit": loss.unit, "name": loss.name})

    def metric(self, metric: Metric) -> int:
        entry = {"unit": metric.unit, "name": metric.name, "triangle": metric.triangle}
        if not metric.symmetric:
            entry["symmetric"] = False
        return _place(self.metrics, {"array": self.array("metric", metric.array), **entry})

    def guarantee(self, guarantee: Guarantee | TuplePrivacy) -> dict[str, Any]:
        if isinstance(guarantee, TuplePrivacy):
            return {"kind": "tuple", "epsilon": guarantee.epsilon, "delta": guarantee.delta}
        if isinstance(guarantee, PlaceDistortion):
            return {
                "kind": "true place",
                "minimum": guarantee.minimum,
                "unit": guarantee.distance.unit,
                "places": self.space(guarantee.places),
                "visited": self.array("visited", guarantee.degrees),
                "times": self.array("times", guarantee.times),
                "guesses": self.array("guesses", guarantee.guesses),
                **({} if guarantee.kind == "euclidean" else {"distance": guarantee.kind}),
            }
        if isinstance(guarantee, DistortionPrivacy):
            return {"kind": "distortion", "minimum": guarantee.minimum, "distance": self.loss(guarantee.distance)}
        if isinstance(guarantee, ThresholdPrivacy):
            near = {"metric": self.metric(guarantee.distance), "within": guarantee.within}
            return {"kind": "threshold", "epsilon": guarantee.epsilon, **near}
        if isinstance(guarantee, VertexPrivacy):
            return {"kind": "coordinates", "epsilon": guarantee.promise.epsilon, "unit": guarantee.promise.unit}
        if isinstance(guarantee, MetricPrivacy):
            return {"kind": "metric", "epsilon": guarantee.epsilon, "metric": self.metric(guarantee.metric)}
        if not isinstance(guarantee, FamilyPrivacy):
            raise InputError(f"{guarantee!r} cannot be written to a file.", python("pass FamilyPrivacy."))
        return self.family(guarantee)

    def family(self, guarantee: FamilyPrivacy) -> dict[str, Any]:
        notion, family = guarantee.notion, guarantee.notion.family
        distances = None
        if guarantee.distance is not None:  # the smaller ones promise more
            array, name = self.array("distances", guarantee.distance.lower), guarantee.distance.name
            distances = {"array": array, "unit": guarantee.unit, "name": name}
        return {
            "kind": "family",
            "epsilon": guarantee.epsilon,
            "delta": notion.delta,
            "names": list(family.names),
            "distributions": self.array("family", family.distributions),
            "pairs": self.array("pairs", family.pairs.astype(np.int64)),
            "distances": distances,
        }

    def constraint(self, constraint: LinearConstraint) -> dict[str, Any]:
        return {
            "coefficients": self.array("coefficients", constraint.coefficients),
            "at_most": constraint.at_most,
            "unit": constraint.unit,
            "name": constraint.name,
        }

    def optimality(self, optimality: Optimality, shape: tuple[int, int]) -> dict[str, Any]:
        prices, (n, m) = optimality.multipliers, shape
        every = optimality.candidates
        m = m if every is None else len(every.observables)
        used = prices.local > 0
        every_row = np.ravel_multi_index((prices.secrets, prices.rivals, prices.observables), (n, n, m))[used]
        rows, where = np.unique(every_row, return_inverse=True)
        return {
            "objective": optimality.objective,
            "rows": self.array("rows", rows.astype(np.int64)),
            "prices": self.array("prices", np.bincount(where, prices.local[used], len(rows)).astype(np.float64)),
            "guesses": None if prices.guesses is None else self.array("guesses", prices.guesses),
            "further": [self.array("guesses", array) for array in optimality.further],
            "limits": None if optimality.limits is None else self.array("limits", optimality.limits),
            "worst": None if prices.worst is None else self.array("worst", prices.worst),
            "loss_price": prices.loss,
            "distance": None if optimality.distance is None else self.loss(optimality.distance),
            "max_loss": optimality.max_loss if np.isfinite(optimality.max_loss) else None,
            "candidates": None
            if every is None
            else {"observables": self.space(every.observables), "loss": self.loss(every.loss)},
        } | ({} if optimality.families is None else {"families": self.array("families", optimality.families)})

    def space(self, space: Space) -> int:
        if isinstance(space, ChosenPlaces):
            known = type(space) is ChosenPlaces
            entry = {"kind": "chosen", "places": self.space(space.places), "chosen": space.indices.tolist()}
        elif isinstance(space, Places):
            entry = space.describe()
            known = places_from(entry) == space  # otherwise reading would give another space
        elif isinstance(space, NumberBins):
            known, entry = type(space) is NumberBins, space.describe()
        elif isinstance(space, JointSpace):
            known = type(space) is JointSpace
            parts = [self.space(part) for part in space.parts]
            entry = {"kind": "joint", "names": list(space.names), "parts": parts}
        else:
            known = type(space) is Space
            entry = {
                "kind": "labels",
                "labels": [encoded_label(label) for label in space.labels],
                "coordinates": None if space.coordinates is None else self.array("coordinates", space.coordinates),
                "unit": space.unit,
                "crs": space.crs,
            }
            if space.period is not None:
                entry["period"] = space.period
        if not known:
            raise InputError(
                f"a mechanism file cannot hold a space of the type {type(space).__name__}.",
                "use a Space, a Grid or Hexagons.",
            )
        return _place(self.spaces, entry)

    def array(self, stem: str, array: NDArray[Any]) -> str:
        """Return the name of the member that holds an array."""
        if array.size > MAX_ENTRIES:
            raise InputError(
                f"an array of {array.size:,} entries is too large for a mechanism file.",
                f"it holds at most {MAX_ENTRIES:,} per array.",
            )
        data = pack(array)
        if data not in self._names:
            alike = sum(name.startswith(stem) for name in self.members)
            self._names[data] = f"{stem}_{alike}.npy"
            self.members[self._names[data]] = data
        return self._names[data]


def _place(entries: list[dict[str, Any]], entry: dict[str, Any]) -> int:
    """Return the place of an entry in a list, added if new; compared as text, because 1 equals True and 1.0."""
    text = json.dumps(entry, sort_keys=True)
    for place, known in enumerate(entries):
        if json.dumps(known, sort_keys=True) == text:
            return place
    entries.append(entry)
    return len(entries) - 1


def save(content: Randomizer | MechanismFile | Design, path: str | os.PathLike[str]) -> None:
    """Write a mechanism, a design, or a `MechanismFile`, to a mechanism file (.sfm); one that exists is replaced.

    The same content gives the same bytes. On any failure nothing half-written remains, and a file that existed
    stays as it was. Of a design the problem and the prices that prove its gap are written, too
    (`MechanismFile.of_design`). Raises `FileError` if the file cannot be written. Raises `InputError` if a label
    is of a type that the file cannot hold, noise has no projection, or the path is named like another format.
    """
    if Path(path).suffix.lower() in _FOREIGN:
        raise InputError(
            f"{os.fspath(path)!r} is named like another kind of file, and a mechanism file would be written.",
            "let the name end in .sfm",
            python("write the numbers alone with the library of that format, from mechanism.matrix."),
        )
    if isinstance(content, Design):
        content = MechanismFile.of_design(content)
    write_archive(path, *encode(content if type(content) is MechanismFile else MechanismFile(content)))
