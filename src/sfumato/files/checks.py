"""Units and numbers that a mechanism file may hold: units are short words, and no length is below zero."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import DistortionPrivacy, Guarantee, Loss, Mechanism, MetricPrivacy, units
from ..core.naming import check_unit
from ..errors import InputError
from ..evidence import Optimality


def check_sound(
    mechanism: Mechanism, loss: Loss | None, guarantees: Sequence[Guarantee], optimality: Optimality | None
) -> None:
    """Refuse units that are no short words, and lengths below zero.

    Units stand in sentences: a longer text could read as one.

    Args:
        mechanism: The mechanism, whose secrets and observables may have a unit.
        loss: The loss.
        guarantees: The guarantees, whose metrics and distances may have units.
        optimality: The prices, with the attacker's distance.

    Raises:
        InputError: If there is such a unit or length.
    """
    losses = [each.distance for each in guarantees if isinstance(each, DistortionPrivacy)]
    candidates = None if optimality is None else optimality.candidates
    losses += [] if candidates is None else [candidates.loss]
    losses += [each for each in (loss, None if optimality is None else optimality.distance) if each is not None]
    metrics = [each.distances for each in guarantees if isinstance(each, MetricPrivacy)]
    spaces = (mechanism.secrets, mechanism.observables)
    named = [*(each.unit for each in spaces), *(each.unit for each in losses), *(each.unit for each in metrics)]
    for unit in named:
        check_unit(unit)
    for given in losses:
        if units.is_length(given.unit) and (given.array < 0).any():
            least = units.show(float(given.array.min()), given.unit)
            raise InputError(
                f"a distance or loss in {given.unit} is {least}, and no length is below zero.",
                "leave its unit out, or use lengths of at least 0.",
            )
