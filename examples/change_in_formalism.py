"""Figure 2.8 of Desfontaines's thesis: what four notions let a report do to the belief in a fact.

At epsilon = ln 3 each panel shows the posteriors to which a prior probability of the fact can lead, computed here
beside the published curves. The table that is printed puts both side by side. Results are
``change-in-formalism.csv`` and ``change-in-formalism.png``::

    python examples/change_in_formalism.py --out results

Source: D. Desfontaines, "Lowering the cost of anonymization", PhD thesis, ETH Zurich 2020, section 2.2.6.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sfumato.studies import change_in_formalism, save


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table and write the figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(), help="the folder of the results")
    given = parser.parse_args(arguments)
    found = change_in_formalism.study()
    shown = Table(title="Figure 2.8 at epsilon = ln 3", title_justify="left")
    for heading in ("notion", "bound", "prior", "computed", "published", "difference"):
        shown.add_column(heading, justify="left" if heading in ("notion", "bound") else "right")
    for value in found.values:
        numbers = (
            f"{value.prior:.4f}",
            f"{value.computed:.6f}",
            f"{value.published:.4f}",
            f"{value.difference:+.5f}",
        )
        shown.add_row(value.panel, value.bound, *numbers)
    console = Console(highlight=False, width=110)
    console.print(shown)
    most, open_ = found.largest_difference, change_in_formalism.READ
    console.print(f"The largest difference is {most:.1e}; reading a drawing leaves {open_:.0e} open.")
    save(found, given.out, change_in_formalism.figures(found))


if __name__ == "__main__":
    main()
