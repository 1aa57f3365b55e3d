"""Columns of a released table beside the reports: what is carried over because it was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..core.immutable import CompactRepr
from ..errors import DataError, InputError, argument
from ..escaping import plain

_SHOWN = 12  # names of columns in a sentence


@dataclass(frozen=True, slots=True, repr=False)
class Disclosed(CompactRepr):
    """The columns that are carried over and those that are left out.

    Attributes:
        kept: From the name in the released table to the column of the source.
        left_out: The other columns of the source.
    """

    kept: Mapping[str, str]
    left_out: tuple[str, ...]

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        keep: Iterable[str],
        secret: Iterable[str | None],
        roles: Mapping[str, str | None],
    ) -> Disclosed:
        """Return what becomes of columns.

        Args:
            columns: All columns of the source.
            keep: The names to keep: columns, or roles where no column has such a name.
            secret: The columns that hold the secret itself.
            roles: The columns that hold users and times, by role.

        Raises:
            DataError: If no column has the name.
            InputError: If it holds the secret.
        """
        kept: dict[str, str] = {}
        hidden = {name for name in secret if name is not None}
        for name in keep:
            column = name if name in columns else roles.get(name)
            if column is None:
                known = [each for each in columns if each not in hidden]
                raise DataError(
                    f"there is no column {name!r} to keep.",
                    f"the source has {', '.join(known)} beside its secrets."
                    if known
                    else f"the source has nothing beside its secrets: leave out {argument('keep')}.",
                )
            if column in hidden:
                raise InputError(
                    f"the column {column!r} holds what the reports hide, so it is never kept.",
                    f"leave it out of {argument('keep')}.",
                )
            kept[name] = column
        return cls(kept, tuple(name for name in columns if name not in kept.values()))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The columns that stay and those that go, in words."""
        left = f"Left out: {_listed(self.left_out)}." if self.left_out else ""
        stays = (
            f"Carried over unchanged, because you named it: {_listed(self.kept)}. The promise does not cover "
            "it: a "
            "precise time, the name of a place or a rare value can give the secret away."
            if self.kept
            else "No other column is carried over."
        )
        return tuple(each for each in (stays, left) if each)


def _listed(names: Iterable[str]) -> str:
    shown = [plain(name) for name in names]
    return ", ".join(
        shown if len(shown) <= _SHOWN else [*shown[: _SHOWN - 1], f"and {len(shown) - _SHOWN + 1} more"]
    )
