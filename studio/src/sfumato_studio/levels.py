"""Designs of levels: their files, the stored facts, and the choice of the design that is shown."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sfumato.core import Bracket, Mechanism
from sfumato.estimation import identifiability
from sfumato.files import MechanismFile, save
from sfumato.optimal import Design

from .domains import Domain, Measures
from .domains.values import share_deviation
from .store import Row

OPTIMIZED: Final = "optimized"  # the name of designs by a solver
ROUGH_GAP: Final = 5e-3  # of the designs of levels, and of those that need not be thorough
FINE_GAP: Final = 1e-4  # of thorough designs
QUANTILE: Final = 1.96  # the half-width of a 95 % interval, over the standard error


def closed_form_facts(domain: Domain, level: int) -> tuple[MechanismFile, Row]:
    """Return the closed form of a level as a file, and the facts that are kept of it."""
    form = domain.proved_form(domain.epsilons[level])
    return form.file, _facts(domain, form.mechanism, form.loss, domain.epsilons[level], form.epsilon, form.name)


def keep_design(
    folder: Path, domain: Domain, design: Design, epsilon: float, distortion: float | None = None
) -> tuple[str, Row]:
    """Write the file of an optimized design; return its id and the facts that are kept of it."""
    proof = design.certificate
    loss = Bracket(min(proof.bound, proof.loss), proof.loss, proof.loss)
    facts = _facts(domain, design.mechanism, loss, epsilon, proof.epsilon_upper, OPTIMIZED) | {
        "finished": design.is_finished,
        "status": design.status.value,
        "gap": number(proof.gap),
        "wanted_gap": design.enough,
        "distortion": distortion,
    }
    return write_design(folder, MechanismFile.of_design(design)), facts


def write_design(folder: Path, file: MechanismFile) -> str:
    """Write a mechanism file to the designs of a workspace, and return the id of the design."""
    identity = secrets.token_hex(8)
    save(file, folder / "designs" / f"{identity}.sfm")
    return identity


def _facts(domain: Domain, mechanism: Mechanism, loss: Bracket, epsilon: float, upper: float, name: str) -> Row:
    """Return the measures of a mechanism, and the fields of one that needed no solver."""
    success, shares = domain.measures(mechanism), None
    if not domain.places:
        least = identifiability(mechanism).least_reports
        shares = {"deviation": share_deviation(mechanism, domain.prior), "least_reports": number(least)}
    none = dict.fromkeys(("gap", "wanted_gap", "distortion"))
    return {
        **none,
        "epsilon": epsilon,
        "proved": upper,
        "name": name,
        "finished": True,
        "status": "",
        "n": len(domain.prior),
        "loss": _ends(loss),
        "error": None if success.error is None else _ends(success.error),
        "found": _ends(success.chance),
        "shares": shares,
    }


def rank(domain: Domain, facts: Mapping[str, Any]) -> float:
    """Return the number by which the best of several mechanisms of one level is chosen, the least first."""
    if domain.goal == "shares":
        deviation = facts["shares"]["deviation"]
        return math.inf if deviation is None else float(deviation)
    return float(facts["loss"][2])


def best_row(domain: Domain, level: int, rows: Iterable[Row]) -> Row | None:
    """Return the best design of a level; None where there is none yet."""
    here = [row for row in rows if row["frontier"] and row["epsilon"] == domain.epsilons[level]]
    return min(here, key=lambda row: rank(domain, row["facts"]), default=None)


def best_rows(domain: Domain, rows: Sequence[Row]) -> list[Row]:
    """Return the best design of each level that has one, the least private first."""
    best = (best_row(domain, level, rows) for level in range(len(domain.epsilons)))
    return [row for row in best if row is not None]


def is_optimized(domain: Domain, level: int, rows: Iterable[Row]) -> bool:
    """Return whether the solver has made a design for a level."""
    return any(
        row["frontier"] and row["epsilon"] == domain.epsilons[level] and row["facts"]["name"] == OPTIMIZED
        for row in rows
    )


def bracket(ends: list[float | None]) -> Bracket:
    """Return numbers from JSON as a bracket; what is not known is infinite."""
    lower, value, upper = ends
    least, most = -math.inf if lower is None else lower, math.inf if upper is None else upper
    return Bracket(least, least if value is None else value, most)


def measures_of(facts: Mapping[str, Any]) -> Measures:
    """Return the success of the attacker of a design."""
    return Measures(None if facts["error"] is None else bracket(facts["error"]), bracket(facts["found"]))


def number(value: float | None) -> float | None:
    """Return a number as JSON has it: None where it is infinite or not known."""
    return None if value is None or not math.isfinite(value) else float(value)


def _ends(measure: Bracket) -> list[float | None]:
    return [number(measure.lower), number(measure.value), number(measure.upper)]
