"""Which distances and losses of a file are built again, and which are its writer's word."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import Guarantee, Loss, Mechanism, MetricPrivacy, ThresholdPrivacy
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
        else:
            found += _attacker(guarantee.distance, mechanism)
    if optimality is not None and optimality.distance is not None:
        found += _attacker(optimality.distance, mechanism)
    if loss is not None and not as_named(loss, secrets, observables):
        found.append(f"the loss ({loss.name}) as the file states it, not checked")
    return tuple(dict.fromkeys(found))


def _attacker(distance: Loss, mechanism: Mechanism) -> list[str]:
    """Return in words what nothing confirms of an attacker's distances and guesses."""
    secrets, observables = mechanism.secrets, mechanism.observables
    guesses, refused = len(distance.array), None
    if guesses == len(secrets):
        try:
            if as_named(distance, secrets, secrets):
                return []
        except InputError as error:
            refused = error
    if guesses == len(observables) and observables != secrets and as_named(distance, observables, secrets):
        return ["the attacker is taken to guess one of the reports; who guesses anything else may err less"]
    if refused is not None:
        raise refused
    return [f"the attacker's distances ({distance.name}) as the file states them, not checked"]
