"""Privacy mechanisms, an introduction: Laplace noise, the exponential mechanism, and queries together.

``sfumato reproduce introductory`` runs everything.

Source: "Privacy Mechanisms", an introductory article on the Laplace and the exponential mechanism.
"""

from .choices import ChoiceRow, choice_rows, steep_rows
from .noise import DrawRow, FloatRow, NoiseRow, ReportRow, draw_rows, float_rows, noise_rows, report_rows
from .odds import OddsRow, odds_rows
from .queries import QUERIES, JointRow, SensitivityRow, joint_rows, sensitivity_rows

__all__ = [
    "QUERIES",
    "ChoiceRow",
    "DrawRow",
    "FloatRow",
    "JointRow",
    "NoiseRow",
    "OddsRow",
    "ReportRow",
    "SensitivityRow",
    "choice_rows",
    "draw_rows",
    "float_rows",
    "joint_rows",
    "noise_rows",
    "odds_rows",
    "report_rows",
    "sensitivity_rows",
    "steep_rows",
]
