"""The mechanism file: a mechanism, what it was designed for, and what is claimed of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from ..core import DistortionPrivacy, Guarantee, Loss, Mechanism, MetricPrivacy, Prior
from ..core.arguments import checked, wrong_kind
from ..core.guarantees import Asked, as_guarantees
from ..core.loss import AnyLoss, as_loss
from ..core.randomizer import check_known
from ..errors import FileError, InputError, python
from ..evidence import LinearConstraint, Optimality, as_dict, bound_to, check_optimality
from ..evidence.constraints import as_constraints
from ..mechanisms.tupling import TuplePrivacy, Tupling
from .archive import read_archive
from .claims import json_of
from .decoding import MOST_CONSTRAINTS, MOST_GUARANTEES, Contents
from .manifest import DAMAGED
from .sound import check_sound
from .stated import UNCONFIRMED_LOSS, stated

if TYPE_CHECKING:
    from ..mechanisms.planar import CoordinateNoise
    from ..optimal import Design
    from .noise_file import NoiseFile


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MechanismFile:
    """The content of one mechanism file (.sfm).

    Args:
        mechanism: The mechanism, or a `Tupling` of one.
        prior: The prior it was designed for.
        loss: The loss it was designed for.
        guarantees: What it promises, one or several; by default what the mechanism says of
            itself. A `TuplePrivacy` is for a tupling only.
        claims: What else its writer says about it.
        optimality: The prices that prove how near to optimal it is.
        constraints: The linear constraints that it was designed to keep besides.

    Attributes:
        mechanism: The mechanism: its integers, secrets and observables; of a tupling the
            inner one, which draws the true report.
        tupling: The tupling, or None where a report is sent alone.
        prior: The prior it was designed for, or None.
        loss: The loss it was designed for, or None.
        guarantees: The guarantees that one report was designed to give. They hold for a tuple
            too, which is made from the report alone.
        tuple_guarantees: What is promised of a tuple.
        optimality: The prices that prove how near to optimal it is, or None; they need
            the prior and the loss.
        constraints: The linear constraints that it was designed to keep besides, on the
            mechanism's own observables.
        claims: What else its writer says about it, such as a certificate and the solver's
            log: text, finite numbers, lists and mappings, as JSON has them. Claims are
            not proofs: check one again on the integers before you rely on it.
        stated: The distances and losses that nothing here can confirm, in words: arrays
            of the writer's own. All others were built again from the secrets and
            observables by their names, and agree with them.

    Raises:
        InputError: If the prior, the loss, a guarantee or a constraint is for other secrets or
            observables; distances have the name of others; a distortion guarantee comes
            without a prior; a unit is no short word; a length is below zero; the prices
            belong to another objective or do not fit; or JSON cannot hold the claims.
    """

    mechanism: Mechanism
    tupling: Tupling | None
    prior: Prior | None
    loss: Loss | None
    guarantees: tuple[Guarantee, ...]
    tuple_guarantees: tuple[TuplePrivacy, ...]
    optimality: Optimality | None
    constraints: tuple[LinearConstraint, ...]
    claims: dict[str, Any]
    stated: tuple[str, ...]

    @checked
    def __init__(
        self,
        mechanism: Mechanism | Tupling,
        prior: Prior | None = None,
        loss: AnyLoss | None = None,
        guarantees: Asked | TuplePrivacy | Iterable[Asked | TuplePrivacy] | None = None,
        claims: Mapping[str, Any] | None = None,
        optimality: Optimality | None = None,
        constraints: LinearConstraint | Iterable[LinearConstraint] = (),
    ) -> None:
        check_known(mechanism)
        tupling = mechanism if isinstance(mechanism, Tupling) else None
        mechanism = mechanism.inner if isinstance(mechanism, Tupling) else mechanism
        single, of_tuples = _sorted(mechanism.guarantees if guarantees is None else guarantees)
        promised = bound_to(mechanism.secrets, single)
        if len(promised) + len(of_tuples) > MOST_GUARANTEES:
            raise InputError(
                f"{len(promised) + len(of_tuples):,} guarantees were given.",
                f"a mechanism file holds at most {MOST_GUARANTEES}.",
            )
        if of_tuples and tupling is None:
            raise InputError(
                f"{of_tuples[0]} was promised, but the mechanism sends no dummies.",
                "pass a Tupling, or leave this guarantee out.",
            )
        if prior is not None and prior.space != mechanism.secrets:
            mechanism.secrets.check_order(prior.space, "the prior")
            raise InputError(
                f"the prior is on {prior.space!r}, the mechanism on {mechanism.secrets!r}.",
                "use a prior on the mechanism's secrets.",
            )
        for guarantee in promised:
            guarantee.check_secrets(mechanism.secrets)
            if isinstance(guarantee, DistortionPrivacy) and prior is None:
                raise InputError(
                    f"the guarantee ({guarantee}) comes without a prior, and without one it means nothing.",
                    "give the prior that the attacker's error is averaged over.",
                )
        costs = None if loss is None else as_loss(loss, *mechanism.shape)
        limits = as_constraints(constraints)
        if len(limits) > MOST_CONSTRAINTS:
            raise InputError(
                f"{len(limits):,} linear constraints were given.",
                f"a mechanism file holds at most {MOST_CONSTRAINTS}.",
            )
        for limit in limits:
            limit.check_shape(*mechanism.shape)
        if optimality is not None:
            check_optimality(mechanism, prior, costs, promised, optimality, limits)
        check_sound(mechanism, costs, promised, optimality)
        metric = [each for each in promised if isinstance(each, MetricPrivacy)]
        object.__setattr__(self, "mechanism", mechanism.promising(metric))
        object.__setattr__(self, "tupling", tupling)
        object.__setattr__(self, "tuple_guarantees", of_tuples)
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "loss", costs)
        object.__setattr__(self, "guarantees", promised)
        object.__setattr__(self, "optimality", optimality)
        object.__setattr__(self, "constraints", limits)
        object.__setattr__(self, "claims", json_of(claims or {}))
        object.__setattr__(self, "stated", stated(mechanism, costs, promised, optimality, limits))

    def __repr__(self) -> str:
        held = [
            *(["a prior"] if self.prior is not None else []),
            *(["a loss"] if self.loss is not None else []),
            *map(str, self.guarantees),
            *map(str, self.tuple_guarantees),
            *map(str, self.constraints),
            *(f"claimed {key}" for key in self.claims),
        ]
        drawn = self.tupling or self.mechanism
        return f"MechanismFile with a {drawn!r}" + (f"; {', '.join(held)}" if held else "")

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        promised = (*self.guarantees, *self.tuple_guarantees)
        drawn = self.tupling or self.mechanism
        held = (drawn, self.prior, self.loss, promised, self.claims, self.optimality, self.constraints)
        return type(self), held

    @classmethod
    @checked
    def of_design(cls, design: Design, claims: Mapping[str, Any] | None = None) -> Self:
        """Return the content of the file of a design: what was asked, its mechanism, and the prices that prove it.

        Args:
            design: The design.
            claims: What else its writer says about it; by default the certificate, the solver and the status.

        Raises:
            InputError: If it has more linear constraints than a file holds, or JSON cannot hold the claims.

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

        if not isinstance(design, Design):
            raise wrong_kind("design", design, (Design,))
        asked = design.problem
        if claims is None:
            proved = as_dict(design.certificate)
            claims = {"certificate": proved, "solver": design.solver, "status": design.status.name}
        return cls(
            design.mechanism,
            asked.prior,
            design.loss,
            asked.guarantees,
            claims,
            design.optimality,
            asked.constraints,
        )

    @property
    def loss_is_stated(self) -> bool:
        """Whether the loss is a table of the writer's own, which nothing in the file confirms."""
        return any(note.startswith(UNCONFIRMED_LOSS) for note in self.stated)

    def alone(self) -> Self:
        """Return this very file, or refuse if its reports are sent among dummies.

        Raises:
            InputError: If it holds a tupling, whose reports are tuples.
        """
        if self.tupling is not None:
            raise InputError(
                f"it holds a {self.tupling!r}, whose reports are tuples.",
                "use the file of the inner mechanism",
                python("take sf.files.load_tupling(path).inner."),
            )
        return self


@checked
def read_any(
    path: str | os.PathLike[str], *, trust_distances: bool = False, signed_by: str | os.PathLike[str] | None = None
) -> MechanismFile | NoiseFile:
    """Return all that a mechanism file holds, be it a matrix or noise for coordinates.

    Nothing in the file is run or unpickled, and nothing is unpacked to disk; sizes are
    checked before memory is taken, checksums before anything is used. The checksums
    find accidents, not forgeries: anyone who can change the file can change them as well.
    A signature finds those, too.

    Distances that the secrets do not confirm are marked (`Metric.stated`), and a promise by them is refused where
    reports are drawn or charged.

    Args:
        path: The file.
        trust_distances: Whether to take the file's word for its distances: leave them unmarked.
        signed_by: The file of the public key by which it has to be signed (`verify`).

    Raises:
        FileError: If the file does not exist; or it is not one of a mechanism, is cut off,
            damaged, inconsistent, written by a newer version or not signed by the key.
        MissingExtraError: If a signature is needed and cryptography is not installed (extra ``sign``).
    """
    try:
        held = Contents(*read_archive(path, signed_by))
        if held.noisy:
            from .noise_file import NoiseFile

            return NoiseFile(*held.noise(), held.claims())
        mechanism = held.mechanism()
        return MechanismFile(
            held.tupling(mechanism) or mechanism,
            held.prior(),
            held.loss(),
            held.guarantees(mechanism.secrets, trusted=trust_distances),
            held.claims(),
            held.optimality(mechanism.shape),
            held.constraints(),
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


@checked
def read_mechanism_file(
    path: str | os.PathLike[str], *, trust_distances: bool = False, signed_by: str | os.PathLike[str] | None = None
) -> MechanismFile:
    """Return all that the file of a mechanism with a matrix holds; `read_any` reads noise, too.

    Args:
        path: The file.
        trust_distances: As of `read_any`.
        signed_by: As of `read_any`.

    Raises:
        FileError: As `read_any`, or if it holds noise for coordinates, which has no matrix.
    """
    held = read_any(path, trust_distances=trust_distances, signed_by=signed_by)
    if not isinstance(held, MechanismFile):
        raise FileError(
            f"{os.fspath(path)!r} holds a {held.noise!r}, which has no matrix.",
            "use the file of a design on cells or on a lattice",
            python("read it with sf.files.read_any(path)."),
        )
    return held


@checked
def load(
    path: str | os.PathLike[str], *, trust_distances: bool = False, signed_by: str | os.PathLike[str] | None = None
) -> Mechanism | CoordinateNoise:
    """Return the mechanism of a mechanism file, or its noise for coordinates.

    `read_any` gives all that the file holds.

    Args:
        path: The file.
        trust_distances: Whether to take the file's word for distances that its secrets do not confirm, such as
            travel times. Without it, a promise by such distances is refused where reports are drawn or charged.
        signed_by: The file of the public key by which it has to be signed (`sfumato.files.verify`).

    Raises:
        FileError: As `read_any`, or if it holds a tupling: `load_tupling` returns that.
    """
    held = read_any(path, trust_distances=trust_distances, signed_by=signed_by)
    if not isinstance(held, MechanismFile):
        return held.noise
    if held.tupling is not None:
        raise FileError(
            f"{os.fspath(path)!r} holds a {held.tupling!r}, whose reports are tuples.",
            "use the file of its inner mechanism",
            python("read it with sf.files.load_tupling(path, ...), and take its .inner."),
        )
    return held.mechanism


@checked
def load_tupling(
    path: str | os.PathLike[str], *, trust_distances: bool = False, signed_by: str | os.PathLike[str] | None = None
) -> Tupling:
    """Return the tupling of a mechanism file.

    Args:
        path: The file.
        trust_distances: As of `load`.
        signed_by: As of `load`.

    Raises:
        FileError: As `read_mechanism_file`, or if the file's reports are sent without dummies.
    """
    held = read_mechanism_file(path, trust_distances=trust_distances, signed_by=signed_by)
    if held.tupling is None:
        raise FileError(
            f"{os.fspath(path)!r} holds a {held.mechanism!r} without dummies.",
            "use it as a mechanism file without dummies",
            python("read it with sf.load(path)."),
        )
    return held.tupling


def _sorted(
    given: Asked | TuplePrivacy | Iterable[Asked | TuplePrivacy],
) -> tuple[tuple[Asked, ...], tuple[TuplePrivacy, ...]]:
    """Return the guarantees of one report, and those of a tuple."""
    if isinstance(given, TuplePrivacy):
        return (), (given,)
    if isinstance(given, Asked) or not isinstance(given, Iterable):
        return as_guarantees(given), ()
    every = tuple(given)
    single = as_guarantees([each for each in every if not isinstance(each, TuplePrivacy)])
    return single, tuple(each for each in every if isinstance(each, TuplePrivacy))
