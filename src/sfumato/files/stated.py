"""Which distances and losses of a file are built again, and which are its writer's word."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import Guarantee, Loss, Mechanism, Metric, MetricPrivacy, ThresholdPrivacy
from ..core.named import as_named
from ..errors import InputError
from ..evidence import Optimality


def stated(
    mechanism: Mechanism, loss: Loss | None, guarantees: Sequence[Guarantee], optimality: Optimality | None
) -> tuple[str, ...]:
    """Return in words the distances and losses that the secrets and observables cannot confirm.

    Args:
        mechanism: The mechanism, whose spaces have the coordinates and labels.
        loss: The loss, array (secrets, observables).
        guarantees: The guarantees, whose metrics and distances are between secrets.
        optimality: The prices, with the attacker's distance in the dual game.

    Raises:
        InputError: If distances bear a name that determines others.
    """
    secrets, observables = mechanism.secrets, mechanism.observables
    found: list[str] = []
    for guarantee in guarantees:
        if isinstance(guarantee, MetricPrivacy):
            metric = guarantee.distance if isinstance(guarantee, ThresholdPrivacy) else guarantee.metric
            if not as_named(metric, secrets, secrets):
                found.append(f"distances ({metric.name}) as the file states them, not checked")
        elif not _guessed(guarantee.distance, mechanism):
            found.append(
                f"the attacker's distances ({guarantee.distance.name}) as the file states them, not checked"
            )
    if optimality is not None and optimality.distance is not None and not _guessed(optimality.distance, mechanism):
        found.append(f"the attacker's distances ({optimality.distance.name}) as the file states them, not checked")
    if loss is not None and not as_named(loss, secrets, observables):
        found.append(f"the loss ({loss.name}) as the file states it, not checked")
    return tuple(dict.fromkeys(found))


def _guessed(distance: Loss | Metric, mechanism: Mechanism) -> bool:
    """Return whether an attacker's distances are as named; guesses are secrets or observables."""
    secrets, observables = mechanism.secrets, mechanism.observables
    guesses = len(distance.array)
    if guesses not in (len(secrets), len(observables)):
        return False
    if guesses == len(observables) and observables != secrets:
        try:
            return as_named(distance, observables, secrets)
        except InputError:
            if guesses != len(secrets):
                raise
    return as_named(distance, secrets, secrets)
