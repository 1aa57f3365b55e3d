"""Drawing reports from a mechanism's integers, and releasing tables of them."""

from .choice import sampler
from .discrete import NoiseSampler, draw_noise
from .entropy import SeededWords, SystemWords, Words
from .recipes import OracleSampler
from .release import Release, release
from .sampler import Sampler, Simulator, simulator
from .tuples import TupleSampler, TupleSimulator

__all__ = [
    "NoiseSampler",
    "OracleSampler",
    "Release",
    "Sampler",
    "SeededWords",
    "Simulator",
    "SystemWords",
    "TupleSampler",
    "TupleSimulator",
    "Words",
    "draw_noise",
    "release",
    "sampler",
    "simulator",
]
