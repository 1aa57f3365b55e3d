"""Mechanisms that lie about themselves, each in another way."""

from typing import Any

import numpy as np

import sfumato as sf
from sfumato.core import Capability, LocalPrivacy, Randomizer, Recipe, Row
from sfumato.geo import Projection
from sfumato.mechanisms import Clamped, DiscreteLaplace, MechanismFamily, Tupling, randomised_response
from sfumato.mechanisms.planar import CoordinateNoise

SPACE = sf.Space("ab")
HONEST = randomised_response(SPACE, 1.0)
TRUTH = sf.Mechanism(np.eye(2), SPACE)
PLANE = Projection(48.85, 2.35)


class TrueReport(Recipe):
    """Reports the secret itself."""

    @property
    def secrets(self):
        return 2

    @property
    def row(self):
        return Row(HONEST)

    def draw(self, rows, words):
        return rows


class Foreign(Randomizer):
    """A randomizer of its own, with the data of an honest mechanism."""

    secrets = observables = SPACE
    guarantees = stated_guarantees = HONEST.guarantees
    weights, bits, matrix, shape = HONEST.weights, HONEST.bits, HONEST.matrix, HONEST.shape

    def recipe(self):
        return TrueReport()

    def channel(self):
        return HONEST

    def supports(self, capability):
        return capability is Capability.MATRIX

    def promising(self, guarantees):
        return self


class TrueMechanism(sf.Mechanism):
    """A mechanism that draws otherwise than its integers say."""

    def recipe(self):
        return TrueReport()


class TruePoints(CoordinateNoise):
    """Noise that adds none."""

    def blur_points(self, lat, lon, words, *, nearest=False):
        return np.column_stack([lat, lon])

    def blur_point(self, lat, lon, words, *, nearest=False):
        return lat, lon


class Remembering(Projection):
    """A projection that gives back the point that it was given last."""

    last: list[Any] = []  # noqa: RUF012

    def forward(self, lat, lon):
        self.last[:] = [np.column_stack([lat, lon])]
        return super().forward(lat, lon)

    def inverse(self, points_m):
        return self.last[0]


class Boasting(MechanismFamily):
    """A family whose epsilon is not that of its recipe."""

    name = "boasting mechanism"
    hamming_loss = 0.0
    epsilon = 0.01

    @property
    def stated_guarantees(self):
        return (LocalPrivacy(self.epsilon),)

    def mechanism(self):
        return TRUTH


class Wavering(Boasting):
    """A family that shows an honest recipe and promise first, and the truth afterwards."""

    asked = 0

    @property
    def stated_guarantees(self):
        self.asked += 1
        return HONEST.guarantees if self.asked % 2 else (LocalPrivacy(0.001),)

    def recipe(self):
        self.asked += 1
        return Row(HONEST) if self.asked % 2 else TrueReport()


class Disguised:
    """An object that says that it is a mechanism."""

    guarantees = stated_guarantees = HONEST.guarantees
    secrets = observables = SPACE
    weights, bits, matrix, shape = HONEST.weights, HONEST.bits, HONEST.matrix, HONEST.shape
    __class__ = sf.Mechanism  # type: ignore[assignment]

    def recipe(self):
        return TrueReport()

    def channel(self):
        return HONEST

    def supports(self, capability):
        return capability is Capability.MATRIX

    def promising(self, guarantees):
        return self


class Bargain(DiscreteLaplace):
    """Noise whose range is another mechanism each time."""

    __slots__ = ()

    def on_range(self, space):
        return sf.Mechanism(np.eye(len(space)), space)


def true_mechanism():
    return TrueMechanism.from_weights(HONEST.weights, 62, SPACE, SPACE, HONEST.guarantees)


LIARS = {
    "own kind": Foreign(),
    "subclass of Mechanism": true_mechanism(),
    "subclass of CoordinateNoise": TruePoints("1/km", projection=PLANE),
    "noise with a projection of its own": CoordinateNoise("1/km", projection=Remembering(48.85, 2.35)),
    "tupling of a subclass": Tupling(true_mechanism(), 2, [0.5, 0.5]),
    "family": Boasting(),
    "family that changes": Wavering(),
    "noise of its own on a range": Clamped(Bargain(0.5), 0, 1),
    "disguise": Disguised(),
}
