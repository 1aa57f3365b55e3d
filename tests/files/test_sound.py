"""Units that are sentences and lengths below zero: refused when a file is made, and when one is read."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.files import MechanismFile, read_mechanism_file

from .forging import forged, opened

SPACE = sf.Space(["yes", "no", "maybe"])
COIN = sf.mechanisms.randomised_response(SPACE, 1.0)
PRIOR = sf.Prior.uniform(SPACE)
OTHER = 1.0 - np.eye(3)
SENTENCE = "dollars, certified by NIST,"


@pytest.mark.parametrize(
    "make",
    [
        lambda: MechanismFile(COIN, PRIOR, sf.core.Loss(OTHER, SENTENCE)),
        lambda: MechanismFile(COIN, PRIOR, None, sf.MetricPrivacy(1.0, sf.Metric(OTHER, SENTENCE))),
        lambda: MechanismFile(COIN, PRIOR, None, sf.ThresholdPrivacy(1.0, sf.Metric(OTHER, SENTENCE), 1.0)),
        lambda: MechanismFile(COIN, PRIOR, None, sf.DistortionPrivacy(0.1, sf.core.Loss(OTHER, SENTENCE))),
    ],
)
def test_units_are_short_words(make):
    with pytest.raises(InputError, match=r"unit 'dollars, certified by NIST,' is not a short word"):
        make()


def test_a_unit_of_values_is_a_short_word():
    ages = sf.Space.numbers(range(3), unit="years, as the authority has found")
    with pytest.raises(InputError, match="not a short word"):
        MechanismFile(sf.Mechanism(np.eye(3), ages, ages))


@pytest.mark.parametrize("unit", ["m", "km", "mi"])
def test_no_length_is_below_zero(unit):
    with pytest.raises(InputError, match=f"in {unit} is -1.*below zero"):
        MechanismFile(COIN, PRIOR, sf.core.Loss(-OTHER, unit))


def test_gains_and_other_units_stay():
    assert MechanismFile(COIN, PRIOR, sf.core.Loss(-OTHER)).loss is not None
    assert MechanismFile(COIN, PRIOR, sf.core.Loss(-OTHER, "euro")).loss is not None


def test_a_forged_file_is_refused(tmp_path):
    path = tmp_path / "m.sfm"
    sf.save(MechanismFile(COIN, PRIOR, sf.core.Loss(OTHER, "euro")), path)
    manifest, members = opened(path)
    manifest["losses"][0]["unit"] = SENTENCE
    forged(path, manifest, members)
    with pytest.raises(FileError, match="not a short word"):
        read_mechanism_file(path)
