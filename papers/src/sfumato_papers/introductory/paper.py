"""The introductory article as a paper to reproduce: Laplace noise, the exponential mechanism, composition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..reproduction import Made, Paper, Setting, StudyPart, equations
from .choices import choice_rows, steep_rows
from .claims import claims
from .figures import CAPTIONS, figures
from .noise import draw_rows, float_rows, joint_rows, noise_rows, odds_rows, report_rows, sensitivity_rows

_ROWS: Final[dict[str, dict[str, Callable[..., Sequence[Any]]]]] = {
    "noise and odds": {"noise": noise_rows, "reports": report_rows, "odds": odds_rows},
    "queries": {"sensitivities": sensitivity_rows, "queries": joint_rows},
    "steep tables": {"choices": steep_rows},
    "draws": {"draws": draw_rows, "floats": float_rows},
    "tables": {"choices": choice_rows},
}
"""The functions of the tables of each part."""


def _parts(setting: Setting) -> Sequence[StudyPart]:
    seeds, draws, tables = setting.size((3, 20_000, 30), (10, 1_000_000, 300))
    parts = [StudyPart(name, _make, (name,)) for name in ("noise and odds", "queries", "steep tables")]
    for seed in range(1, seeds + 1):
        parts.append(StudyPart(f"draws, seed {seed}", _make, ("draws", seed, draws)))
        parts.append(StudyPart(f"tables, seed {seed}", _make, ("tables", seed, tables)))
    return parts


def _make(part: str, *arguments: int) -> Made:
    return {table: rows(*arguments) for table, rows in _ROWS[part].items()}


PAPER: Final = Paper(
    name="introductory",
    title="Privacy mechanisms, an introduction: noise, choices and composition",
    source='"Privacy Mechanisms", an introductory article on the Laplace and the exponential mechanism; F. '
    "McSherry and K. Talwar, FOCS 2007; I. Mironov, CCS 2012",
    version="Quoted from the abstract of Mironov (CCS 2012); the article's equations and the other claims are "
    "known from summaries.",
    about=(
        "Two data sets are neighbours if one is the other and one record more. The tables have each "
        "mechanism's epsilon between neighbours, measured on the sampled integers, and the guaranteed epsilon.",
        "Integer noise is drawn as for releases, but with seeds. Numbers over seeds are means with "
        "intervals of 95 %.",
    ),
    parts=_parts,
    claims=claims,
    figures=figures,
    captions=CAPTIONS,
    equations=equations(
        ("Definition", "differential privacy", "sf.privacy.DifferentialPrivacy", "noise"),
        ("Sensitivity", "sensitivity", "sf.mechanisms.sensitivity", "sensitivities"),
        ("Laplace mechanism", "its width, in real numbers", "sf.mechanisms.Laplace", "noise"),
        ("Laplace mechanism", "drawn in floats", "sf.mechanisms.Laplace", "floats"),
        ("Laplace mechanism", "in integers", "sf.mechanisms.DiscreteLaplace", "draws"),
        ("(4), (5)", "two queries", "sf.mechanisms.JointQueries", "queries"),
        ("(6), (7)", "the exponential mechanism", "sf.mechanisms.ExponentialMechanism", "choices"),
        ("In addition", "bounded range", "sf.privacy.BoundedRange", "choices"),
        ("In addition", "epsilon as odds", "sf.privacy.band", "odds"),
    ),
    minutes=2,
    visits=False,
)
