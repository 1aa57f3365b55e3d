"""Which sampler draws from what: a mechanism's integers, or a family's own recipe."""

from __future__ import annotations

from typing import overload

from ..core import Mechanism
from ..errors import InputError
from ..mechanisms import Family, FrequencyOracle, Row, Tupling
from .discrete import NoiseSampler
from .recipes import OracleSampler
from .sampler import Sampler
from .tuples import TupleSampler


@overload
def sampler(mechanism: Mechanism) -> Sampler: ...
@overload
def sampler(mechanism: FrequencyOracle) -> OracleSampler: ...
@overload
def sampler(mechanism: Tupling) -> TupleSampler: ...
@overload
def sampler(mechanism: Family) -> Sampler | OracleSampler | NoiseSampler: ...
def sampler(mechanism: Mechanism | Family | Tupling) -> Sampler | OracleSampler | NoiseSampler | TupleSampler:
    """Return the sampler of a mechanism or family: exact and cryptographic, for release.

    A `Mechanism` is drawn from by its integers, and a `Tupling` by those of its parts; a
    family of `sfumato.mechanisms` whose outputs are too many to list, by its own recipe.
    Families of real numbers are refused: noise in floats gives the secret away.

    Args:
        mechanism: What to draw from.

    Raises:
        InputError: If it is for studies only, or no mechanism.

    Example:
        >>> import sfumato as sf
        >>> keep = sf.Mechanism([[1.0, 0.0], [0.0, 1.0]])
        >>> sf.sampler(keep).draw([0, 1, 1])
        array([0, 1, 1])
    """
    if isinstance(mechanism, Mechanism):
        return Sampler(mechanism)
    if isinstance(mechanism, Tupling):
        return TupleSampler(mechanism)
    if isinstance(mechanism, FrequencyOracle):
        return OracleSampler(mechanism)
    if isinstance(mechanism, Family):
        steps = None if mechanism.study_only else mechanism.steps()
        return Sampler(steps.mechanism) if isinstance(steps, Row) else NoiseSampler(mechanism)
    raise InputError(
        f"{type(mechanism).__name__} is no mechanism.", "pass a Mechanism, or a family of sfumato.mechanisms."
    )
