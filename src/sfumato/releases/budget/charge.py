"""The charge for one report: a promise that is proved first, and said in a sentence."""

from __future__ import annotations

from ...core import CoordinatePrivacy, Mechanism, MetricPrivacy
from ...errors import InputError, python
from ...escaping import plain
from ...evidence import (
    VertexPrivacy,
    bound_to,
    prove_coordinate_privacy,
    prove_metric_privacy,
    prove_planar_noise,
)
from ...mechanisms.planar import CoordinateNoise
from ...rounding import amount_at_most, at_most, exactly

Charged = MetricPrivacy | CoordinatePrivacy


def check_charge(mechanism: Mechanism | CoordinateNoise, asked: Charged) -> None:
    """Refuse a promise that is not proved: on the mechanism's integers, or the noise's recipe.

    Args:
        mechanism: The mechanism or noise.
        asked: The promise.

    Raises:
        InputError: If it is not proved, or not one of such a mechanism.
    """
    if isinstance(mechanism, CoordinateNoise):
        if not isinstance(asked, CoordinatePrivacy):
            raise InputError(
                f"{asked!r} is not a promise of noise for coordinates.", python("charge noise.promise.")
            )
        noise = prove_planar_noise(asked, mechanism.noise.rate, mechanism.step_m, mechanism.reach_m)
        if not noise.holds:
            raise InputError(
                f"{asked} is claimed, but the noise's epsilon is up to {at_most(noise.upper, 9)}/{asked.unit}, "
                f"and its slack up to {amount_at_most(noise.slack_m, 'm')}.",
                python("charge noise.promise."),
            )
        return
    if isinstance(asked, MetricPrivacy):
        proof = prove_metric_privacy(mechanism, asked)
    else:
        (rows,) = bound_to(mechanism.secrets, (asked,))
        if not isinstance(rows, VertexPrivacy):
            raise InputError(f"{asked!r} cannot be charged.", "use MetricPrivacy or CoordinatePrivacy.")
        proof = prove_coordinate_privacy(mechanism, rows)
    if not proof.holds:
        raise InputError(
            f"{asked} is claimed, but the mechanism's epsilon is up to {at_most(proof.upper, 9)}.",
            "charge what the mechanism really spends.",
        )


def charge_sentence(promise: Charged) -> str:
    """Return the charge for one report, and what k of them cost where there is a slack, in a sentence."""
    unit = promise.unit if isinstance(promise, CoordinatePrivacy) else promise.metric.unit
    epsilon = f"{exactly(promise.epsilon)}{'/' + plain(unit) if unit else ''}"
    charged = f"Each report that is drawn is charged {epsilon}"
    if not isinstance(promise, CoordinatePrivacy) or not promise.slack_m:
        return charged
    slack = amount_at_most(promise.slack_m, "m")
    return (
        f"{charged}, and its slack of {slack} counts each time: k reports of one point are together "
        f"at most e^(k x {epsilon} x (distance + {slack})) times likelier from there than from another point"
    )
