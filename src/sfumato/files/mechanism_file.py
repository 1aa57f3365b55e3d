"""Content of a mechanism file: a mechanism of any kind, its design problem, and its writer's claims."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Self, cast, final

import numpy as np

from ..core import (
    AnyLoss,
    Capability,
    CoordinatePrivacy,
    DesignGuarantee,
    DistortionPrivacy,
    Guarantee,
    KindErrors,
    Loss,
    Mechanism,
    MetricPrivacy,
    Prior,
    Randomizer,
    Row,
    StatedGuarantee,
    as_guarantees,
    as_loss,
    check_known,
    units,
)
from ..core.arguments import wrong_kind
from ..core.immutable import Immutable, assign
from ..core.naming import check_unit
from ..errors import InputError, python
from ..escaping import plain
from ..proofs import LinearConstraint, Optimality, as_constraints, bound_to, check_optimality
from ..rounding import plural
from .archive import MOST_CONSTRAINTS, MOST_GUARANTEES
from .distance_sources import is_named, unconfirmed_claims

if TYPE_CHECKING:
    from ..geo import Visits
    from ..mechanisms.planar import CoordinateNoise
    from ..mechanisms.tupling import TuplePrivacy, Tupling
    from ..optimal import Design
    from ..proofs import NoiseProof

_LONGEST: Final = 300  # characters of a source
_CELLS: Final = 108  # of the prior of noise: 12 x 9 over 8 km x 6 km


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class MechanismFile(Immutable):
    """The content of one mechanism file (.sfm).

    The file of noise holds its recipe, so anyone with the file can draw. If there is a table, the file also shows
    the places that the table was made of, some of them exactly, and so does each report. Raises `InputError` if
    the mechanism is drawn by a recipe that a file does not hold; the prior, the loss, a guarantee or a constraint
    is for other secrets or observables, or for another kind of mechanism; distances have the name of others; a
    distortion guarantee comes without a prior; a unit is no short word; a length is below zero; the prices belong
    to another objective or do not fit; noise has no projection; the prior of noise is not on cells within its
    reach; the source is too long; or JSON cannot hold the claims.

    Args:
        mechanism: A `Mechanism`, a family that draws from the rows of one, a `Tupling`, or noise for coordinates
            with a projection.
        prior: The prior it was designed for: on the secrets, or for noise on cells within its reach.
        loss: The loss it was designed for; not for noise.
        guarantees: Its guarantees, one or several; by default those that the mechanism states, for noise the only
            choice. They are for one report, and hold for a tuple too, which is made from the report alone. A
            `TuplePrivacy` is for a tupling only.
        claims: Other claims of its writer, such as a certificate and the solver's log: text, finite numbers, lists
            and mappings, as JSON has them. Claims are not proofs: check one again on the integers before you rely
            on it.
        optimality: The prices that prove its gap to the optimum; not for noise.
        constraints: The linear constraints of its design, on the mechanism's own observables; not for noise.
        source: The owner of the places of the table and the prior of noise, in a few words; only for noise.

    Attributes:
        tuple_guarantees: The guarantees of a tuple.
        stated: The distances and losses that nothing here can confirm, in words: arrays of the writer's own. All
            others were built again from the secrets and observables by their names, and agree with them.
    """

    mechanism: Randomizer
    prior: Prior | None
    loss: Loss | None
    guarantees: tuple[Any, ...]
    tuple_guarantees: tuple[TuplePrivacy, ...]
    optimality: Optimality | None
    constraints: tuple[LinearConstraint, ...]
    claims: dict[str, Any]
    source: str
    stated: tuple[str, ...]
    _channel: Mechanism | None

    def __init__(
        self,
        mechanism: Randomizer,
        prior: Prior | None = None,
        loss: AnyLoss | None = None,
        guarantees: DesignGuarantee | TuplePrivacy | Iterable[DesignGuarantee | TuplePrivacy] | None = None,
        claims: Mapping[str, Any] | None = None,
        optimality: Optimality | None = None,
        constraints: LinearConstraint | Iterable[LinearConstraint] = (),
        source: str = "",
    ) -> None:
        check_known(mechanism)
        limits = as_constraints(constraints)
        costs, channel = None, None
        of_tuples: tuple[TuplePrivacy, ...] = ()
        unconfirmed: tuple[str, ...] = ()
        promises: tuple[DesignGuarantee, ...]
        matrix = _matrix_of(mechanism)
        if matrix is not None:
            single, of_tuples = _split_guarantees(matrix.guarantees if guarantees is None else guarantees)
            bound = bound_to(matrix.secrets, single)
            costs = None if loss is None else as_loss(loss, *matrix.shape)
            dummies = mechanism.supports(Capability.TUPLES)
            _check_matrix(matrix, prior, costs, bound, of_tuples, optimality, limits, source, dummies=dummies)
            unconfirmed = unconfirmed_claims(matrix, costs, bound, optimality, limits)
            channel = matrix.promising([promise for promise in bound if isinstance(promise, StatedGuarantee)])
            promises = bound
            if dummies:
                tupling = cast("Tupling", mechanism)
                mechanism = tupling.of_source(channel, tupling.dummies, tupling.source)
            else:
                mechanism = channel
        else:
            parts = {"loss": loss is not None, "optimality": optimality is not None, "constraints": bool(limits)}
            promises = _check_noise(mechanism, prior, guarantees, source, [name for name in parts if parts[name]])
        assign(self, mechanism=mechanism, tuple_guarantees=of_tuples, prior=prior, loss=costs, guarantees=promises)
        assign(
            self, optimality=optimality, constraints=limits, claims=_json_of(claims or {}), source=plain(source)
        )
        assign(self, stated=unconfirmed, _channel=channel)

    def __init_subclass__(cls) -> None:
        raise TypeError("MechanismFile has no subclasses, which could draw from another mechanism.")

    def __repr__(self) -> str:
        parts = [
            *(["a prior"] if self.prior is not None else []),
            *(["a loss"] if self.loss is not None else []),
            *(map(str, self.guarantees) if self.has_matrix else ()),
            *map(str, self.tuple_guarantees),
            *map(str, self.constraints),
            *(f"claimed {key}" for key in self.claims),
        ]
        return f"MechanismFile with a {self.mechanism!r}" + (f"; {', '.join(parts)}" if parts else "")

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        promises = (*self.guarantees, *self.tuple_guarantees) if self.has_matrix else None
        parts = (self.mechanism, self.prior, self.loss, promises, self.claims, self.optimality, self.constraints)
        return type(self), (*parts, self.source)

    @classmethod
    def of_design(
        cls,
        design: Design,
        claims: Mapping[str, Any] | None = None,
        *,
        visits: Visits | None = None,
        source: str = "",
    ) -> Self:
        """Return the content of the file of a design: its problem, its mechanism, and the prices that prove it.

        The claims are by default the certificate, the solver and the status of a program. Of ``visits`` that a
        table of noise was made of, the file gets a prior on about 100 cells over them; ``source`` is their origin,
        in a few words, by default their number. Raises `InputError` if it has more linear constraints than a file
        holds, or JSON cannot hold the claims.

        Example:
            >>> import sfumato as sf
            >>> answers = sf.Space(["yes", "no"])
            >>> same = sf.hamming(answers)
            >>> asked = sf.MetricPrivacy(1, same)
            >>> design = sf.design(sf.Prior.uniform(answers), loss=same, guarantees=asked)
            >>> sf.MechanismFile.of_design(design).guarantees == (asked,)
            True
        """
        from ..optimal import Design
        from ..proofs import as_dict

        if not isinstance(design, Design):
            raise wrong_kind("design", design, (Design,))
        if not design.has_program:
            noise = design.mechanism
            return cls(noise, claims=claims) if visits is None else cls.for_visits(noise, visits, source, claims)
        problem = design.problem
        if claims is None:
            certificate = as_dict(design.certificate)
            claims = {"certificate": certificate, "solver": design.solver, "status": design.status.name}
        parts = (problem.prior, design.loss, problem.guarantees, claims, design.optimality, problem.constraints)
        return cls(design.mechanism, *parts)

    @classmethod
    def for_visits(
        cls, noise: CoordinateNoise, visits: Visits, source: str = "", claims: Mapping[str, Any] | None = None
    ) -> Self:
        """Return the file of noise whose table was made of visits, with a prior on about 100 cells over them.

        Visits of less than two dimensions give no prior. ``source`` and ``claims`` are as for `of_design`.
        """
        from ..geo import Grid

        region = visits.region()
        cells = Grid.covering(visits, shape=region.shape_of(_CELLS)) if min(region.size_m) > 0 else None
        origin = source or f"{plural(len(visits), 'visit')} of one person"
        prior = None if cells is None else Prior.from_visits(cells, visits)
        return cls(noise, prior, claims=claims, source=origin)

    @property
    def has_matrix(self) -> bool:
        """Whether reports are drawn from the rows of a matrix, alone or among dummies."""
        return self._channel is not None

    @property
    def report_channel(self) -> Mechanism:
        """The matrix that draws one report, of a tupling the inner one; `InputError` for noise, which has none."""
        if self._channel is None:
            raise InputError(
                f"it holds a {self.mechanism!r}, which has no matrix.",
                "use the file of a design on cells or on a lattice.",
            )
        return self._channel

    @property
    def noise(self) -> CoordinateNoise:
        """The noise for coordinates; `InputError` if the file holds a matrix."""
        if self.has_matrix:
            raise InputError(f"it holds a {self.mechanism!r}, not noise for coordinates.", python("use sf.audit."))
        return cast("CoordinateNoise", self.mechanism)

    @property
    def tupling(self) -> Tupling | None:
        """The tupling, or None where a report is sent alone."""
        return cast("Tupling", self.mechanism) if self.mechanism.supports(Capability.TUPLES) else None

    @property
    def noise_proof(self) -> NoiseProof:
        """The proof of the guarantee of noise, from its recipe; `InputError` if the file holds a matrix."""
        from ..proofs import prove_planar_noise

        noise = self.noise
        return prove_planar_noise(noise.promise, noise.noise.rate, noise.step_m, noise.reach_m)

    @property
    def kind_guarantees(self) -> tuple[DistortionPrivacy, ...]:
        """The guarantees about an attacker who guesses the kind of a place."""
        errors = (promise for promise in self.guarantees if isinstance(promise, DistortionPrivacy))
        return tuple(promise for promise in errors if KindErrors.matches(promise.distance))

    @property
    def loss_is_stated(self) -> bool:
        """Whether the loss is a table of the writer's own, which nothing in the file confirms."""
        return self.loss is not None and not is_named(self.report_channel, self.loss, self.optimality)

    def with_map(self, errors: KindErrors) -> Self:
        """Return this file with its guarantees about guesses of the kind for a map of the caller's.

        ``errors`` are by this map. Prices that prove an optimum for another map are left out.
        """
        about, optimality = self.kind_guarantees, self.optimality
        priced = None if optimality is None else optimality.distance
        tables = [promise.distance for promise in about]
        if optimality is not None and priced is not None and KindErrors.matches(priced):
            tables.append(priced)
            optimality = replace(optimality, distance=errors)
        if not all(np.array_equal(table.array, errors.array) for table in tables):
            optimality = None
        promises = [
            DistortionPrivacy(promise.minimum, errors) if any(promise is other for other in about) else promise
            for promise in (*self.guarantees, *self.tuple_guarantees)
        ]
        parts = (self.mechanism, self.prior, self.loss, promises, self.claims, optimality, self.constraints)
        return type(self)(*parts)

    def alone(self) -> Self:
        """Return this file; `InputError` if its reports are sent among dummies, in tuples."""
        if self.tupling is not None:
            raise InputError(
                f"it holds a {self.tupling!r}, whose reports are tuples.",
                "use the file of the inner mechanism",
                python("take sf.load(path).inner."),
            )
        return self


def _matrix_of(mechanism: Randomizer) -> Mechanism | None:
    """Return the matrix that reports are drawn from; None for noise, `InputError` for other recipes."""
    if isinstance(mechanism, Mechanism):
        return mechanism
    if mechanism.supports(Capability.TUPLES):
        return cast("Tupling", mechanism).inner
    if mechanism.supports(Capability.POINTS):
        return None
    recipe = mechanism.recipe()
    if not isinstance(recipe, Row):
        raise InputError(
            f"reports of {mechanism!r} are drawn by a recipe that a mechanism file does not hold.",
            python("save its matrix, mechanism.channel(), if that is what will be drawn from."),
        )
    return recipe.mechanism


def _split_guarantees(
    guarantees: DesignGuarantee | TuplePrivacy | Iterable[DesignGuarantee | TuplePrivacy],
) -> tuple[tuple[DesignGuarantee, ...], tuple[TuplePrivacy, ...]]:
    """Return the guarantees of one report, and those of a tuple; `InputError` for anything else."""
    several = isinstance(guarantees, Iterable) and not isinstance(guarantees, str | Mapping)
    every: tuple[Any, ...] = tuple(cast("Iterable[Any]", guarantees)) if several else (guarantees,)
    single = tuple(guarantee for guarantee in every if isinstance(guarantee, DesignGuarantee))
    tuples = tuple(guarantee for guarantee in every if not isinstance(guarantee, DesignGuarantee))
    if tuples:
        from ..mechanisms.tupling import TuplePrivacy

        for guarantee in tuples:
            if not isinstance(guarantee, TuplePrivacy):
                kinds = (MetricPrivacy, DistortionPrivacy, CoordinatePrivacy, TuplePrivacy)
                raise wrong_kind("guarantees", guarantee, kinds, item=several)
    return single, tuples


def _check_matrix(
    mechanism: Mechanism,
    prior: Prior | None,
    loss: Loss | None,
    guarantees: Sequence[Guarantee],
    tuple_guarantees: Sequence[TuplePrivacy],
    optimality: Optimality | None,
    constraints: Sequence[LinearConstraint],
    source: str,
    *,
    dummies: bool,
) -> None:
    """Refuse parts that do not fit a matrix, or that of a tupling (``dummies``); each is an `InputError`."""
    count = len(guarantees) + len(tuple_guarantees)
    if count > MOST_GUARANTEES:
        raise InputError(f"{count:,} guarantees were given.", f"a mechanism file holds at most {MOST_GUARANTEES}.")
    if tuple_guarantees and not dummies:
        raise InputError(
            f"{tuple_guarantees[0]} was given, but the mechanism sends no dummies.",
            "pass a Tupling, or leave this guarantee out.",
        )
    if prior is not None and prior.space != mechanism.secrets:
        mechanism.secrets.check_order(prior.space, "the prior")
        raise InputError(
            f"the prior is on {prior.space!r}, the mechanism on {mechanism.secrets!r}.",
            "use a prior on the mechanism's secrets.",
        )
    for guarantee in guarantees:
        guarantee.check_secrets(mechanism.secrets)
        if isinstance(guarantee, DistortionPrivacy) and prior is None:
            raise InputError(
                f"the guarantee ({guarantee}) comes without a prior, and without one it means nothing.",
                "give the prior that the attacker's error is averaged over.",
            )
    if len(constraints) > MOST_CONSTRAINTS:
        raise InputError(
            f"{len(constraints):,} linear constraints were given.",
            f"a mechanism file holds at most {MOST_CONSTRAINTS}.",
        )
    for limit in constraints:
        limit.check_shape(*mechanism.shape)
    if optimality is not None:
        check_optimality(mechanism, prior, loss, guarantees, optimality, constraints)
    if source:
        raise InputError(
            f"a source was given with a {mechanism!r}, which has no table of places.", python("leave source= out.")
        )
    # In sentences a negative length, or a unit that is no short word, could be mistaken for something else.
    losses = [guarantee.distance for guarantee in guarantees if isinstance(guarantee, DistortionPrivacy)]
    losses += [] if optimality is None or optimality.candidates is None else [optimality.candidates.loss]
    losses += [cost for cost in (loss, None if optimality is None else optimality.distance) if cost is not None]
    metrics = [guarantee.distances for guarantee in guarantees if isinstance(guarantee, MetricPrivacy)]
    spaces = (mechanism.secrets.unit, mechanism.observables.unit)
    for unit in (*spaces, *(metric.unit for metric in losses), *(metric.unit for metric in metrics)):
        check_unit(unit)
    for cost in losses:
        if units.is_length(cost.unit) and (cost.array < 0).any():
            least = units.show(float(cost.array.min()), cost.unit)
            raise InputError(
                f"a distance or loss in {cost.unit} is {least}, and no length is below zero.",
                "leave its unit out, or use lengths of at least 0.",
            )


def _check_noise(
    noise: object,
    prior: Prior | None,
    guarantees: object,
    source: str,
    parts: Sequence[str],
) -> tuple[DesignGuarantee, ...]:
    """Return the guarantee of noise for coordinates; `InputError` for parts that do not fit, or need a matrix."""
    from ..geo import Cells
    from ..mechanisms.planar import CoordinateNoise

    if not isinstance(noise, CoordinateNoise):
        from ..mechanisms.tupling import Tupling

        raise wrong_kind("mechanism", noise, (Mechanism, Tupling, CoordinateNoise))
    if noise.projection is None:
        raise InputError(
            "a mechanism file holds noise for latitudes and longitudes, but this is for points of a plane.",
            python("pass a Projection when you make it, or use CoordinateNoise.for_visits."),
        )
    if parts:
        raise InputError(
            f"{parts[0]}= was given with a {noise!r}, which has no matrix.", python(f"leave {parts[0]}= out.")
        )
    promise = noise.promise
    every = (promise, *([promise] if guarantees is None else as_guarantees(guarantees)))
    numbers = [[getattr(guarantee, name, None) for name in ("epsilon", "unit", "slack_m")] for guarantee in every]
    if numbers[1:] != numbers[:1]:
        raise InputError(
            f"guarantees were given with a {noise!r}, whose guarantee follows from its recipe.",
            python("leave guarantees= out."),
        )
    if len(source) > _LONGEST:
        raise InputError(f"the source has {len(source):,} characters.", f"use at most {_LONGEST}.")
    if prior is not None:
        if not isinstance(prior.space, Cells):
            raise InputError(
                f"the prior is on {prior.space!r}, which are not cells on the ground.",
                "use one on a Grid or Hexagons.",
            )
        if not noise.serves(*prior.space.latlon.T).all():
            raise InputError(
                f"a cell of the prior is farther than {noise.reach_m / 1000:,.6g} km from the centre.",
                "use cells that the noise serves.",
            )
    return (promise,)


def _json_of(claims: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims as JSON reads them back; `InputError` if it cannot hold them."""
    try:
        again: dict[str, Any] = json.loads(json.dumps(dict(claims), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"JSON cannot hold the claims ({error}).",
            "use texts, finite numbers, true, false, None, lists and mappings.",
        ) from None
    return again
