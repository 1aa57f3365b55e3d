"""Domain of an opened mechanism file: its one mechanism, whose guarantee is proved here."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from sfumato.core import Bracket, Mechanism, MetricPrivacy, Prior, ThresholdPrivacy, hamming, units
from sfumato.escaping import plain
from sfumato.files import MechanismFile
from sfumato.geo import Places
from sfumato.mechanisms.planar import coarsen
from sfumato.proofs import VertexPrivacy, expected_loss_above, prove_guarantees, prove_planar_noise
from sfumato.rounding import plural, up

from ..errors import RefusedError
from .domain import Domain, Measures, ProvedForm

_LARGEST: Final = 700.0  # an epsilon whose exponential is a float
_NO_SCRIPT: Final = ("An opened mechanism has no script here.", "the program that made the file has it.", "design")


class OpenedDomain(Domain):
    """The secrets of a mechanism file."""

    optimizable = False

    def __init__(self, file: MechanismFile, name: str) -> None:
        self.file, self.source = file, f"the mechanism file {name}"
        noise, self._off = None if file.has_matrix else file.noise, 0.0
        if noise is None:
            self.mechanism = _remap_reports(file.report_channel)
        else:
            picture = coarsen(noise, None if file.prior is None else file.prior.space)  # type: ignore[arg-type]  # cells
            self.mechanism, self._off = picture.mechanism, picture.off
        space = self.mechanism.secrets
        if space is None:
            raise RefusedError(422, "This mechanism lists no secrets.", "run: sfumato report FILE", "file")
        self.kind = "places" if isinstance(space, Places) else "values"
        known = file.prior is not None and file.prior.space == space
        self.prior = file.prior if known and file.prior is not None else Prior.uniform(space)
        self.ordered = not self.places and space.coordinates is not None and space.coordinates.shape[1] == 1
        if isinstance(space, Places):
            self.metric = space.metric("euclidean", "m")
        else:
            self.metric = space.metric("absolute") if self.ordered else hamming(space)
        self.loss = self.metric
        self.loss_unit = "m" if self.places else ""
        self.notes = [
            f"The file is for {plural(len(space), 'place' if self.places else 'value')}. Its epsilon was proved "
            "when it was opened; what the file says of itself was not believed.",
            *(
                f"The studio does not check this guarantee: {text}. 'sfumato audit' does."
                for text in self._further_guarantees()
            ),
            *(
                [f"Reports at other points count as at the nearest {'place' if self.places else 'value'}."]
                if noise is None and self.file.report_channel.observables != space
                else []
            ),
            *([] if known else ["The file has no prior on these, so each counts as equally likely."]),
            *(f"Of the file's own statements this one cannot be checked: {claim}." for claim in file.stated),
        ]
        self.apart = hamming(space)
        self.epsilon, self.epsilon_unit, self.protected = self._prove()
        if not math.isfinite(self.epsilon):
            problem = (
                "The studio shows an epsilon between any two secrets, and here some report rules out a secret."
            )
            raise RefusedError(422, problem, "run: sfumato audit FILE", "file")
        self.ends = (self.epsilon, self.epsilon)

    def _prove(self) -> tuple[float, str, str]:
        """Return the proved epsilon, its unit, and the kind of secrets that it is for."""
        if not self.file.has_matrix:
            noise = self.file.noise
            noise_proof = prove_planar_noise(noise.promise, noise.noise.rate, noise.step_m, noise.reach_m)
            self.slack_m = noise_proof.slack_m
            return noise_proof.upper, "1/km", "points"
        channel = self.file.report_channel
        for guarantee in self.file.guarantees:
            if not isinstance(guarantee, MetricPrivacy) or isinstance(guarantee, ThresholdPrivacy):
                continue
            (proof,) = prove_guarantees(channel, self.prior, [guarantee])[0]
            if not proof.holds:
                continue
            epsilon = min(proof.upper, guarantee.epsilon)
            if guarantee.for_any_two:
                return epsilon, "", "values"
            if isinstance(guarantee, VertexPrivacy):
                self.slack_m = guarantee.lattice.slack_m
                return up(proof.upper * units.factor("km", proof.unit)), "1/km", "points"
            if guarantee.metric.name != self.metric.name or not guarantee.confirmed_by(self.space):
                continue
            if self.places:
                return up(epsilon * units.factor("km", proof.unit)), "1/km", "cells"
            self.apart, self.per_unit = guarantee.metric, True
            return epsilon, "", "values"
        (proof,) = prove_guarantees(channel, self.prior, [MetricPrivacy(_LARGEST, hamming(self.space))])[0]
        return proof.upper, "", "values"

    def _further_guarantees(self) -> list[str]:
        """Return the guarantees that are no epsilon between secrets, in words."""
        promises = self.file.guarantees if self.file.has_matrix else ()
        return [
            plain(str(promise))
            for promise in promises
            if not isinstance(promise, MetricPrivacy) or isinstance(promise, ThresholdPrivacy)
        ]

    @property
    def epsilons(self) -> list[float]:
        """The one epsilon."""
        return [self.epsilon]

    def measures(self, mechanism: Mechanism) -> Measures:
        """Return the best attacker's average error among the secrets, and how often a guess is right."""
        success = super().measures(mechanism)
        if mechanism is not self.mechanism or not self._off:
            return success
        doubt = self._off * len(self.prior)  # of the probabilities of noise on cells
        most = min(1.0, success.chance.upper + doubt)
        farthest = doubt * float(self.metric.array.max())
        error = success.error and Bracket(max(0.0, success.error.lower - farthest), success.error.value, math.inf)
        return Measures(error, Bracket(-math.inf, success.chance.value, most))

    def proved_form(self, epsilon: float) -> ProvedForm:  # noqa: ARG002
        """Return the file as it was opened, with what was proved of it."""
        doubt = self._off * len(self.prior) * float(self.metric.array.max())
        most = up(expected_loss_above(self.mechanism, self.prior, self.loss) + doubt)
        loss = Bracket(-math.inf, min(self.mechanism.expected_loss(self.prior, self.loss), most), most)
        return ProvedForm(self.file, self.mechanism, self.epsilon, loss, "opened")

    def picture(self, file: MechanismFile) -> Mechanism:  # noqa: ARG002
        """Return the mechanism between the secrets."""
        return self.mechanism

    def answer(self) -> dict[str, Any]:
        """Return the secrets for the page."""
        if isinstance(self.space, Places):
            latlon = self.space.latlon
            (south, west), (north, east) = latlon.min(axis=0).tolist(), latlon.max(axis=0).tolist()
            region = {"south": south, "west": west, "north": north, "east": east}
            return {"region": region, "sentences": self.notes}
        labels = [str(label) for label in self.space.labels]
        return {"labels": labels, "ordered": self.ordered, "column": "", "sentences": self.notes}

    def script(self, name: str, epsilon: float, gap: float | None, distortion: float | None) -> str:  # noqa: ARG002
        """Refuse: the file does not say how it was made."""
        raise RefusedError(404, *_NO_SCRIPT)


def _remap_reports(channel: Mechanism) -> Mechanism:
    """Return a mechanism whose reports are its secrets; reports at other points become the nearest secret."""
    secrets, reports = channel.secrets, channel.observables
    if reports == secrets:
        return channel
    if isinstance(secrets, Places) and reports.coordinates is not None:
        apart = secrets.on_plane(reports)[:, None, :] - secrets.on_plane(secrets)
        nearest = np.hypot(apart[..., 0], apart[..., 1]).argmin(axis=1).tolist()
        mapping = {label: secrets.labels[at] for label, at in zip(reports.labels, nearest, strict=True)}
    elif set(reports.labels) <= set(secrets.labels):
        mapping = {label: label for label in reports.labels}
    else:
        problem = "This mechanism reports something else than its secrets, which the studio cannot draw."
        raise RefusedError(422, problem, "run: sfumato report FILE", "file")
    return channel.then(Mechanism.deterministic(mapping, reports, secrets))
