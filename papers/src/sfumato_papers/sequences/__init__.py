"""Sequences of reports: policies for a day, attackers who see all of it, and where a home is after many days."""

from .paper import (
    FRESH,
    OTHERS,
    PERMANENT,
    PRIVATE,
    RAW,
    REMAP,
    HomeRow,
    PolicyRow,
    home_figure,
    learned,
    loss_figure,
    mean_loss,
    person_errors,
)

__all__ = [
    "FRESH",
    "OTHERS",
    "PERMANENT",
    "PRIVATE",
    "RAW",
    "REMAP",
    "HomeRow",
    "PolicyRow",
    "home_figure",
    "learned",
    "loss_figure",
    "mean_loss",
    "person_errors",
]
