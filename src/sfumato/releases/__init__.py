"""Drawing reports from a mechanism's integers, and releasing tables of them."""

from .entropy import SeededWords, SystemWords, Words
from .release import Release, release
from .sampler import Sampler, Simulator, sampler, simulator

__all__ = [
    "Release",
    "Sampler",
    "SeededWords",
    "Simulator",
    "SystemWords",
    "Words",
    "release",
    "sampler",
    "simulator",
]
