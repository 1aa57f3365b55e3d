"""Transformers for the pipelines of scikit-learn (extra ``pipelines``); import this room by its name."""

from .local_randomizer import LocalRandomizer
from .place_randomizer import PlaceRandomizer

__all__ = ["LocalRandomizer", "PlaceRandomizer"]
