"""Privacy mechanisms, an introduction: Laplace noise, the exponential mechanism, and queries together.

``sfumato reproduce introductory`` runs everything.

Source: "Privacy Mechanisms", an introductory article on the Laplace and the exponential mechanism.
"""

from .choices import choice_rows, steep_rows
from .noise import QUERIES, draw_rows, float_rows, joint_rows, noise_rows, odds_rows, report_rows, sensitivity_rows

__all__ = [
    "QUERIES",
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
