"""The epsilon that reaches a goal: a loss, or an attacker's chance to be near."""

from .find import find_epsilon
from .goals import AttackerGoal, DesignGoal, LossGoal
from .result import EpsilonTrial, FoundEpsilon

__all__ = ["AttackerGoal", "DesignGoal", "EpsilonTrial", "FoundEpsilon", "LossGoal", "find_epsilon"]
