"""Hiding a sensitive value behind a useful one: the true optimum that learned mechanisms are compared with."""

from .least import least_information, least_vulnerability
from .problem import SensitiveDesign, SensitiveProblem

__all__ = ["SensitiveDesign", "SensitiveProblem", "least_information", "least_vulnerability"]
