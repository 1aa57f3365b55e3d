"""Inference-based causal privacy by Bayes' rule, and its relation to causal and differential privacy."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Prior, Space
from sfumato.errors import InputError
from sfumato.privacy import (
    CausalPrivacy,
    Claim,
    InferenceBasedCausalPrivacy,
    InformationPrivacy,
    Priors,
    Property,
    answer,
    convert,
)

from ..bayes import beliefs, channels, few, known, log_ratio

BITS = Space(list(itertools.product((0, 1), repeat=2)))
WIDE = Space(list(itertools.product((0, 1, 2), (0, 1))))
RECORD = (0, 0, 1, 1, 2, 2)  # the first of each secret


def approx(value: float):
    return value if math.isinf(value) else pytest.approx(value, abs=1e-11)


def shares(rows, weights, labels, record, o):
    """The probability of each value of a record together with a report, by the labels of the secrets."""
    totals = dict.fromkeys((label[record] for label in labels), 0.0)
    for label, row, weight in zip(labels, rows, weights, strict=True):
        totals[label[record]] += weight * row[o]
    return totals


def settings_of(matrix, labels):
    """Yield each record, each value, and the rows after the record was set to it."""
    for record in range(len(labels[0])):
        for value in dict.fromkeys(label[record] for label in labels):
            yield (
                record,
                value,
                [matrix[labels.index((*label[:record], value, *label[record + 1 :]))] for label in labels],
            )


def definition(matrix, weights, labels, *, printed=False):
    """The least epsilon of definition 52, report by report; as printed, without reports of one case only."""
    worst = 0.0
    for record, _, changed in settings_of(matrix, labels):
        for o in range(matrix.shape[1]):
            true, after = (shares(rows, weights, labels, record, o) for rows in (matrix, changed))
            a, b = sum(true.values()), sum(after.values())
            if (a > 0) != (b > 0) and not printed:
                return math.inf
            if a > 0 and b > 0:
                worst = max([worst, *(abs(log_ratio(true[t] / a, after[t] / b)) for t in true)])
    return worst


def conditioned(matrix, weights, labels):
    """The least epsilon of definition 34: the reports of a value as they are, and after it was set to another."""
    worst = 0.0
    for record, _, changed in settings_of(matrix, labels):
        for o in range(matrix.shape[1]):
            true, after = (shares(rows, weights, labels, record, o) for rows in (matrix, changed))
            worst = max([worst, *(abs(log_ratio(true[t], after[t])) for t in true)])
    return worst


@st.composite
def cases(draw, space, positive=False):
    matrix = draw(channels(len(space), len(space), outputs=3, positive=positive))
    return matrix, draw(beliefs(len(space), positive=positive)).probabilities


@given(cases(WIDE))
def test_epsilon_is_by_bayes_rule_with_and_without_the_intervention(case):
    matrix, weights = case
    notion = InferenceBasedCausalPrivacy.of_records(WIDE, Priors.of(Prior(WIDE, weights)))
    expected = definition(matrix, weights, WIDE.labels)
    found = notion.measure(matrix)
    assert found.value == approx(expected)
    assert found.lower <= expected + 1e-12
    assert expected <= found.upper + 1e-12


@few
@given(cases(WIDE, positive=True))
def test_all_priors_are_the_supremum_over_two_secrets(case):
    matrix, weights = case
    supremum = InferenceBasedCausalPrivacy.of_records(WIDE, Priors.all()).measure(matrix).value
    assert definition(matrix, weights, WIDE.labels) <= supremum + 1e-11
    nearly = [
        definition(matrix, np.eye(6)[s] * 1e-9 + np.eye(6)[t] * (1 - 1e-9), WIDE.labels)
        for s, t in itertools.permutations(range(6), 2)
    ]
    assert max(nearly) == pytest.approx(supremum, abs=1e-6)


@given(cases(WIDE))
def test_epsilon_is_between_that_of_causal_privacy_and_twice_it_against_all_priors(case):
    matrix, _ = case
    causal = CausalPrivacy.of_records(WIDE, Priors.all()).measure(matrix).value
    found = InferenceBasedCausalPrivacy.of_records(WIDE, Priors.all()).measure(matrix).value
    assert causal - 1e-11 <= found <= 2 * causal + 1e-11


@given(cases(BITS))
def test_records_of_two_values_are_causal_privacy_against_all_priors(case):
    matrix, _ = case
    found, causal = (
        notion.of_records(BITS, Priors.all()).measure(matrix).value
        for notion in (InferenceBasedCausalPrivacy, CausalPrivacy)
    )
    assert found == approx(causal)


@given(known(positive=True))
def test_a_secret_that_is_the_record_is_information_privacy(case):
    """A report of the changed record says nothing, so the second belief is the prior."""
    matrix, prior = case
    for priors in (Priors.of(prior), Priors.all()):
        found = InferenceBasedCausalPrivacy.of_records(prior.space, priors).measure(matrix).value
        assert found == approx(InformationPrivacy(priors).measure(matrix).value)


@given(cases(WIDE, positive=True))
def test_proposition_21_between_definitions_34_and_52(case):
    matrix, weights = case
    causal, found = (by(matrix, weights, WIDE.labels) for by in (conditioned, definition))
    assert found <= 2 * causal + 1e-11
    assert causal <= 2 * found + 1e-11
    unconditioned = CausalPrivacy.of_records(WIDE, Priors.of(Prior(WIDE, weights))).measure(matrix).value
    assert unconditioned <= 2 * found + 1e-11


def test_both_factors_two_are_attained_or_approached():
    bit = Space(range(2))
    rows, prior = [[0.4, 0.6], [0.1, 0.9]], Prior(bit, [1 / 3, 2 / 3])
    found = InferenceBasedCausalPrivacy.of_records(bit, Priors.of(prior)).measure(rows).value
    assert found == pytest.approx(math.log(2))
    assert CausalPrivacy.of_records(bit, Priors.of(prior)).measure(rows).value == pytest.approx(2 * found)
    # Report 0 has the probabilities (1, 3, 3) / 300 or (3, 3, 1) / 300, as the second record decides.
    rare = np.array([1, 3, 3, 3, 3, 1]) / 300
    wide = np.column_stack([rare, 1 - rare])
    causal = CausalPrivacy.of_records(WIDE, Priors.all()).measure(wide).value
    assert causal == pytest.approx(math.log(3))
    found = InferenceBasedCausalPrivacy.of_records(WIDE, Priors.all()).measure(wide).value
    assert found == pytest.approx(2 * causal)


def test_proposition_21_needs_a_prior_that_holds_each_value_possible():
    matrix = np.array([[0.9, 0.1], [0.1, 0.9]])
    certain = Priors.of(Prior(Space(range(2)), [1.0, 0.0]))
    found = InferenceBasedCausalPrivacy.of_records(Space(range(2)), certain).measure(matrix)
    assert found.value == 0
    assert CausalPrivacy.of_records(Space(range(2)), certain).measure(matrix).value == pytest.approx(math.log(9))


def test_the_parity_of_correlated_bits_separates_definition_34_from_causal_privacy():
    parity = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    prior = Prior(BITS, [0.45, 0.05, 0.05, 0.45])
    first = CausalPrivacy.of_records(BITS, Priors.of(prior))
    assert first.measure(parity).value == pytest.approx(0, abs=1e-12)
    assert conditioned(parity, prior.probabilities, BITS.labels) == pytest.approx(math.log(9))
    conditional = [Prior(BITS, weights) for weights in ([0.9, 0.1, 0, 0], [0, 0, 0.1, 0.9])]
    first_record = CausalPrivacy(Priors.of(*conditional), first.interventions[:1])
    assert first_record.measure(parity).value == pytest.approx(math.log(9))
    found = InferenceBasedCausalPrivacy.of_records(BITS, Priors.of(prior)).measure(parity)
    assert found.value == pytest.approx(math.log(5))
    assert "record" in found.witness.note


def test_a_report_of_one_case_only_has_no_epsilon():
    """As printed, definition 52 leaves it out, and so proposition 21 fails."""
    matrix = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.5, 0.5]])
    prior = Prior(BITS, [0.5, 0.0, 0.0, 0.5])
    found = InferenceBasedCausalPrivacy.of_records(BITS, Priors.of(prior)).measure(matrix)
    assert found.value == math.inf
    assert "no epsilon is enough" in found.sentence
    printed = definition(matrix, prior.probabilities, BITS.labels, printed=True)
    assert printed == pytest.approx(math.log(1.5))
    assert conditioned(matrix, prior.probabilities, BITS.labels) == math.inf


def test_secrets_that_every_setting_changes_share_a_value():
    matrix = np.array([[0.5, 0.5], [0.3, 0.7], [0.2, 0.8]])
    prior = np.array([0.5, 0.25, 0.25])
    notion = InferenceBasedCausalPrivacy(Priors.of(Prior(Space(range(3)), prior)), [[[0, 0, 0], [2, 2, 2]]])
    # Both settings leave no trace of the secret, so the second belief is the prior.
    assert notion.measure(matrix).value == pytest.approx(np.abs(np.log(matrix / (prior @ matrix))).max())


def test_processing_and_mixtures_are_refuted_in_fractions():
    """Epsilon goes from ln 4 to ln 16 exactly: all probabilities are multiples of 1/128."""
    labels = list(WIDE.labels)

    def largest(rows):
        exact = [[Fraction(float(entry)) for entry in row] for row in rows]
        best = Fraction(1)
        for _, _, changed in itertools.islice(settings_of(np.array(exact, dtype=object), labels), 3):
            for o in range(rows.shape[1]):
                ratios = [
                    (t, row[o] / after[o])
                    for t, row, after in zip(RECORD, exact, changed, strict=True)
                    if row[o] or after[o]
                ]
                best = max([best, *(r / q for (t, r), (u, q) in itertools.permutations(ratios, 2) if t != u)])
        return best

    for trait in (Property.POST_PROCESSING, Property.CONVEXITY):
        example = answer("inference-based-causal", trait).counterexample()
        assert [largest(rows) for rows in example.before] == [4] * len(example.before)
        assert largest(example.after) == 16


def test_two_hundred_secrets_and_observables():
    matrix = np.random.default_rng(6).dirichlet(np.full(200, 3.0), 200)
    found = InferenceBasedCausalPrivacy.of_records(Space(range(200)), Priors.all()).measure(matrix)
    assert found.value == pytest.approx(np.log(matrix.max(axis=0) / matrix.min(axis=0)).max(), abs=1e-11)
    assert found.rounding < 1e-12


def test_one_secret_and_equal_rows_have_epsilon_0():
    assert InferenceBasedCausalPrivacy(Priors.all(), [[[0]]]).measure([[0.5, 0.5]]).value == 0
    equal = np.full((4, 2), 0.5)
    assert InferenceBasedCausalPrivacy.of_records(BITS, Priors.all()).measure(equal).upper == 0


def test_wrong_priors_and_interventions_are_refused():
    with pytest.raises(InputError, match="inference-based causal privacy was asked for"):
        InferenceBasedCausalPrivacy(Priors.of_range(0.1, 0.2), [[[0, 1]]])
    with pytest.raises(InputError, match="does not set the value of a record"):
        InferenceBasedCausalPrivacy(Priors.all(), [[[0, 1], [0, 0]]])  # both settings leave 0 unchanged
    with pytest.raises(
        InputError, match=r"does not set the value of a record(.|\n)*in interventions=, let the last"
    ):
        InferenceBasedCausalPrivacy(Priors.all(), [[[1, 2, 0]]])  # set once more, it changes again
    with pytest.raises(InputError, match=r"of shape \(0, 2\)"):
        InferenceBasedCausalPrivacy(Priors.all(), [np.zeros((0, 2), dtype=int)])
    with pytest.raises(InputError, match="does not set the value of a record"):
        convert(Claim("inference-based-causal", epsilon=1.0, interventions=[np.array([[1, 2, 0]])]), to="causal")
    certain = Priors.of(Prior(Space(range(2)), [1.0, 0.0]))
    setting = [np.array([[0, 0], [1, 1]])]
    with pytest.raises(InputError, match="hold each value possible"):
        convert(Claim("inference-based-causal", epsilon=1.0, priors=certain, interventions=setting), to="causal")
    with pytest.raises(InputError, match="on 4 secrets, but the mechanism has 3"):
        InferenceBasedCausalPrivacy.of_records(BITS, Priors.all()).measure(np.eye(3))
