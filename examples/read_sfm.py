"""Read a mechanism file (.sfm) with Python's standard library alone: print what it holds, prove it, and draw.

    python examples/read_sfm.py city.sfm
    python examples/read_sfm.py city.sfm --secret 3

The format is described in docs/reference/sfm-format.md. Epsilon is proved from the file's integers by exact
arithmetic, and the stated guarantee is not used. Its distances are not compared with the places.
"""

import argparse
import hashlib
import json
import math
import re
import secrets
import struct
import sys
import zipfile
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, product
from pathlib import Path
from typing import Any, NamedTuple

MANIFEST, MOST = "manifest.json", 1 << 27  # and the most numbers in a member
MEMBER = re.compile(r"[a-z]{1,40}(_[0-9]{1,4})?\.npy")
HEADER = re.compile(
    rb"\{'descr': '<(i8|u8|f8)', 'fortran_order': False, 'shape': \((\d{1,10}),(?: (\d{1,10}))?\), \} *\n"
)
UNIT = re.compile(r"(?:[^\W\d_%‰°€$£¥][\w%‰°²³€$£¥/^·-]{0,15}|[%‰°€$£¥])?")
ONE = 1 << 320  # exponentials are counted in fractions of it
POLAR_AXIS_M = Fraction("6356752.3")  # of the Earth, rounded down


class FormatError(ValueError):
    """The file is not as the format wants it."""


class Array(NamedTuple):
    """The numbers of a member row by row; their kind is ``i8``, ``u8`` or ``f8``."""

    kind: str
    shape: tuple[int, ...]
    numbers: tuple[Any, ...]

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows of a matrix."""
        n, m = self.shape
        return [self.numbers[m * row : m * (row + 1)] for row in range(n)]


class Sfm:
    """The content of a mechanism file.

    Attributes:
        manifest, arrays: The manifest, and the members by name.
        prior: The prior, or None.
        noise: The recipe of noise for coordinates, or None; all that follows is of files with a matrix.
        secrets, observables: The labels of secrets and reports.
        weights: A row of integers for each secret; divided by its sum it is the distribution of the report.
        dummies: The integers from which dummies are drawn, or None.
        loss: The loss of each secret and report, or None.
        guarantees: What is promised; promises of metric privacy with their distances.
        constraints: The linear constraints, each with its coefficients, row by row.
    """

    def __init__(self, path: Path) -> None:
        try:
            self.manifest, self.arrays = opened(path)
            self.noise, self.prior = self.manifest.get("noise"), self._prior(self.manifest.get("prior"))
            if self.noise is None:
                self._read_matrix()
            else:
                need(noise_epsilon(self.noise) > 0 < self.noise["epsilon_per_km"], "its noise has no rate")
                table = self.noise.get("table")
                if table is not None:
                    self._array(table["frames"], "i8", 2)
                    self._floats(table["targets"], 2)
        except FormatError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise FormatError(f"its manifest is not as it should be: {error!r}") from error

    def _read_matrix(self) -> None:
        entry, tupling = self.manifest["mechanism"], self.manifest.get("tupling")
        self.secrets, self.observables = self.labels(entry["secrets"]), self.labels(entry["observables"])
        self.weights = self._weights(entry)
        self.dummies = None if tupling is None else self._weights(tupling["source"])[0]
        need(tupling is None or 0 <= whole(tupling["dummies"]) <= 1 << 31, "there are too many dummies")
        loss = self.manifest.get("loss")
        self.loss = None if loss is None else self._floats(self._entry("losses", loss)["array"], 2).rows
        shape = (len(self.secrets), len(self.observables))
        need(self.loss is None or (len(self.loss), len(self.loss[0])) == shape, "the loss does not fit")
        need(isinstance(self.manifest["guarantees"], list), "the promises are not a list")
        self.guarantees = [self._guarantee(each) for each in self.manifest["guarantees"]]
        limits = self.manifest.get("constraints")
        limits = [] if limits is None else limits
        need(isinstance(limits, list) and len(limits) <= 500, "the linear constraints are no list, or too many")
        self.constraints = [self._constraint(each, shape) for each in limits]

    def _entry(self, group: str, place: int) -> dict[str, Any]:
        entries: list[dict[str, Any]] = self.manifest[group]
        need(0 <= whole(place) < len(entries), f"there is no entry {place!r} among its {group}")
        return entries[place]

    def _array(self, name: str, kind: str, dimensions: int) -> Array:
        need(name in self.arrays, f"the member {name!r} is missing")
        found = self.arrays[name]
        fits = (found.kind, len(found.shape)) == (kind, dimensions)
        need(fits, f"{name} is not an array of {dimensions} x {kind}")
        return found

    def _floats(self, name: str, dimensions: int, *, infinite: bool = False) -> Array:
        found = self._array(name, "f8", dimensions)
        need(all(math.isfinite(x) or (infinite and x == math.inf) for x in found.numbers), f"{name} is not finite")
        return found

    def _weights(self, entry: dict[str, Any]) -> list[tuple[int, ...]]:
        bits = entry["bits"]
        need(whole(bits) in (62, 126), f"weights of {bits!r} bits are unknown")
        if bits == 62:
            rows = self._array(entry["weights"], "i8", 2).rows
        else:
            high, low = self._array(entry["high"], "u8", 2), self._array(entry["low"], "u8", 2)
            need(high.shape == low.shape, "the halves of the weights differ in shape")
            both = (upper << 64 | lower for upper, lower in zip(high.numbers, low.numbers, strict=True))
            rows = Array("", high.shape, tuple(both)).rows
        shape = (len(self.labels(entry["secrets"])), len(self.labels(entry["observables"])))
        need((len(rows), len(rows[0])) == shape, "there are not as many labels as weights")
        need(all(min(row) >= 0 for row in rows), "a weight is negative")
        need(all(sum(row) == 1 << bits for row in rows), f"a row does not sum to 2**{bits}")
        return rows

    def _prior(self, entry: dict[str, Any] | None) -> tuple[float, ...] | None:
        if entry is None:
            return None
        found: tuple[float, ...] = self._floats(entry["probabilities"], 1).numbers
        need(len(found) == len(self.labels(entry["space"])), "the prior is for other secrets")
        need(min(found) >= 0 and abs(math.fsum(found) - 1) <= 1e-9, "the prior is no distribution")
        return found

    def _guarantee(self, entry: dict[str, Any]) -> dict[str, Any]:
        if entry["kind"] not in ("metric", "threshold"):
            need(entry["kind"] in ("coordinates", "distortion", "true place", "tuple"), "a promise is unknown")
            return entry
        need(entry["epsilon"] > 0, "an epsilon is not above 0")
        metric, n = self._entry("metrics", entry["metric"]), len(self.secrets)
        need(UNIT.fullmatch(metric["unit"]) is not None, "a unit is no short word")
        array = self._floats(metric["array"], 2, infinite=True)
        d = array.rows
        need(array.shape == (n, n) and all(d[s][s] == 0 for s in range(n)), "the distances do not fit")
        need(all(d[s][t] == d[t][s] >= 0 for s in range(n) for t in range(n)), "the distances are not symmetric")
        found = {**entry, "unit": metric["unit"], "distances": d, "steps": d}
        if entry["kind"] == "threshold":  # near secrets are one step apart
            near = entry["within"] * (1 + 1e-12)
            apart = [[float(s != t) if d[s][t] <= near else math.inf for t in range(n)] for s in range(n)]
            found.update(unit="step", steps=apart)
        return found

    def _constraint(self, entry: dict[str, Any], shape: tuple[int, int]) -> dict[str, Any]:
        found = self._floats(entry["coefficients"], 2)
        need(found.shape == shape, "a linear constraint does not fit")
        need(type(entry["at_most"]) in (int, float), "a limit is no number")
        need(UNIT.fullmatch(entry["unit"]) is not None, "a unit is no short word")
        need(isinstance(entry["name"], str), "a linear constraint has no name")
        return {**entry, "coefficients": found.rows}

    def labels(self, place: int) -> list[Any]:
        """Return the labels of a space."""
        space = self._entry("spaces", place)
        match space["kind"]:
            case "labels":
                found = [label(value) for value in space["labels"]]
            case "bins":
                width = space["width"]
                need(width > 0 and 0 < space["count"] <= 10_000, "there are too many bins, or none")
                starts = [space["first"] + width * number for number in range(space["count"])]
                found = [str(first) if width == 1 else f"{first}-{first + width - 1}" for first in starts]
            case "grid":
                digits, most = len(str(max(space["columns"], space["rows"]) - 1)), space["columns"] * space["rows"]
                need(2 <= most <= 10_000, "the grid has too many cells, or too few")
                cells = product(range(space["rows"]), range(space["columns"]))
                found = [f"c{column:0{max(2, digits)}}r{row:0{max(2, digits)}}" for row, column in cells]
            case "hexagons":
                found = list(space["cells"])
            case "lattice":
                need(sum(last - first + 1 for _, first, last in space["runs"]) <= 10_000, "too many vertices")
                xy = [(a, b) for b, first, last in space["runs"] for a in range(first, last + 1)]
                west, south = min(a for a, _ in xy), min(b for _, b in xy)
                digits = max(2, len(str(max(max(a - west, b - south) for a, b in xy))))
                found = [f"x{a - west:0{digits}}y{b - south:0{digits}}" for a, b in xy]
            case "joint":
                parts = [self.labels(part) for part in space["parts"]]
                need(math.prod(map(len, parts)) <= 10_000, "there are too many combinations")
                found = list(product(*parts))
            case "chosen":
                every, chosen = self.labels(space["places"]), space["chosen"]
                need(min(chosen) >= 0 and chosen == sorted(chosen), "its chosen places are not ascending")
                found = [every[position] for position in chosen]
            case kind:
                raise FormatError(f"a space of the kind {kind!r} is unknown")
        need(0 < len(found) == len(set(found)), "a label occurs twice, or there is none")
        return found


def opened(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the manifest and the arrays, every size, name and checksum verified."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            sizes = {info.filename: info.file_size for info in infos}
            need(len(sizes) == len(infos) <= 1000, "a member occurs twice, or there are too many")
            for info in infos:
                stored = info.compress_type == 0 and info.compress_size == info.file_size
                need(stored and not info.flag_bits & 1, f"{info.filename!r} is compressed or encrypted")
            need(sum(sizes.values()) <= path.stat().st_size, "its members claim more bytes than the file has")
            need(0 < sizes.pop(MANIFEST, 0) <= 1 << 24, "there is no manifest, or it is too large")
            manifest = json.loads(
                archive.read(MANIFEST).decode("ascii"),
                object_pairs_hook=distinct,
                parse_constant=finite,
                parse_float=finite,
            )
            need(manifest["format"] == "sfumato mechanism", f"it is a {manifest['format']!r} file")
            version = manifest["version"]
            need(whole(version) == 1, f"this reads version 1, but it has version {version!r}")
            need(manifest["sha256"].keys() == sizes.keys(), "the checksums are not those of its members")
            arrays = {}
            for name, wanted in manifest["sha256"].items():
                need(MEMBER.fullmatch(name) is not None, f"{name!r} is not the name of a member")
                data = archive.read(name)
                need(hashlib.sha256(data).hexdigest() == wanted, f"the checksum of {name} does not fit")
                arrays[name] = unpacked(data, name)
            return manifest, arrays
    except FormatError:
        raise
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, struct.error, ValueError) as error:
        raise FormatError(f"it cannot be read: {error}") from error


def unpacked(data: bytes, name: str) -> Array:
    """Return the array of a member."""
    start = 10 + int.from_bytes(data[8:10], "little")
    header = HEADER.fullmatch(data[10:start])
    if data[:8] != b"\x93NUMPY\x01\x00" or header is None:
        raise FormatError(f"{name} is not an array of 64-bit numbers")
    kind, shape = header[1].decode(), tuple(int(size) for size in header.groups()[1:] if size is not None)
    count = math.prod(shape)
    need(count <= MOST and len(data) - start == 8 * count, f"{name} has not as many numbers as it says")
    code = {"i8": "q", "u8": "Q", "f8": "d"}[kind]
    return Array(kind, shape, struct.unpack(f"<{count}{code}", data[start:]))


def need(condition: bool, why: str) -> None:
    """Refuse what does not meet a condition."""
    if not condition:
        raise FormatError(why)


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, whose names must differ."""
    need(len(dict(pairs)) == len(pairs), "the manifest names an entry twice")
    return dict(pairs)


def whole(value: Any) -> int:
    """Return a whole number of JSON, which 1.0 and true are not."""
    if type(value) is not int:
        raise FormatError(f"{value!r} is not a whole number")
    return value


def finite(text: str) -> float:
    """Return a number of JSON, where Python takes NaN, Infinity and 1e999 for numbers, too."""
    need(math.isfinite(float(text)), f"the manifest holds {text[:20]}, which is no finite number")
    return float(text)


def label(value: Any) -> Any:
    """Return the label that a value of JSON stands for."""
    if not isinstance(value, dict | list):
        return value
    ((tag, content),) = value.items() if isinstance(value, dict) else [("", value)]
    if tag == "float" and content in ("inf", "-inf", "nan"):
        return float(content)
    need(tag in ("tuple", "set") and isinstance(content, list), "a label is of an unknown kind")
    parts = [label(part) for part in content]
    return tuple(parts) if tag == "tuple" else frozenset(parts)


def worst_ratio(row: Sequence[int], other: Sequence[int]) -> Fraction | None:
    """Return the largest p(o|s) / p(o|s') over all reports o; None where it is infinite."""
    a, b = 0, 1
    for here, there in zip(row, other, strict=True):
        if there == 0 < here:
            return None
        if here * b > a * there:
            a, b = here, there
    return Fraction(a, b)


def exp_below(x: Fraction) -> Fraction:
    """Return a number just below e**x: part of its series, with everything rounded down; x is at least 0.

    Beyond 100 it is e**100, which is more than any ratio of weights.
    """
    x = min(x, Fraction(100))
    halvings = math.ceil(x).bit_length()
    y = math.floor(x / 2**halvings * ONE)
    total = term = ONE
    for k in range(1, 80):
        term = term * y // (k * ONE)
        total += term
    for _ in range(halvings):
        total = total * total // ONE
    return Fraction(total, ONE)


def epsilon_above(
    rows: Sequence[Sequence[int]], distances: Sequence[Sequence[float]], promised: float = 1.0
) -> float:
    """Return a proved bound of the least epsilon with p(o|s) <= e**(epsilon d(s, s')) p(o|s') for all s, s' and o.

    It is a little more than the least, or what is promised where that is proved and less.
    """
    n, found = len(rows), []
    for s, t in product(range(n), range(n)):
        if distances[s][t] < math.inf:
            ratio, d = worst_ratio(rows[s], rows[t]), Fraction(distances[s][t])
            if ratio is None or (d == 0 and ratio > 1):
                return math.inf
            found.append((ratio, d))
    least = max((math.log1p(float(ratio - 1)) / float(d) for ratio, d in found if d > 0), default=0.0)
    for bound in sorted((promised, *(least * (1 + margin) for margin in (1e-15, 1e-14, 1e-12, 1e-9)))):
        if all(ratio <= exp_below(Fraction(bound) * d) for ratio, d in found):
            return bound
    return math.inf


def weighted_sum(rows: Sequence[Sequence[int]], coefficients: Sequence[Sequence[float]]) -> Fraction:
    """Return the sum over s and o of A(s, o) p(o|s), exactly."""
    terms = (
        Fraction(a) * w
        for row, factors in zip(rows, coefficients, strict=True)
        for w, a in zip(row, factors, strict=True)
    )
    return sum(terms, start=Fraction(0)) / sum(rows[0])


def no_less(x: Fraction) -> float:
    """Return the least float that is no less."""
    try:
        found = float(x)
    except OverflowError:
        return math.inf if x > 0 else -sys.float_info.max
    return found if Fraction(found) >= x else math.nextafter(found, math.inf)


def noise_epsilon(noise: dict[str, Any]) -> Fraction:
    """Return a bound of epsilon per kilometre on the ground of noise of probability exp(-rate |z|) in steps z."""
    rate, step = Fraction(*noise["rate"]), Fraction(*noise["step_m"])
    c = Fraction(noise["reach_m"]) * (1 + Fraction(1e-12)) / POLAR_AXIS_M
    need(0 < c < 1, "its reach is not above 0, or too far")
    terms = ((-1) ** k * c ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(8))
    sine = sum(terms, start=Fraction(0))  # less than the sine, as the last term has a minus
    return 1000 * rate / step * c / sine


def drawn(row: Sequence[int]) -> int:
    """Return the position of one report, each of exactly the probability of its integer."""
    word = secrets.randbelow(sum(row))
    return next(position for position, end in enumerate(accumulate(row)) if word < end)


def described(sfm: Sfm, secret: int) -> list[str]:
    """Return in lines what a file holds, what is proved of it, and a report."""
    if sfm.noise is not None:
        above, promised = noise_epsilon(sfm.noise), sfm.noise["epsilon_per_km"]
        proof = "proved" if above <= Fraction(promised) else "NOT PROVED"
        return [
            f"noise for coordinates on a lattice of {Fraction(*sfm.noise['step_m'])} m",
            f"promised: epsilon {promised!r}/km; {proof}: at most about {float(above)!r}/km",
        ]
    n, m = len(sfm.secrets), len(sfm.observables)
    lines = [f"{n} secrets: {shown(sfm.secrets)}", f"{m} reports: {shown(sfm.observables)}"]
    apart = [[float(s != t) for t in range(n)] for s in range(n)]
    lines.append(f"proved: epsilon at most {epsilon_above(sfm.weights, apart)!r} between any two secrets")
    for each in sfm.guarantees:
        if "distances" not in each:
            lines.append(f"promised, not checked here: {each['kind']}")
            continue
        bound = epsilon_above(sfm.weights, each["steps"], each["epsilon"])
        proof = "proved" if bound <= each["epsilon"] else "NOT PROVED"
        lines.append(
            f"promised: epsilon {each['epsilon']!r} per {each['unit'] or 'unit'}; {proof}: at most {bound!r}"
        )
    for each in sfm.constraints:
        found, most = weighted_sum(sfm.weights, each["coefficients"]), each["at_most"]
        proof = "proved" if found <= Fraction(most) else "NOT PROVED"
        limit = f"linear constraint: at most {most!r} {each['unit']}".rstrip()
        lines.append(f"{limit}; {proof}: {no_less(found)!r}")
    report = [drawn(sfm.weights[secret])]
    if sfm.dummies is not None:
        report += [drawn(sfm.dummies) for _ in range(sfm.manifest["tupling"]["dummies"])]
        secrets.SystemRandom().shuffle(report)
    return [*lines, f"a report for {sfm.secrets[secret]!r}: {shown([sfm.observables[each] for each in report])}"]


def shown(labels: Sequence[Any]) -> str:
    """Return some labels as text."""
    return ", ".join(map(repr, labels[:5])) + (", ..." if len(labels) > 5 else "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Read a file from the command line."""
    parser = argparse.ArgumentParser(description="Read a mechanism file with the standard library alone.")
    parser.add_argument("path", type=Path, help="the mechanism file (.sfm)")
    parser.add_argument("--secret", type=int, default=0, help="the position of the secret to draw a report for")
    given = parser.parse_args(arguments)
    try:
        sfm = Sfm(given.path)
        need(sfm.noise is not None or 0 <= given.secret < len(sfm.secrets), "there is no such secret")
        sys.stdout.write("\n".join(described(sfm, given.secret)) + "\n")
    except FormatError as error:
        sys.stderr.write(f"{given.path}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
