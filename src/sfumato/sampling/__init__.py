"""Exact random choices from whole random words: entropy, coins, alias tables, and samplers."""

from .alias import AliasTables
from .entropy import SeededWords, SystemWords, Words
from .keyed_words import SECRET_BYTES, KeyedWords, UnevenWordsError
from .points import PointRecipe
from .recipe import Drawable, Integers, Recipe, Row
from .sampler import Sampler, Simulator, sampler, simulator
from .thrown import Thrown

__all__ = [
    "SECRET_BYTES",
    "AliasTables",
    "Drawable",
    "Integers",
    "KeyedWords",
    "PointRecipe",
    "Recipe",
    "Row",
    "Sampler",
    "SeededWords",
    "Simulator",
    "SystemWords",
    "Thrown",
    "UnevenWordsError",
    "Words",
    "sampler",
    "simulator",
]
