"""The introductory article as a paper to reproduce: Laplace noise, the exponential mechanism, composition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..reproduction import Equation, Made, Paper, Setting, StudyPart
from ..results import columns_of
from .choices import choice_rows, steep_rows
from .claims import claims
from .figures import CAPTIONS, figures
from .noise import draw_rows, float_rows, noise_rows, report_rows
from .odds import odds_rows
from .queries import joint_rows, sensitivity_rows
from .tables import CHOICES, DRAWS, FLOATS, JOINT, NOISE, ODDS, REPORTED, SENSITIVITIES

_QUICK: Final = (3, 20_000, 30)
_FULL: Final = (10, 1_000_000, 300)


def _parts(setting: Setting) -> Sequence[StudyPart]:
    seeds, draws, tables = _QUICK if setting.quick else _FULL
    parts = [
        StudyPart("noise and odds", _noise),
        StudyPart("queries", _queries),
        StudyPart("steep tables", _steep),
    ]
    for seed in range(1, seeds + 1):
        parts.append(StudyPart(f"draws, seed {seed}", _draws, (seed, draws)))
        parts.append(StudyPart(f"tables, seed {seed}", _tables, (seed, tables)))
    return parts


def _noise() -> Made:
    return {
        NOISE: [columns_of(row) for row in noise_rows()],
        REPORTED: [columns_of(row) for row in report_rows()],
        ODDS: [columns_of(row) for row in odds_rows()],
    }


def _queries() -> Made:
    return {
        SENSITIVITIES: [columns_of(row) for row in sensitivity_rows()],
        JOINT: [columns_of(row) for row in joint_rows()],
    }


def _steep() -> Made:
    return {CHOICES: [columns_of(row) for row in steep_rows()]}


def _draws(seed: int, draws: int) -> Made:
    return {
        DRAWS: [columns_of(row) for row in draw_rows(seed, draws)],
        FLOATS: [columns_of(row) for row in float_rows(seed, draws)],
    }


def _tables(seed: int, tables: int) -> Made:
    return {CHOICES: [columns_of(row) for row in choice_rows(seed, tables)]}


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
    equations=(
        Equation("Definition", "differential privacy", "sf.privacy.DifferentialPrivacy", f"{NOISE}.csv"),
        Equation("Sensitivity", "sensitivity", "sf.mechanisms.sensitivity", f"{SENSITIVITIES}.csv"),
        Equation("Laplace mechanism", "its width, in real numbers", "sf.mechanisms.Laplace", f"{NOISE}.csv"),
        Equation("Laplace mechanism", "drawn in floats", "sf.mechanisms.Laplace", f"{FLOATS}.csv"),
        Equation("Laplace mechanism", "in integers", "sf.mechanisms.DiscreteLaplace", f"{DRAWS}.csv"),
        Equation("(4), (5)", "two queries", "sf.mechanisms.JointQueries", f"{JOINT}.csv"),
        Equation("(6), (7)", "the exponential mechanism", "sf.mechanisms.ExponentialMechanism", f"{CHOICES}.csv"),
        Equation("In addition", "bounded range", "sf.privacy.BoundedRange", f"{CHOICES}.csv"),
        Equation("In addition", "epsilon as odds", "sf.privacy.band", f"{ODDS}.csv"),
    ),
    minutes=2,
    visits=False,
)
