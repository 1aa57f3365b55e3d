"""Verdicts: a refutation quotes what it refutes, and statements of ours are counted apart."""

import pytest

from sfumato_papers.reproduction import (
    NAMES,
    Judgement,
    PaperClaim,
    abstain,
    counts,
    follows,
    illustrates,
    judge,
    paper_of,
    remark,
)


def test_only_quoted_words_are_refuted():
    assert judge("Figure 1", "It falls.", False, "It rises.").verdict is Judgement.UNCONFIRMED
    assert judge("Figure 1", "It falls.", False, "It rises.", quote="the loss falls").verdict is Judgement.REFUTED
    assert follows("Figure 1", "It falls.", False, "It rises.").verdict is Judgement.UNCONFIRMED
    assert remark("Figure 1", "It falls.", False, "It rises.").verdict is Judgement.UNCONFIRMED
    with pytest.raises(ValueError, match="a refutation quotes what it refutes"):
        PaperClaim("Figure 1", "It falls.", "", False, Judgement.REFUTED, "It rises.")
    with pytest.raises(ValueError, match="a statement of ours has no quotation"):
        PaperClaim("Figure 1", "It falls.", "the loss falls", True, Judgement.CONFIRMED, "It falls.")
    with pytest.raises(ValueError, match="a statement of ours has no quotation"):
        follows("Figure 1", "It falls.", True, "It falls.", quote="the loss falls", is_ours=True)


def test_statements_of_ours_are_counted_apart():
    claims = [
        judge("Figure 1", "It falls.", True, "It falls."),
        judge("Figure 2", "It falls.", False, "It rises."),
        follows("Figure 3", "It falls.", True, "It falls."),
        abstain("Figure 4", "It falls.", "Its values are not at hand."),
        remark("Figure 5", "It falls.", True, "It falls."),
    ]
    assert counts([(claim.ours, claim.verdict) for claim in claims]) == (
        "Published claims: 1 confirmed, 0 refuted, 1 not confirmed, 1 not checkable; 1 by construction; "
        "statements of ours: 1 confirmed, 0 not confirmed."
    )
    own = [
        follows("Figure 6", "It falls.", True, "It falls.", is_ours=True),
        follows("Figure 7", "It falls.", False, "It rises.", is_ours=True),
    ]
    assert [claim.verdict for claim in own] == [Judgement.FOLLOWS, Judgement.UNCONFIRMED]
    assert counts([(claim.ours, claim.verdict) for claim in (*claims, *own)]) == (
        "Published claims: 1 confirmed, 0 refuted, 1 not confirmed, 1 not checkable; 1 by construction; "
        "statements of ours: 1 confirmed, 1 not confirmed, 1 by construction."
    )


def test_every_paper_names_the_text_that_it_is_quoted_from():
    for name in NAMES:
        version = paper_of(name).version
        assert version.startswith(("Quoted from ", "No text was available")), version
        assert version.endswith(".")


def test_what_a_run_can_only_show_is_not_contradicted_by_it():
    shown = illustrates("Figure 1", "Some falls.", True, "It falls.", quote="some fall")
    assert shown.verdict is Judgement.CONFIRMED
    hidden = illustrates("Figure 1", "Some falls.", False, "None falls.", quote="some fall")
    assert (hidden.verdict, hidden.quote) == (Judgement.OPEN, "some fall")
