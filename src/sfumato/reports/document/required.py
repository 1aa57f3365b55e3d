"""Requirements of a report: on risks, and on what an audit finds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from ...audits import Audit, Requirement
from ...core.immutable import CompactRepr
from ...errors import InputError
from ...escaping import plain
from .found import RequirementFacts
from .risk import RiskLine

_NEAR: Final = re.compile(r"\s*within\b", re.IGNORECASE)
_COMPARED: Final = re.compile(r"[<>=≤≥]")


@final
@dataclass(frozen=True, slots=True, repr=False)
class Required(CompactRepr):
    """Requirements of both kinds.

    Attributes:
        risks: Those on how often an attacker is near.
        measured: Those on what an audit finds.
    """

    risks: tuple[RiskLine, ...] = ()
    measured: tuple[Requirement, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.risks or self.measured)

    def held_against(self, found: Audit, *, stated: bool = False) -> tuple[RequirementFacts, ...]:
        """Return whether what an audit found keeps what is required of it.

        Args:
            found: What an audit found.
            stated: Whether its distances are words of a file that nothing confirms.

        Raises:
            InputError: If the audit has no such entry, or a unit does not fit.
        """
        verdicts = [each.hold_against(found, stated=stated) for each in self.measured]
        return tuple(
            RequirementFacts(plain(each.requirement.text), each.outcome, plain(each.reason)) for each in verdicts
        )


def read_requirements(texts: Iterable[str]) -> Required:
    """Read requirements such as ``within 1850 ft: at most 50 %`` or ``epsilon <= 0.7/km``.

    Raises:
        InputError: If one has neither form.
    """
    risks, measured = [], []
    for text in texts:
        if _NEAR.match(text):
            risks.append(RiskLine.parse(text))
        elif _COMPARED.search(text):
            measured.append(Requirement.parse(text))
        else:
            raise InputError(
                f"{plain(text)!r} is not a valid requirement.",
                "write it as 'within 1850 ft: at most 50 %' for a risk.",
                "write it as 'epsilon <= 0.7/km' for what an audit finds.",
            )
    return Required(tuple(risks), tuple(measured))
