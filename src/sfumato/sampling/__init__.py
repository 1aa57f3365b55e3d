"""Exact random choices from whole random words: entropy, coins, alias tables, and samplers."""

from .alias import AliasTables
from .entropy import SeededWords, SystemWords, Words
from .recipe import Blurring, Drawable, Integers, Recipe, Row
from .sampler import Sampler, Simulator, sampler, simulator

__all__ = [
    "AliasTables",
    "Blurring",
    "Drawable",
    "Integers",
    "Recipe",
    "Row",
    "Sampler",
    "SeededWords",
    "Simulator",
    "SystemWords",
    "Words",
    "sampler",
    "simulator",
]
