"""Designs for several priors at once: the least of the largest expected loss."""

from .result import RobustDesign
from .robust import design_robust

__all__ = ["RobustDesign", "design_robust"]
