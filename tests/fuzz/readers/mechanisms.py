"""Mechanism files: containers whose checksums fit whatever is changed, and promises that are proved anew."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.files import MechanismFile, read_mechanism_file, save
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.proofs import (
    PlaceDistortion,
    VertexPrivacy,
    prove_constraint,
    prove_guarantees,
    prove_optimality,
    prove_planar_noise,
)
from sfumato.reports import summarise_file
from sfumato_papers.invented_city import invented_city
from tests.files.contents import plain_file, rich_file
from tests.files.forging import Members, forged, npy, opened
from tests.files.honest import KINDS, honest

from ..exact import keeps_metric_privacy, least_error, most_loss, weighted_sum
from ..extremes import extreme
from ..mutations import changed_array, changed_bytes, changed_json, times
from ..reader import Case, Reader

_LISTED = 4_000  # products of secrets and observables that are gone through in exact numbers


class _Containers(Reader):
    """Files of the container format."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.raw = [path.read_bytes() for path in self.honest()]
        self.parts = [opened(path) for path in sorted(folder.glob("*.sfm"))]

    def honest(self) -> list[Path]:
        """Write honest files, and return their paths."""
        raise NotImplementedError

    def case(self, rng: Random) -> Case:
        kind = rng.randrange(6)
        if kind == 0:
            return {"a.sfm": changed_bytes(rng, rng.choice(self.raw), self.raw)}
        if kind == 1:
            return self.extreme(rng, rng.randrange(len(self.parts)))
        data = self.changed(rng, *rng.choice(self.parts))
        return {"a.sfm": changed_bytes(rng, data, self.raw) if rng.randrange(20) == 0 else data}

    def extreme(self, rng: Random, number: int) -> Case:
        """Return one of the honest containers with numbers at the ends of the floats."""
        path = self.folder / "case.zip"
        forged(path, *extreme(rng, *self.parts[number]))
        return {"a.sfm": path.read_bytes()}

    def changed(self, rng: Random, manifest: dict[str, Any], members: Members) -> bytes:
        """Return a container with another manifest or other members, whose checksums fit."""
        found: Any = {key: value for key, value in manifest.items() if key not in ("sha256", "writer")}
        kind = rng.randrange(5)
        if kind > 2:
            found = changed_json(rng, found)
        if kind < 4:
            members = _changed_members(rng, members)
        if not isinstance(found, dict):
            found = {"format": found}
        path = self.folder / "case.zip"
        forged(path, found, members)
        return path.read_bytes()

    def parted(self, data: bytes) -> tuple[dict[str, Any], Members] | None:
        """Return the manifest and the members of a container, if it is one."""
        path = self.folder / "parted.zip"
        path.write_bytes(data)
        try:
            manifest, members = opened(path)
        except Exception:  # noqa: BLE001  whatever zipfile and json say of bytes that were changed
            return None
        return (manifest, members) if type(manifest) is dict else None

    def read(self, folder: Path) -> None:
        held = read_mechanism_file(folder / "a.sfm")
        save(held, folder / "b.sfm")
        again = read_mechanism_file(folder / "b.sfm")
        save(again, folder / "c.sfm")
        assert (folder / "b.sfm").read_bytes() == (folder / "c.sfm").read_bytes(), "saved again it is another file"
        if held.has_matrix:
            check_mechanism(held)
        else:
            check_noise(held)


class MechanismFiles(_Containers):
    """Files of mechanisms with a matrix, of every kind."""

    def honest(self) -> list[Path]:
        contents: dict[str, Any] = {name: honest(name) for name in KINDS}
        contents |= {"rich": rich_file(), "plain": plain_file(), "two words": plain_file(tiny=True)}
        bins = sf.NumberBins(0, 5, 4, "year")
        even = sf.Mechanism(np.full((4, 4), 0.25), bins)
        contents["bins"] = MechanismFile(even, guarantees=[sf.MetricPrivacy("0.1/year", bins.metric("absolute"))])
        lattice = sf.Lattice.covering("3 km x 2 km around 48.85,2.35", "1 km")
        flat = sf.Mechanism(np.full((len(lattice), len(lattice)), 1 / len(lattice)), lattice)
        contents["lattice"] = MechanismFile(
            flat, sf.Prior.uniform(lattice), guarantees=sf.CoordinatePrivacy("1/km")
        )
        visits = invented_city().select(np.arange(40))
        city = sf.Grid.covering(visits, "4 km", region=visits.region(trim=0.05))
        same = np.zeros((len(city), len(city)))
        same[:, 0] = 1.0
        asked = PlaceDistortion(0.5, city, visits)
        prior = sf.Prior.from_visits(city, visits)
        contents["true place"] = MechanismFile(sf.Mechanism(same, city, city), prior, city.loss(visits), asked)
        return _written(self.folder, contents)


class NoiseFiles(_Containers):
    """Files of noise for coordinates."""

    def honest(self) -> list[Path]:
        raw = CoordinateNoise("1/km", "2 m", Projection(48.86, 2.34), "30 km")
        places = np.random.default_rng(1).normal(size=(12, 2)) * 800
        noise = raw.for_places(places, np.ones(12), fineness=0.5)
        cells = sf.Grid.covering("4 km x 4 km around 48.86,2.34", cell="1 km")
        return _written(
            self.folder,
            {
                "raw": MechanismFile(raw),
                "table": MechanismFile(noise),
                "prior": MechanismFile(raw, sf.Prior.uniform(cells)),
                "full": MechanismFile(
                    noise, sf.Prior.uniform(cells), claims={"loss": 1.5}, source="12 visits of nobody"
                ),
            },
        )


def check_noise(held: MechanismFile) -> None:
    """Fail where noise was read whose promise is not proved, or whose reports leave the globe."""
    noise = held.noise
    proof = prove_planar_noise(noise.promise, noise.noise.rate, noise.step_m, noise.reach_m)
    assert held.noise_proof.holds == proof.holds
    assert proof.holds
    # Half a step is the least that snapping moves a point by: no promise without slack can be true.
    assert noise.promise.slack_m > 0
    x = noise.simulate(np.zeros((5, 2)), seed=1)
    assert np.isfinite(x).all()


def check_mechanism(held: MechanismFile) -> None:
    """Fail where a mechanism or a promise was read that exact numbers contradict."""
    mechanism, n = held.report_channel, len(held.report_channel.secrets)
    assert mechanism.weights.shape == (n, len(mechanism.observables)) == mechanism.shape
    rows = [[int(weight) for weight in row] for row in mechanism.weights.tolist()]
    assert all(weight >= 0 for row in rows for weight in row)
    assert all(sum(row) == 1 << mechanism.bits for row in rows)
    for space in (mechanism.secrets, mechanism.observables):
        assert len(set(space.labels)) == len(space.labels)
        assert space.coordinates is None or len(space.coordinates) == len(space)
    if held.prior is not None:
        assert held.prior.probabilities.shape == (n,)
        assert (held.prior.probabilities >= 0).all()
        assert abs(held.prior.probabilities.sum() - 1) < 1e-9
    if held.loss is not None:
        assert held.loss.array.shape == mechanism.shape
        assert np.isfinite(held.loss.array).all()
    prior = held.prior or sf.Prior.uniform(mechanism.secrets)
    epsilons, distortions = prove_guarantees(mechanism, prior, held.guarantees)
    markdown = summarise_file(held).markdown()
    assert "Traceback" not in markdown
    if n * n * len(mechanism.observables) > _LISTED:
        return
    metrics = [each for each in held.guarantees if isinstance(each, sf.MetricPrivacy)]
    for guarantee, proof in zip(metrics, epsilons, strict=True):
        if isinstance(guarantee, VertexPrivacy):  # of points between vertices, which cannot be gone through
            continue
        distances = guarantee.metric.array.tolist()
        if proof.holds:
            assert keeps_metric_privacy(rows, distances, guarantee.epsilon), f"{guarantee} is proved and not kept"
        assert proof.upper == np.inf or keeps_metric_privacy(rows, distances, proof.upper), "the bound is broken"
    shares = prior.probabilities.tolist()
    errors = [each for each in held.guarantees if isinstance(each, sf.DistortionPrivacy)]
    for asked, kept in zip(errors, (each for each in distortions), strict=False):
        if not isinstance(asked, PlaceDistortion):
            least = least_error(rows, shares, asked.distance.array.tolist())
            assert kept.lower <= least * (1 + 1e-12) + 1e-300, "the attacker errs less than was proved"
            assert not kept.holds or asked.minimum <= least * (1 + 1e-12)
    kept_all = all(each.holds for each in epsilons) and all(each.holds for each in distortions)
    for constraint in held.constraints:
        limit = prove_constraint(mechanism, constraint)
        exact = weighted_sum(rows, constraint.coefficients.tolist())
        assert exact <= limit.upper, "a sum is more than was proved"
        kept_all &= limit.holds
    if held.optimality is not None and held.loss is not None and held.prior is not None and kept_all:
        _check_optimality(held, rows, shares)


def _check_optimality(held: MechanismFile, rows: list[list[int]], shares: list[float]) -> None:
    """Weak duality: a bound for every mechanism with these promises holds for this one."""
    if held.loss is None or held.optimality is None or held.prior is None:
        return
    if held.optimality.objective == "expected":
        bound = prove_optimality(held.prior, held.loss, held.guarantees, held.optimality, held.constraints)
        loss = most_loss(rows, shares, held.loss.array.tolist())
        assert bound <= loss + abs(loss) * 1e-9 + 1e-12, f"nothing is said to be below {bound}, but this is {loss}"


def _changed_members(rng: Random, members: Members) -> Members:
    found = dict(members)
    for _ in times(rng):
        if not found:
            return found
        name = rng.choice(sorted(found))
        kind = rng.randrange(12)
        if kind == 0:
            del found[name]
        elif kind == 1:
            found[rng.choice(("x_0.npy", "weights_0.npy", "a/b.npy", name.replace("0", "1")))] = found[name]
        elif kind == 2:
            found[name] = changed_bytes(rng, found[name])
        elif kind == 3:
            head = found[name][:128]
            shape = rng.choice((b"(1, 1)", b"(0, 0)", b"(9999999999, 9)", b"(2,)", b"(100000, 1000)"))
            start = head.find(b"(")
            if start > 0:
                end = head.find(b")") + 1
                found[name] = found[name][:start] + shape.ljust(end - start) + found[name][end:]
        else:
            found[name] = _member(rng, found[name])
    return found


def _member(rng: Random, data: bytes) -> bytes:
    try:
        return npy(changed_array(rng, np.load(io.BytesIO(data))))
    except Exception:  # noqa: BLE001  whatever numpy says of an array that was changed before
        return changed_bytes(rng, data)


def _written(folder: Path, contents: dict[str, Any]) -> list[Path]:
    for name, content in contents.items():
        save(content, folder / f"{name}.sfm")
    return sorted(folder.glob("*.sfm"))
