"""Sentences on the guarantees of a release: of one report, and of all reports of one person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from ..core import Randomizer
from ..errors import InputError
from ..escaping import plain
from ..proofs import ReportBound, Stated, prove
from ..rounding import amount_at_most, at_most, counted, float_above
from .person_limits import People

_SHOWN: Final = 3  # mechanisms, or kinds of promises, in sentences
Promises = Mapping[str, tuple[ReportBound, ...]]
Kind = tuple[str, str, str, str]
Kinds = dict[Kind, ReportBound]
_UNLIKE: Final = "the mechanisms have different guarantees, so no single number covers all of them"
_WITHOUT: Final = "not all mechanisms have a guarantee, so nothing bounds the total of the reports"
_ANYBODY: Final = "for any two true values"


def report_bounds(mechanism: Randomizer) -> tuple[ReportBound, ...]:
    """Return a proved bound of one report for each guarantee that the mechanism states."""
    proofs = prove(mechanism)
    for each in proofs:
        if isinstance(each, Stated):
            raise InputError(
                f"the mechanism states {each.guarantee}, "
                + (
                    "which cannot be proved of mechanisms of its kind: nothing was drawn."
                    if each.upper is None
                    else f"but its integers give an epsilon of up to {at_most(each.upper, 9)}: nothing was drawn."
                ),
                "design it again, or state a guarantee that holds.",
            )
    return tuple(each.bound for each in proofs if not isinstance(each, Stated))


def sentences(promises: Promises, people: People, *, columnwise: bool = False) -> tuple[str, ...]:
    """Return sentences on the guarantee of a release and its cost for one person."""
    said = []
    shown = [(name, each) for name, bounds in promises.items() for each in bounds]
    for name, each in shown[: None if columnwise else _SHOWN]:
        of = f" of {plain(name)!r}" if name else ""
        said.append(f"Proved from {each.source}{of}: {each.sentence}")
    if len(shown) > _SHOWN and not columnwise:
        said.append(f"Proved likewise: {len(shown) - _SHOWN:,} more guarantees of the other mechanisms.")
    bare = [name for name, bounds in promises.items() if not bounds]
    if bare:
        whose = (
            "The mechanism"
            if len(promises) == 1
            else f"The mechanism of {', '.join(repr(plain(name)) for name in bare)}"
            if columnwise
            else f"{len(bare):,} of the mechanisms"
        )
        said.append(f"{whose} states no guarantee that can be proved from integers here: its reports have none.")
    kinds = [_tightest(bounds) for bounds in promises.values()]
    if columnwise:
        total, joint = _together(kinds)
        return (*said, joint, *_of_people([] if total is None else [total], people))
    return (*said, *_of_people(kinds, people))


def bounds_of_report(promises: Promises, *, columnwise: bool = False) -> tuple[ReportBound, ...]:
    """Return the bounds on a report of any mechanism (``columnwise``: on all columns of a row), by kind."""
    kinds = [_tightest(bounds) for bounds in promises.values()]
    if columnwise:
        total = _together(kinds)[0]
        kinds = [] if total is None else [total]
    return tuple(map(_worst, _shared(kinds))) if kinds else ()


def _tightest(found: Iterable[ReportBound]) -> Kinds:
    """Return the best guarantee of each kind that one mechanism states."""
    best: Kinds = {}
    for each in found:
        best[each.kind] = min(best.get(each.kind, each), each, key=lambda one: (one.epsilon, one.slack_m))
    return best


def _shared(kinds: Sequence[Kinds]) -> list[list[ReportBound]]:
    """Return the guarantees of each kind that all mechanisms state, kind by kind."""
    return [[of[kind] for of in kinds] for kind in kinds[0] if all(kind in of for of in kinds)]


def _worst(parts: Sequence[ReportBound]) -> ReportBound:
    """Return what holds of any one report, whichever of these guarantees of one kind it comes with."""
    return replace(
        parts[0],
        epsilon=max(each.epsilon for each in parts),
        slack_m=max(each.slack_m for each in parts),
        confirmed=all(each.confirmed for each in parts),
    )


def _together(kinds: Sequence[Kinds]) -> tuple[Kinds | None, str]:
    """Return the joint guarantee of the columns of one row, where that is a number, and the same in words."""
    columns = f"Together the {len(kinds)} columns of a row are drawn independently"
    if not all(kinds):
        return None, f"{columns}; nothing bounds all of them, because not all have a guarantee."
    shared = [parts for parts in _shared(kinds) if parts[0].any_two or not parts[0].distance]
    columns += ", and their guarantees add up"
    if not shared:
        return None, f"{columns}; they are of different kinds, so no single number says it."
    totals, written = {}, []
    for parts in shared:
        total = float_above(sum((Fraction(each.epsilon) for each in parts), Fraction(0)))
        whom = parts[0].whom and f"{parts[0].whom} in each of these columns"
        sure = all(each.confirmed for each in parts)
        totals[parts[0].kind] = replace(parts[0], epsilon=total, whom=whom, confirmed=sure)
        summed = " + ".join(at_most(each.epsilon, 6) for each in parts)
        whom = whom or "for any two people, whichever of these columns they differ in"
        written.append(f"{parts[0].measure} {summed}, at most {at_most(total, 6)} {whom}")
    return totals, f"{columns}: {'; '.join(written)}."


def _of_people(kinds: Sequence[Kinds], people: People) -> tuple[str, ...]:
    """Return sentences on the total of one person's reports, from the best guarantees of each mechanism."""
    if people.most is None:
        return (f"No column names the users, so the reports of one person cannot be counted{_of_any(kinds)}.",)
    most = people.most
    if not most:
        return ()
    whose = "" if people.users is None else f" ({counted(people.users, 'user')})"
    said = f"The source asks for {'' if people.exact else 'at most '}{counted(most, 'report')} of one person"
    shared = _totals(_shared(kinds), most) if kinds else []
    if kinds and not any(kinds):
        lines = [f"{said}{whose}."]
    elif not kinds:
        lines = [f"{said}{whose}{f': {most:,} times what is proved of each column' if most > 1 else ''}."]
    elif shared:
        lines = [f"{said}: {_listed(shared)}{whose}."]
    else:
        lines = [f"{said}{whose}; {_WITHOUT if not all(kinds) else _UNLIKE}.", _by_kind(kinds, most)]
    if people.nameless:
        rows, names = counted(people.nameless, "row"), "names" if people.nameless == 1 else "name"
        lines.append(f"{rows} {names} no user and may be anyone's: counted with every person's.")
    if people.assumed:
        rows = "the row is" if people.rows == 1 else f"all {people.rows:,} rows are"
        lines.append(f"It is not stated whose the rows are: {rows} counted as one person's.")
    return tuple(lines)


def _of_any(kinds: Sequence[Kinds]) -> str:
    """Return the total of k reports of one person, as the end of a sentence."""
    if kinds and not any(kinds):
        return ""
    if not kinds:
        return ": k reports of one person add up to k times what is proved of each column"
    shared, several = _shared(kinds), len(kinds) > 1
    if not shared:
        return f"; {_WITHOUT if not all(kinds) else _UNLIKE}"
    measures = {parts[0].measure for parts in shared}
    measure = measures.pop() if len(measures) == 1 else "what is proved of one"
    most = "at most k times" if several else "k times"
    return f": k reports of one person add up to {most} {_largest(measure, several=several)}"


def _by_kind(kinds: Sequence[Kinds], most: int) -> str:
    """Return the total of reports that all come with a guarantee of one kind, kind by kind."""
    groups: dict[Kind, list[ReportBound]] = {}
    for best in kinds:
        for kind, each in best.items():
            groups.setdefault(kind, []).append(each)
    parts = list(dict.fromkeys(_totals(list(groups.values()), most)))
    begin = "By kind of guarantee" if most == 1 else "Where all have a guarantee of one kind"
    return f"{begin}: {_listed(parts)}."


def _totals(groups: Sequence[Sequence[ReportBound]], most: int) -> list[str]:
    """Return the total of so many reports, for each kind of guarantee."""
    worst = [(_worst(group), len(group) > 1) for group in groups]
    if len(worst) > 1:  # or the sentence before says for whom
        worst = [(replace(each, whom=_ANYBODY) if each.any_two else each, many) for each, many in worst]
    return [_times(each, most, several=many) for each, many in worst]


def _times(promise: ReportBound, most: int, *, several: bool) -> str:
    total = at_most(float_above(Fraction(promise.epsilon) * most), 6)
    total += f"/{plain(promise.unit)}" if promise.unit else ""
    total += f" {promise.whom}" if promise.whom else ""
    total += f", with {amount_at_most(promise.slack_m, 'm')} added to every distance" if promise.slack_m else ""
    total += ", at the largest of their distances" if several and promise.middles and promise.unit else ""
    measure = _largest(promise.measure, several=several)
    said = f"{most:,} times {measure}, {total}" if most > 1 else f"{measure} once, {total}"
    return f"at most {said}" if several else said


def _largest(measure: str, *, several: bool) -> str:
    return f"the largest {measure}" if several and measure in ("epsilon", "rho") else measure


def _listed(parts: Sequence[str]) -> str:
    more = len(parts) - _SHOWN
    return "; ".join([*parts[:_SHOWN], *([f"and likewise for {more:,} more"] if more > 0 else [])])
