"""Requests that a description allows, with values that exist where fields depend on the data or on each other.

Whole numbers are sent as such: for JSON Schema 21.0 is one, too, which the studio refuses.
"""

from collections.abc import Callable, Mapping
from typing import Any

from .conftest import Visitor

Fields = dict[str, Any]
REPORTS = 1_000
"""Of a walk, at most."""


class Fitted:
    """Fits requests to a workspace of values.

    Args:
        target: The workspace, with designs.
    """

    def __init__(self, target: Visitor) -> None:
        points = target.get("/frontier")["points"]
        self._ends = min(each["epsilon"] for each in points), max(each["epsilon"] for each in points)
        self._loss = min(each["loss"]["upper"] for each in points)
        self._values = len(target.get("/values")["values"])
        self._designs = [each["id"] for each in target.get()["designs"]]

    def fit(self, path: str, fields: Mapping[str, Any]) -> Fields:
        """Return the fields of a request that the workspace accepts, as near to those given as may be."""
        ways: dict[str, Callable[[Fields], Fields]] = {
            "preview": self._preview,
            "atlas": self._mechanism,
            "share": self._share,
            "walk": self._walk,
            "attack": self._attack,
            "choose": self._choose,
            "compare": self._compare,
            "designs": self._design,
            "site": self._site,
        }
        way = ways.get(path.rpartition("/")[2])
        return dict(fields) if way is None else way(dict(fields))

    def _mechanism(self, fields: Fields) -> Fields:
        """Name either an epsilon of the frontier or a design that is there."""
        if fields.get("design") is not None:
            fields["design"] = self._designs[len(fields["design"]) % len(self._designs)]
            fields.pop("epsilon", None)
        else:
            fields.pop("design", None)
            fields["epsilon"] = min(max(float(fields.get("epsilon") or 1.0), self._ends[0]), self._ends[1])
        return fields

    def _here(self, fields: Fields) -> Fields:
        """Name a value, and no point on a map."""
        fields.pop("lat", None)
        fields.pop("lon", None)
        fields["at"] = int(fields.get("at") or 0) % self._values
        return fields

    def _preview(self, fields: Fields) -> Fields:
        if fields.get("report") is not None:
            fields["report"] = int(fields["report"]) % self._values
        return self._mechanism(self._here(fields))

    def _share(self, fields: Fields) -> Fields:
        fields["times"] = int(fields.get("times", 100))
        return self._mechanism(self._here(fields))

    def _walk(self, fields: Fields) -> Fields:
        fields["path"] = [self._here(dict(each)) for each in fields["path"]]
        fields["repeat"] = min(int(fields.get("repeat", 1)), REPORTS // len(fields["path"]))
        fields.pop("near_m", None)  # too small a one makes the walk impossible
        return self._mechanism(fields)

    def _attack(self, fields: Fields) -> Fields:
        main, belief = fields.pop("main", None), fields.pop("belief", None)
        if main:
            share = max(1.0, sum(each["weight"] for each in main))
            fields["main"] = [
                {"at": int(each["at"]) % self._values, "weight": each["weight"] / share * (1 - 1e-12)}
                for each in main
            ]
        else:
            weights = [1.0, *(belief or ())][: self._values]
            fields["belief"] = weights + [0.0] * (self._values - len(weights))
        return self._mechanism(fields)

    @staticmethod
    def _one_of(fields: Fields, *names: str) -> str:
        """Keep one of several fields, the first that is there, and return its name."""
        kept = next((name for name in names if fields.get(name) is not None), "")
        for name in names:
            if name != kept:
                fields.pop(name, None)
        return kept

    def _choose(self, fields: Fields) -> Fields:
        if not self._one_of(fields, "loss_at_most", "found_at_most"):
            fields["found_at_most"] = 0.5
        return fields

    def _compare(self, fields: Fields) -> Fields:
        if self._one_of(fields, "loss", "epsilon") == "loss":
            fields["loss"] = min(fields["loss"], self._loss)
        elif "epsilon" not in fields:
            fields["loss"] = self._loss
        return fields

    def _design(self, fields: Fields) -> Fields:
        fields.pop("found_at_most", None)  # of values it cannot be searched for
        kept = self._one_of(fields, "epsilon", "loss_at_most")
        if not kept:
            fields["epsilon"] = self._ends[0]
        elif kept == "loss_at_most":
            fields.pop("distortion", None)
        return fields

    @staticmethod
    def _site(fields: Fields) -> Fields:
        """Values, of the column that there is, in a range that they have."""
        asked: Fields = {"kind": "values"}
        if isinstance(fields.get("epsilon_per_unit"), bool):
            asked["epsilon_per_unit"] = fields["epsilon_per_unit"]
        if fields.get("circular") is not None:
            asked["circular"] = 76 + int(abs(fields["circular"])) % 100
        if fields.get("column") is not None:
            asked["column"] = "age"
        if fields.get("first") is not None:
            asked["first"] = 18 + int(abs(fields["first"])) % 20
        if fields.get("last") is not None:
            asked["last"] = 40 + int(abs(fields["last"])) % 20
        return asked
