"""Pufferfish privacy of rival facts, and causal privacy of interventions."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from ...core import Prior, Space
from ...core.arrays import Bools, Floats, Positions, any_array, readonly
from ...core.immutable import CompactRepr, assign
from ...core.naming import label_phrase
from ...errors import InputError, argument, python
from ...rounding import log_error, log_errors
from ..notion import Description, Finding, Witness
from ..point.differential import DifferentialPrivacy
from ..relation import Relation
from ..rows import AnyMechanism, channel, check_size
from .attackers import AgainstPriors, Events, Priors, events_on
from .posterior import compare_rivals, largest_log, scenarios, terms


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rivals(CompactRepr):
    """Facts about the secret and which pairs of them must look alike.

    Raises `InputError` if the arrays do not go together, or two rivals share a secret.

    Attributes:
        facts: Boolean array (k, n): whether each fact is true of each secret.
        pairs: Boolean array (k, k), symmetric: which facts are compared.
    """

    facts: Bools
    pairs: Bools

    def __init__(self, facts: ArrayLike, pairs: ArrayLike) -> None:
        masks, related = np.array(any_array(facts, "facts=")), np.array(any_array(pairs, "pairs="))
        square = masks.ndim == 2 and related.shape == (len(masks), len(masks))
        booleans = masks.dtype == np.bool_ and related.dtype == np.bool_
        if not square or not booleans or not (related == related.T).all():
            raise InputError(
                f"facts of shape {masks.shape} and pairs of shape {related.shape} do not go together.",
                "pass booleans, arrays (k, n) and (k, k), the second symmetric.",
            )
        counts = masks.astype(np.int64)
        overlap = related & (counts @ counts.T > 0)
        if overlap.any():
            i, j = np.argwhere(overlap)[0]
            raise InputError(
                f"the rival facts {i} and {j} are true of the same secret.",
                "rivals exclude each other: take the shared secrets out of one of them.",
            )
        assign(self, facts=readonly(masks), pairs=readonly(related))

    @classmethod
    def of_pairs(cls, space: Space, pairs: Iterable[tuple[Iterable[Hashable], Iterable[Hashable]]]) -> Rivals:
        """Return the rivals of pairs of sets of labels; each pair counts in both orders."""
        groups = [space.positions(group) for pair in pairs for group in pair]
        facts = np.zeros((len(groups), len(space)), dtype=np.bool_)
        for fact, group in zip(facts, groups, strict=True):
            fact[group] = True
        first = np.arange(0, len(groups), 2)
        related = np.zeros((len(groups), len(groups)), dtype=np.bool_)
        related[first, first + 1] = related[first + 1, first] = True
        return cls(facts, related)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _OfInterventions(AgainstPriors, CompactRepr):
    """A notion against priors, of records that are set to other values."""

    priors: Priors
    interventions: tuple[Positions, ...]
    names: tuple[tuple[str, list[str]], ...]  # of each record and of its values

    def __init__(
        self, priors: Priors, interventions: Iterable[ArrayLike] | Mapping[Any, Mapping[Any, ArrayLike]]
    ) -> None:
        if priors.interval not in (None, (0.0, 1.0)) or (priors.listed and priors.interval is not None):
            raise InputError(f"{self.title} was asked for {priors}.", "pass Priors.of(...) or Priors.all().")
        names: list[tuple[str, list[str]]] = []
        rows: list[Any] = list(interventions)
        if isinstance(interventions, Mapping):
            for record, settings in interventions.items():
                if not isinstance(settings, Mapping):
                    raise InputError(
                        f"the interventions on record {label_phrase(record)} have no values.",
                        python("pass {record: {value: positions}}, or arrays alone."),
                    )
                names.append((label_phrase(record), list(map(label_phrase, settings))))
            rows = [list(settings.values()) for settings in interventions.values()]
        arrays = tuple(np.array(any_array(row, "an intervention"), ndmin=1) for row in rows)
        if not arrays:
            raise InputError("no intervention was given.", "pass one array (values, secrets) for each record.")
        size = arrays[0].shape[-1]
        for array in arrays:
            fits = array.ndim == 2 and array.size > 0 and array.dtype.kind in "iu" and array.shape[1] == size
            if not fits or (array < 0).any() or (array >= size).any():
                raise InputError(
                    f"an intervention was given as an array of {array.dtype} of shape {array.shape}.",
                    f"pass positions of the {size} secrets, array (values, secrets).",
                )
        if not isinstance(interventions, Mapping):
            names = [
                (str(record), [f"its value {value}" for value in range(len(array))])
                for record, array in enumerate(arrays)
            ]
        positions = tuple(readonly(array.astype(np.intp)) for array in arrays)
        assign(self, priors=priors, interventions=positions, names=tuple(names))

    @classmethod
    def of_records(cls, space: Space, priors: Priors) -> Self:
        """Return the notion for secrets that are tuples of records: each may be set to any of its values.

        The space holds all combinations of the records' values, as tuples of one length. Raises `InputError` if
        tuples differ in length, or a combination is missing.
        """
        labels = [label if isinstance(label, tuple) else (label,) for label in space.labels]
        if len({len(label) for label in labels}) != 1:
            raise InputError("the secrets are tuples of different lengths.", "pass one entry per record.")
        interventions = {}
        for record in range(len(labels[0])):
            values = dict.fromkeys(label[record] for label in labels)
            interventions[record] = {
                value: [_position(space, base, record, value) for base in labels] for value in values
            }
        return cls(priors, interventions)

    def _matrix(self, mechanism: AnyMechanism) -> Floats:
        """Return the rows; raise InputError if the interventions or the priors are not on its secrets."""
        matrix = channel(mechanism).matrix
        size, hint = self.interventions[0].shape[1], "use interventions on the mechanism's secrets."
        check_size("the interventions are on", size, len(matrix), hint)
        scenarios(self.priors, matrix)
        return matrix


@final
@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class CausalPrivacy(_OfInterventions):
    """Causal privacy: setting a record to another value changes the reports by at most a factor e**epsilon.

    P[o | do(record = t)] <= e**epsilon P[o | do(record = t')],
    P[o | do(record = t)] = sum over s of prior(s) p(o | s with the record set to t)

    Noiseless privacy conditions on the record's value, and so includes its correlations with other records; here
    the record is changed after the data were generated, and correlations do not count. Against all priors it is
    differential privacy of the pairs of secrets that the interventions make; where the secret is the record
    itself, this holds for every prior. Definition 34 of Desfontaines conditions on the value that the record has
    before it is set: pass a prior for each such value. Raises `InputError` if an intervention is not an array of
    positions of one number of secrets, or the priors are an interval.

    Attributes:
        priors: Given priors, or all.
        interventions: For each record, array (values, n) of positions: entry [t, s] is the secret that s becomes
            when the record is set to value t. Named records and values are ``{record: {value: positions}}``.

    Source:
        Tschantz, Sen and Datta, S&P 2020; compare Desfontaines, definition 34.
    """

    description = Description(
        "causal",
        "causal privacy",
        question="By which factor do reports change if a record is set to another value and all else stays?",
        promise=(
            "no report is more than e^{epsilon} times as likely after a record was set to one value as "
            "after it was set to another"
        ),
        source="Tschantz, Sen and Datta, S&P 2020; compare Desfontaines, definition 34",
        context=("priors", "interventions"),
        essentials=("interventions",),
    )
    certainty = "some report shows how a record was set"
    limit = "setting a record to another value makes no report more than {factor} times as likely"

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        matrix = self._matrix(mechanism)
        if not self.priors.listed:
            return replace(DifferentialPrivacy(self.relation).measure(mechanism), notion=self)
        value, upper, witness = 0.0, 0.0, Witness()
        for prior in self.priors.listed:
            for (record, values), intervention in zip(self.names, self.interventions, strict=True):
                # The prior after each setting of the record, array (values, n).
                laws = [np.bincount(ends, prior.probabilities, minlength=len(matrix)) for ends in intervention]
                rows = np.stack(laws) @ matrix
                for first, row in enumerate(rows):
                    log, second, output = largest_log(row, rows)
                    upper = max(upper, log + log_error(log, terms(prior)))
                    if log > value:
                        note = f"record {record} set to {values[first]} and to {values[second]}"
                        value = log
                        witness = Witness(None, readonly(np.array([output])), prior.probabilities, note=note)
        return Finding(self, value, upper - value if math.isfinite(value) else 0.0, witness)

    @property
    def relation(self) -> Relation:
        """The pairs of secrets that setting a record to two values makes from one secret."""
        return intervention_pairs(self.interventions)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InferenceBasedCausalPrivacy(_OfInterventions):
    """Inference-based causal privacy: a report says about a record nearly what it says if the record is set first.

    e**-epsilon <= P[t | o] / P[t | o after do(record = t')] <= e**epsilon
    for all priors, records, values t and t', and single reports o. By Bayes' rule
    P[t | o after do(record = t')] is proportional to the sum over s with value t of
    prior(s) p(o | s with the record set to t').

    A report that is possible in one of the two cases only leaves no second belief: no epsilon is enough.
    Definition 52 leaves such reports out, and then does not bound causal privacy. Against all priors, with
    r(s) = p(o | s) / p(o | s with the record set to t'), epsilon is the largest ln(r(s) / r(s')) of two secrets
    with different values of the record. It is between the epsilon of causal privacy and twice it
    (docs/proofs/bayesian-notions.md). Where the secret is the record itself it is information privacy. What an
    attacker knows beforehand is a prior of its own. Raises `InputError` as `CausalPrivacy` does, or if the
    interventions do not set a value: the last of two settings must decide, and different settings differ.

    Attributes:
        priors: Given priors, or all.
        interventions: As for `CausalPrivacy`. A secret has value t where setting t leaves it as it is. Secrets
            that every setting changes share one more value.

    Source:
        Desfontaines, definition 52, after Tschantz, Sen and Datta, S&P 2020.
    """

    description = Description(
        "inference-based-causal",
        "inference-based causal privacy",
        question="By which factor does what a report says about a record depend on the record's influence on it?",
        promise=(
            "what a report makes of the probability of a record's value changes by at most a factor e^{epsilon} "
            "if the record was set to another value before the report"
        ),
        source="Desfontaines, definition 52",
        context=("priors", "interventions"),
        essentials=("interventions",),
    )
    on_request = True
    certainty = "some report is possible only with, or only without, a record's true value"
    limit = (
        "setting a record to another value before the report changes the later probability of each of its values "
        "by at most a factor of {factor}"
    )

    def __init__(
        self, priors: Priors, interventions: Iterable[ArrayLike] | Mapping[Any, Mapping[Any, ArrayLike]]
    ) -> None:
        _OfInterventions.__init__(self, priors, interventions)
        for images in self.interventions:
            record_values(images)

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        matrix = self._matrix(mechanism)
        value, upper, witness = 0.0, 0.0, Witness()
        for (record, labels), images in zip(self.names, self.interventions, strict=True):
            kinds, values = np.unique(record_values(images), return_inverse=True)
            masks = values == np.arange(len(kinds))[:, None]
            for prior in scenarios(self.priors, matrix):
                for setting, ends in enumerate(images):
                    logs, errors = _belief_changes(matrix, matrix[ends], masks, prior)
                    upper = max(upper, float((logs + errors).max()))
                    if logs.max() > value:
                        at, output = np.unravel_index(int(logs.argmax()), logs.shape)
                        value = float(logs[at, output])
                        note = f"record {record} set to {labels[setting]}"
                        if prior is None:
                            note += ", approached as the prior probability of the event tends to 0"
                        belief = None if prior is None else prior.probabilities
                        event = readonly(np.flatnonzero(masks[at]))
                        witness = Witness(None, readonly(np.array([output])), belief, event, note)
        return Finding(self, value, upper - value if math.isfinite(value) else 0.0, witness)


@final
@dataclass(frozen=True, slots=True)
class Pufferfish(AgainstPriors):
    """Pufferfish privacy: p(o | fact, prior) <= e**epsilon p(o | rival, prior).

    It is distribution privacy of the priors conditioned on the facts; a pair in which the prior holds a fact
    impossible is not compared. With the values of an attribute as rivals it is attribute privacy (and noiseless
    privacy), with all single secrets and all priors it is differential privacy of all pairs.

    Attributes:
        priors: The beliefs (the "data generating distributions").
        rivals: The facts (the "discriminative pairs"): given pairs, the values of an attribute, or facts against
            their opposites; every two secrets if None.

    Example:
        >>> import sfumato as sf
        >>> space = sf.Space("abc")
        >>> rivals = Rivals.of_pairs(space, [("a", "bc")])
        >>> given = Priors.of(sf.Prior(space, [0.5, 0.25, 0.25]))
        >>> Pufferfish(given, rivals).measure([[0.5, 0.5], [0.25, 0.75], [0.25, 0.75]])
        Pufferfish privacy: epsilon 0.693147
    """

    description = Description(
        "pufferfish",
        "Pufferfish privacy",
        question="By which factor can a report favour a fact over its rival?",
        promise="no report is more than e^{epsilon} times as likely given one fact as given its rival",
        source="Kifer and Machanavajjhala, TODS 2014; Desfontaines, definition 35",
        context=("priors", "rivals"),
    )
    on_request = True
    certainty = "some report decides between two rival facts"
    limit = "every report is at most {factor} times as likely if one fact is true as if its rival is"

    priors: Priors
    rivals: Rivals | Events | None = None

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        if not isinstance(self.rivals, Rivals):
            events = events_on(self.rivals, len(channel(mechanism).matrix))
            return compare_rivals(self, mechanism, *events.rivals)
        size, n = self.rivals.facts.shape[1], len(channel(mechanism).matrix)
        check_size("the facts are about", size, n, "state facts about the mechanism's secrets.")
        return compare_rivals(self, mechanism, self.rivals.facts, self.rivals.pairs)


def record_values(images: Positions) -> Positions:
    """Return the value of a record in each secret, array (n,); the number of settings where every one changes it.

    Raises `InputError` if two settings leave a secret as it is, or the last of two settings does not decide.
    """
    identity = images == np.arange(images.shape[1])
    if (identity.sum(axis=0) > 1).any() or any((images[:, row] != images).any() for row in images):
        raise InputError(
            "an intervention does not set the value of a record.",
            f"in {argument('interventions')}, let the last of two settings decide, and at most one leave a "
            "secret as it is.",
        )
    return np.where(identity.any(axis=0), identity.argmax(axis=0), len(images))


def _belief_changes(matrix: Floats, changed: Floats, masks: Bools, prior: Prior | None) -> tuple[Floats, Floats]:
    """Return |ln| of the quotient of both beliefs in each value after each report, (values, m), and error bounds.

    ``changed`` has the rows of the secrets after the record was set, array (n, m). For None it is the supremum
    over all priors. Beliefs that are both 0 have the quotient 1.
    """
    if prior is None:
        ratios = _log_ratios(matrix, changed)
        high = np.array([np.fmax.reduce(ratios[mask], axis=0, initial=-np.inf) for mask in masks])
        low = np.array([np.fmin.reduce(ratios[mask], axis=0, initial=np.inf) for mask in masks])
        with np.errstate(invalid="ignore"):
            rise, fall = high - _least_of_rest(low), -_least_of_rest(-high) - low
        logs = np.maximum(np.maximum(rise, fall), 0.0)
        logs[:, np.isinf(ratios).any(axis=0)] = np.inf
        sizes = np.nan_to_num(np.abs(ratios), nan=0.0, posinf=0.0).max(axis=0)
        return logs, np.broadcast_to(2 * log_errors(sizes), logs.shape)
    weights = np.where(masks, prior.probabilities, 0.0)
    true, after = weights @ matrix, weights @ changed
    parts, whole = _log_ratios(true, after), _log_ratios(true.sum(axis=0), after.sum(axis=0))
    with np.errstate(invalid="ignore"):
        logs = np.where(np.isinf(whole), np.inf, np.abs(parts - whole))
    errors = log_errors(parts, terms(prior)) + log_errors(whole, 2 * terms(prior))
    return np.where(np.isnan(parts), 0.0, logs), np.nan_to_num(errors)


def _least_of_rest(values: Floats) -> Floats:
    """Return the least of the other entries of each column, same shape; ``inf`` where there is none."""
    least, columns = values.argmin(axis=0), np.arange(values.shape[1])
    answer = np.broadcast_to(values[least, columns], values.shape).copy()
    rest = values.copy()
    rest[least, columns] = np.inf
    answer[least, columns] = rest.min(axis=0)
    return answer


def _log_ratios(first: Floats, second: Floats) -> Floats:
    """Return ln(first / second), NaN where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs: Floats = np.log(first / second)
    return logs


def intervention_pairs(interventions: Sequence[Positions]) -> Relation:
    """Return the pairs of secrets that setting a record to two values makes from one secret."""
    size = interventions[0].shape[1]
    array = np.zeros((size, size), dtype=np.bool_)
    for intervention in interventions:
        for images in intervention:
            array[np.broadcast_to(images, intervention.shape), intervention] = True
    return Relation(array, "secrets that differ in one record")


def setting_pairs(interventions: Sequence[Positions]) -> Relation:
    """Return the pairs of secrets and what setting a record makes of them, in both orders."""
    return intervention_pairs([np.vstack([np.arange(images.shape[1]), images]) for images in interventions])


def _position(space: Space, label: tuple[object, ...], record: int, value: object) -> int:
    changed = (*label[:record], value, *label[record + 1 :])
    return space.position(changed if isinstance(space.labels[0], tuple) else value)
