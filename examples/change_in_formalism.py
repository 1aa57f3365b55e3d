"""Figure 2.8 of Desfontaines's thesis: what four notions let a report do to the belief in a fact.

At epsilon = ln 3 each panel shows the posteriors to which a prior probability of the fact can lead, computed here
beside the published curves. The table that is printed puts both side by side. Results are
``change-in-formalism.csv`` and ``change-in-formalism.png``::

    python examples/change_in_formalism.py --out results

Source: D. Desfontaines, "Lowering the cost of anonymization", PhD thesis, ETH Zurich 2020, section 2.2.6.
"""

from collections.abc import Sequence

from sfumato.studies import change_in_formalism, save, study_options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study as the command line says."""
    with study_options(change_in_formalism.study, __doc__, arguments) as given:
        found = change_in_formalism.study(**given.arguments, progress=print)
        save(found, given.out, change_in_formalism.figures(found))


if __name__ == "__main__":
    main()
