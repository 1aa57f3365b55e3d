"""Several columns as one space: every combination of their values is a label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .arguments import checked
from .arrays import Floats
from .space import Space

MOST_COMBINATIONS: Final = 10_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JointSpace(Space):
    """All combinations of the values of several columns, such as ``("flu", "f")``.

    A label is a tuple with one value of each column; the last column changes fastest.

    Args:
        parts: The possible values of each column, by its name; at least two columns.

    Attributes:
        names: The names of the columns.

    Raises:
        InputError: If there are fewer than two columns, or too many combinations.

    Example:
        >>> import sfumato as sf
        >>> both = sf.JointSpace({"diagnosis": sf.Space(["flu", "cold"]), "sex": sf.Space("fm")})
        >>> both.labels
        (('flu', 'f'), ('flu', 'm'), ('cold', 'f'), ('cold', 'm'))
        >>> both.margin("sex")
        array([[1., 0., 1., 0.],
               [0., 1., 0., 1.]])
    """

    names: tuple[str, ...] = field(init=False)
    parts: tuple[Space, ...] = field(init=False)

    @checked
    def __init__(self, parts: Mapping[str, Space]) -> None:
        names, spaces = tuple(parts), tuple(parts.values())
        if len(parts) < 2 or not all(isinstance(name, str) for name in names):
            raise InputError(
                f"the columns {names} were given, but a joint space is of two or more, each with a name.",
                "pass the possible values of each column by its name.",
            )
        if any(isinstance(space, JointSpace) for space in spaces):
            raise InputError("a column is itself a joint space.", "name all columns side by side.")
        size = prod(map(len, spaces))
        if size > MOST_COMBINATIONS:
            raise InputError(
                f"the columns have {' x '.join(f'{len(space):,}' for space in spaces)} = {size:,} combinations, "
                f"more than {MOST_COMBINATIONS:,}.",
                "use fewer or wider values, or divide the budget among the columns.",
            )
        Space.__init__(self, product(*(space.labels for space in spaces)))
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "parts", spaces)

    def joined(self, positions: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
        """Return the positions of combinations, array (n,); -1 where a column has none of its values.

        Args:
            positions: For each column, the positions of its values, array (n,), with -1 for none.
        """
        found = np.zeros_like(positions[0])
        for space, mine in zip(self.parts, positions, strict=True):
            found = found * len(space) + mine
        missing = np.any([mine < 0 for mine in positions], axis=0)
        return np.where(missing, -1, found)

    def of_part(self, name: str) -> NDArray[np.intp]:
        """Return, for each combination, the position of one column's value, array (n,)."""
        place = self._place(name)
        after = prod(map(len, self.parts[place + 1 :]))
        return np.arange(len(self)) // after % len(self.parts[place])

    def margin(self, name: str) -> Floats:
        """Return which combinations have each value of one column, array (values, n) of 0 and 1.

        Its product with the shares of the combinations are the shares of the column's values.
        """
        found: Floats = (self.of_part(name) == np.arange(len(self.parts[self._place(name)]))[:, None]).astype(
            float
        )
        return found

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise InputError(
                f"the joint space has no column {name!r}.", f"its columns are {', '.join(map(repr, self.names))}."
            )
        return self.names.index(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JointSpace) and self.names == other.names and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((self.names, self.labels))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return JointSpace, (dict(zip(self.names, self.parts, strict=True)),)
