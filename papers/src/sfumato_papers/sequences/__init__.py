"""Sequences of reports: policies for a day, attackers who see all of it, and where a home is after many days."""

from .paper import (
    FRESH,
    PERMANENT,
    POPULATION,
    PRIVATE,
    RAW,
    REMAP,
    HomeRow,
    PolicyRow,
    home_figure,
    learning_policy,
    loss_figure,
    mean_loss,
    person_errors,
)

__all__ = [
    "FRESH",
    "PERMANENT",
    "POPULATION",
    "PRIVATE",
    "RAW",
    "REMAP",
    "HomeRow",
    "PolicyRow",
    "home_figure",
    "learning_policy",
    "loss_figure",
    "mean_loss",
    "person_errors",
]
