"""Reading of mechanism files: from the manifest and members to objects."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core import (
    ONE_WORD,
    CoordinatePrivacy,
    DesignGuarantee,
    DistortionPrivacy,
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
    as_named,
    follows,
    from_words,
)
from ..core.arrays import Floats
from ..errors import DataError, FileError, InputError, MetricWarning
from ..geo import DISTANCES, TRUE_POINT, ChosenPlaces, Places, Projection, places_from
from ..proofs import Candidates, FamilyPrivacy, LinearConstraint, Multipliers, Optimality, PlaceDistortion
from .archive import DAMAGED, MAX_ENTRIES, MOST_CONSTRAINTS, MOST_GUARANTEES, Fields, decoded_label, read_archive
from .mechanism_file import MechanismFile

if TYPE_CHECKING:
    from ..mechanisms.planar import CoordinateNoise
    from ..mechanisms.tupling import TuplePrivacy, Tupling

_LONGEST: Final = 1 << 512  # of a fraction's whole numbers
Arrays = Mapping[str, NDArray[Any]]
_Part = TypeVar("_Part", Space, Metric, Loss)


@dataclass(slots=True)
class _Contents:
    """The objects of a file; shared parts are built once."""

    manifest: Fields
    arrays: Arrays
    _spaces: dict[int, Space] = field(default_factory=dict)
    _metrics: dict[int, Metric] = field(default_factory=dict)
    _losses: dict[int, Loss] = field(default_factory=dict)

    def noise(self) -> tuple[CoordinateNoise, Prior | None, str]:
        """Return the noise, the prior if there is one, and the owner of their places."""
        from ..mechanisms.planar import CoordinateNoise, PlaneRemap

        entry = self.manifest.fields("noise")
        table = None
        if entry.has("table"):
            arrays = entry.fields("table")
            table = PlaneRemap.from_arrays(
                self._array(arrays, "frames", np.int64, 2), self._array(arrays, "targets", np.float64, 2)
            )
        try:
            noise = CoordinateNoise(
                entry.number("epsilon_per_km"),
                _fraction(entry, "step_m"),
                Projection.from_crs(entry.get("crs", str)),
                entry.number("reach_m"),
                table,
            )
        except (OverflowError, ZeroDivisionError) as error:
            raise FileError(f"a number of its noise cannot be used ({error}).", DAMAGED) from error
        if noise.noise.rate != _fraction(entry, "rate"):
            raise FileError("the rate of its noise does not match its guarantee.", DAMAGED)
        return noise, self.prior(), self.manifest.get("source", str)

    def tupling(self, inner: Mechanism) -> Tupling | None:
        if not self.manifest.has("tupling"):
            return None
        from ..mechanisms.tupling import Tupling

        entry = self.manifest.fields("tupling")
        return Tupling.of_source(inner, entry.get("dummies", int), self.mechanism(entry.fields("source")))

    def mechanism(self, entry: Fields) -> Mechanism:
        bits = entry.get("bits", int)
        if bits == ONE_WORD:
            weights = self._array(entry, "weights", np.int64, 2)
        else:
            high, low = self._array(entry, "high", np.uint64, 2), self._array(entry, "low", np.uint64, 2)
            if high.shape != low.shape:
                raise FileError("the two halves of its weights differ in shape.", DAMAGED)
            weights = from_words(high, low)
        return Mechanism.from_weights(
            weights, bits, self._space(entry, "secrets"), self._space(entry, "observables")
        )

    def prior(self) -> Prior | None:
        if not self.manifest.has("prior"):
            return None
        entry = self.manifest.fields("prior")
        return Prior(self._space(entry, "space"), self._array(entry, "probabilities", np.float64, 1))

    def loss(self) -> Loss | None:
        return self._loss(self.manifest, "loss") if self.manifest.has("loss") else None

    def guarantees(self, secrets: Space, *, trusted: bool = False) -> tuple[DesignGuarantee | TuplePrivacy, ...]:
        """Return the guarantees; unless ``trusted``, metrics not confirmed by the secrets are marked as stated."""
        values = self.manifest.get("guarantees", list)
        if len(values) > MOST_GUARANTEES:
            raise FileError(f"it holds {len(values):,} guarantees, more than {MOST_GUARANTEES}.", DAMAGED)
        return tuple(self._guarantee(Fields.of(value, "guarantee"), secrets, trusted=trusted) for value in values)

    def optimality(self, shape: tuple[int, int]) -> Optimality | None:
        """Return the prices that prove the optimum, for a mechanism of the given shape."""
        if not self.manifest.has("optimality"):
            return None
        entry, (n, m) = self.manifest.fields("optimality"), shape
        candidates = None
        if entry.has("candidates"):
            every = entry.fields("candidates")
            candidates = Candidates(self._space(every, "observables"), self._loss(every, "loss"))
            m = len(candidates.observables)
        rows, local = self._array(entry, "rows", np.int64, 1), self._array(entry, "prices", np.float64, 1)
        if rows.shape != local.shape or (len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < n * n * m):
            raise FileError("its prices do not fit its mechanism.", DAMAGED)
        if (np.diff(rows) <= 0).any():
            raise FileError("its prices name a row twice, or are out of order.", DAMAGED)
        secrets, partners, observables = np.unravel_index(rows, (n, n, m))
        guesses, worst = self._optional(entry, "guesses", 2), self._optional(entry, "worst", 1)
        multipliers = Multipliers(
            secrets, partners, observables, local, np.zeros(len(local)), guesses, worst, entry.number("loss_price")
        )
        distance = self._loss(entry, "distance") if entry.has("distance") else None
        max_loss = entry.number("max_loss") if entry.has("max_loss") else np.inf
        further = [
            self._array(Fields({"further": name}, entry.name), "further", np.float64, 2)
            for name in (entry.get("further", list) if entry.has("further") else ())
        ]
        limits, objective = self._optional(entry, "limits", 1), entry.get("objective", str)
        families = self._optional(entry, "families", 2)
        return Optimality(objective, multipliers, distance, max_loss, candidates, tuple(further), limits, families)

    def constraints(self) -> tuple[LinearConstraint, ...]:
        values = self.manifest.get("constraints", list) if self.manifest.has("constraints") else []
        if len(values) > MOST_CONSTRAINTS:
            raise FileError(f"it holds {len(values):,} linear constraints, more than {MOST_CONSTRAINTS}.", DAMAGED)
        return tuple(
            LinearConstraint(
                self._array(entry, "coefficients", np.float64, 2),
                entry.number("at_most"),
                unit=entry.get("unit", str),
                name=entry.get("name", str),
            )
            for entry in (Fields.of(value, "linear constraint") for value in values)
        )

    def _guarantee(self, entry: Fields, secrets: Space, *, trusted: bool) -> DesignGuarantee | TuplePrivacy:
        kind = entry.get("kind", str)
        if kind == "tuple":
            from ..mechanisms.tupling import TuplePrivacy

            return TuplePrivacy(entry.number("epsilon"), entry.number("delta"))
        if kind == "distortion":
            return DistortionPrivacy(entry.number("minimum"), self._loss(entry, "distance"))
        if kind == "true place":
            return self._true_place(entry)
        if kind == "family":
            return self._family(entry)
        if kind == "coordinates":
            return CoordinatePrivacy(entry.number("epsilon"), entry.get("unit", str))
        if kind in ("metric", "threshold"):
            metric = self._metric(entry, "metric", secrets, trusted=trusted)
            if kind == "metric":
                return MetricPrivacy(entry.number("epsilon"), metric)
            return ThresholdPrivacy(entry.number("epsilon"), metric, entry.number("within"))
        raise FileError(f"it holds a guarantee of the unknown kind {kind!r}.", DAMAGED)

    def _family(self, entry: Fields) -> FamilyPrivacy:
        """Return the distribution privacy of a family, by distances as the file states them."""
        from ..privacy import DistributionPrivacy, Family, FamilyDistance, MetricDistributionPrivacy

        names, rows = entry.get("names", list), self._array(entry, "distributions", np.float64, 2)
        pairs, count = self._array(entry, "pairs", np.int64, 2), len(rows)
        are_names = len(names) == len(set(map(str, names))) == count and all(type(name) is str for name in names)
        if not are_names or pairs.shape[1:] != (2,) or ((pairs < 0) | (pairs >= count)).any():
            raise FileError("its distributions, their names and their pairs do not fit each other.", DAMAGED)
        if len(pairs) > count * (count - 1) or len(pairs) * rows.shape[1] > MAX_ENTRIES:
            raise FileError(f"it holds {len(pairs):,} pairs of distributions, too many.", DAMAGED)
        ordered = [(names[first], names[second]) for first, second in pairs.tolist()]
        every = len(set(ordered)) == count * (count - 1)
        family = Family(dict(zip(names, rows, strict=True)), None if every else ordered)
        epsilon, delta = entry.number("epsilon"), entry.number("delta")
        if not entry.has("distances"):
            return FamilyPrivacy(epsilon, DistributionPrivacy(family, delta))
        source = entry.fields("distances")
        array, unit = self._array(source, "array", np.float64, 2), source.get("unit", str)
        distance = FamilyDistance(array, unit, name=source.get("name", str))
        return FamilyPrivacy(epsilon, MetricDistributionPrivacy(family, distance, delta))

    def _true_place(self, entry: Fields) -> PlaceDistortion:
        """Return the distortion of the true point: its distances are computed, not read."""
        places = self._space(entry, "places")
        if not isinstance(places, Places):
            raise FileError("its error of the true point is not about places.", DAMAGED)
        guesses = self._array(entry, "guesses", np.float64, 2)
        if len(guesses) * len(places) > MAX_ENTRIES:
            raise FileError(f"it holds {len(guesses):,} guesses, too many for {len(places):,} places.", DAMAGED)
        kind = entry.get("distance", str) if entry.has("distance") else "euclidean"
        if kind not in DISTANCES:
            raise FileError("its error of the true point is in an unknown distance.", DAMAGED)
        try:
            return PlaceDistortion.of_places(
                entry.number("minimum"),
                places,
                self._array(entry, "visited", np.float64, 2),
                self._array(entry, "times", np.int64, 1),
                guesses,
                entry.get("unit", str),
                kind,
            )
        except DataError as error:
            raise FileError(f"its places of visits cannot be used: {error.problem}", DAMAGED) from error

    def _space(self, entry: Fields, key: str) -> Space:
        return self._load("spaces", entry.get(key, int), self._spaces, self._built_space)

    def _metric(self, entry: Fields, key: str, secrets: Space, *, trusted: bool) -> Metric:
        place = entry.get(key, int)
        metric = self._load("metrics", place, self._metrics, self._built_metric)
        is_named = as_named(metric, secrets, secrets)  # refuses a file whose distances are not what it calls them
        if trusted or (is_named and follows(metric, secrets, secrets, secrets)):
            metric = self._metrics[place] = metric.trust()
        return metric

    def _loss(self, entry: Fields, key: str) -> Loss:
        return self._load("losses", entry.get(key, int), self._losses, self._built_loss)

    def _load(self, group: str, place: int, known: dict[int, _Part], build: Callable[[Fields], _Part]) -> _Part:
        if place not in known:
            entries = self.manifest.get(group, list)
            if not 0 <= place < len(entries):
                raise FileError(f"its manifest has no entry {place} among its {group}.", DAMAGED)
            known[place] = build(Fields.of(entries[place], f"entry {place} of {group}"))
        return known[place]

    def _built_space(self, entry: Fields) -> Space:
        kind = entry.get("kind", str)
        if kind == "bins":
            first, width, count = (entry.get(key, int) for key in ("first", "width", "count"))
            around = entry.get("period", int) if entry.has("period") else None
            return NumberBins(first, width, count, entry.get("unit", str), period=around)
        if kind in ("joint", "chosen"):
            return self._joint(entry) if kind == "joint" else self._chosen_places(entry)
        if kind != "labels":
            try:
                return places_from(entry.values)
            except (TypeError, ValueError, OverflowError) as error:
                problem = error.problem if isinstance(error, InputError) else str(error)
                raise FileError(f"its description of places is not valid: {problem}", DAMAGED) from error
        labels = [decoded_label(value) for value in entry.get("labels", list)]
        coordinates = self._optional(entry, "coordinates", 2)
        crs = entry.get("crs", str) if entry.has("crs") else None
        period = entry.number("period") if entry.has("period") else None
        return Space(labels, coordinates, entry.get("unit", str), crs, period)

    def _joint(self, entry: Fields) -> Space:
        names, places = entry.get("names", list), entry.get("parts", list)
        spaces = self.manifest.get("spaces", list)
        sound = len(names) == len(set(map(str, names))) == len(places) and all(type(name) is str for name in names)
        if not sound or not all(type(place) is int and 0 <= place < len(spaces) for place in places):
            raise FileError("its joint space does not name its columns.", DAMAGED)
        if any(Fields.of(spaces[place], "a column").get("kind", str) == "joint" for place in places):
            raise FileError("its joint space holds a joint space.", DAMAGED)
        parts = [self._load("spaces", place, self._spaces, self._built_space) for place in places]
        return JointSpace(dict(zip(names, parts, strict=True)))

    def _chosen_places(self, entry: Fields) -> Space:
        place, spaces = entry.get("places", int), self.manifest.get("spaces", list)
        if not 0 <= place < len(spaces) or Fields.of(spaces[place], "places").get("kind", str) == "chosen":
            raise FileError("its chosen places are not some of a grid, hexagons or a lattice.", DAMAGED)
        places, positions = self._space(entry, "places"), entry.get("chosen", list)
        if not isinstance(places, Places) or not all(type(position) is int for position in positions):
            raise FileError("its chosen places are not some of a grid, hexagons or a lattice.", DAMAGED)
        if not positions or not all(0 <= position < len(places) for position in positions):
            raise FileError("its chosen places do not exist.", DAMAGED)
        return ChosenPlaces(places, positions)

    def _built_loss(self, entry: Fields) -> Loss:
        array = self._array(entry, "array", np.float64, 2)
        unit, name = entry.get("unit", str), entry.get("name", str)
        distance = next((kind for kind in DISTANCES if name == f"{kind}{TRUE_POINT}"), "")
        return Loss(array, unit, name=name, true_point=distance)

    def _built_metric(self, entry: Fields) -> Metric:
        array, unit = self._array(entry, "array", np.float64, 2), entry.get("unit", str)
        name = entry.get("name", str)
        symmetric = entry.get("symmetric", bool) if entry.has("symmetric") else True
        if not entry.get("triangle", bool):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MetricWarning)  # it was given when the metric was made
                return Metric(array, unit, name=name, symmetric=symmetric, is_stated=True)
        _check_axioms(array, name, symmetric=symmetric)
        return Metric(array, unit, name=name, triangle=True, symmetric=symmetric, is_stated=True)

    def _optional(self, entry: Fields, key: str, dimensions: int) -> Floats | None:
        return self._array(entry, key, np.float64, dimensions) if entry.has(key) else None

    def _array(self, entry: Fields, key: str, dtype: type[np.generic], dimensions: int) -> NDArray[Any]:
        name = entry.get(key, str)
        if name not in self.arrays:
            raise FileError(f"its {entry.name} names a member {name!r} that is not there.", DAMAGED)
        array = self.arrays[name]
        if array.dtype != dtype or array.ndim != dimensions:
            raise FileError(
                f"its member {name!r} has {array.ndim} dimensions of {array.dtype}, but {dimensions} of "
                f"{np.dtype(dtype)} are needed.",
                DAMAGED,
            )
        return array


def _fraction(entry: Fields, key: str) -> Fraction:
    """Return a positive fraction of integers of limited length."""
    parts = entry.get(key, list)
    if len(parts) != 2 or not all(type(part) is int and 0 < part < _LONGEST for part in parts):
        raise FileError(f"its {entry.name} has an entry {key!r} that is not a fraction of whole numbers.", DAMAGED)
    return Fraction(*parts)


def _check_axioms(array: Floats, name: str, *, symmetric: bool) -> None:
    """Refuse an array that is no metric, with slack for great circles near 180 degrees, rounded coarsely."""
    n = len(array)
    sound = array.shape == (n, n) and not (array < 0).any() and not np.isnan(array).any()
    same = array if symmetric else array == 0  # without symmetry only distance zero counts both ways
    if not sound or np.diagonal(array).any() or not np.array_equal(same, same.T):
        raise FileError(f"the {name} in it is not a metric.", DAMAGED)
    slack = 1e-7 * float(array[np.isfinite(array)].max(initial=0.0))
    detour = np.empty_like(array)
    for k in range(n):
        with np.errstate(over="ignore"):  # a sum beyond all floats is longer than any distance
            np.add(array[:, k, None], array[None, k, :] + slack, out=detour)
        if (array > detour).any():
            raise FileError(
                f"the {name} in it breaks the triangle inequality, although the file says that it holds.", DAMAGED
            )


def read_mechanism_file(
    path: str | os.PathLike[str], *, trust_distances: bool = False, signed_by: str | os.PathLike[str] | None = None
) -> MechanismFile:
    """Return the content of a mechanism file of any kind.

    Nothing in the file is run or unpickled, and nothing is unpacked to disk; sizes are checked before memory is
    allocated, checksums before anything is used. Checksums detect accidents, not forgeries: anyone who can change
    the file can change them as well. A signature detects both.

    Distances that the secrets do not confirm are marked (`Metric.is_stated`), and a guarantee by them is refused
    where reports are drawn or charged, unless ``trust_distances`` leaves them unmarked. ``signed_by`` is the file
    of the public key by which the file has to be signed (`verify`). Raises `FileError` if the file does not exist;
    or it is not one of a mechanism, is cut off, damaged, inconsistent, written by a newer version or not signed by
    the key. Raises `MissingExtraError` if a signature is needed and cryptography is not installed (extra
    ``sign``).
    """
    try:
        contents = _Contents(*read_archive(path, signed_by))
        claims = contents.manifest.fields("claims").values
        if contents.manifest.has("noise"):
            noise, prior, source = contents.noise()
            return MechanismFile(noise, prior, claims=claims, source=source)
        mechanism = contents.mechanism(contents.manifest.fields("mechanism"))
        return MechanismFile(
            contents.tupling(mechanism) or mechanism,
            contents.prior(),
            contents.loss(),
            contents.guarantees(mechanism.secrets, trusted=trust_distances),
            claims,
            contents.optimality(mechanism.shape),
            contents.constraints(),
        )
    except FileError as error:
        raise FileError(f"{os.fspath(path)!r}: {error.problem}", error.hint) from error
    except InputError as error:
        raise FileError(
            f"{os.fspath(path)!r}: its content is inconsistent: {error.problem}",
            "the file is damaged or was made by another program: write it again with sfumato.",
        ) from error
    except RecursionError as error:
        raise FileError(f"{os.fspath(path)!r}: its content is nested too deeply.", DAMAGED) from error


def load(
    path: str | os.PathLike[str], *, trust_distances: bool = False, signed_by: str | os.PathLike[str] | None = None
) -> Randomizer:
    """Return the mechanism of a mechanism file: a `Mechanism`, a `Tupling` or a `CoordinateNoise`.

    Unless ``trust_distances``, a guarantee by distances that the secrets do not confirm, such as travel times, is
    refused where reports are drawn or charged. ``signed_by`` is the file of the public key by which the file has
    to be signed. `read_mechanism_file` returns the whole content, and lists the errors.
    """
    return read_mechanism_file(path, trust_distances=trust_distances, signed_by=signed_by).mechanism
