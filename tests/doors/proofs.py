"""Files of each kind, and what is proved of them from nothing but the file."""

from pathlib import Path
from typing import Any, Final

import sfumato as sf

from .designs import INNER, KEPT

VECTORS: Final = Path(__file__).parent / "vectors"
FORMAT: Final = Path(__file__).parents[1] / "files" / "vectors"
FILES: Final = {path.stem: path for path in sorted(FORMAT.glob("*.sfm"))} | {
    f"design {name}": VECTORS / f"{name}.sfm" for name in (*KEPT, "tuple")
}
"""Paths of files by name: the vectors of the format, and designs."""


def tupling() -> sf.MechanismFile:
    """Return a mechanism with dummies and what is promised of a tuple."""
    drawn = sf.mechanisms.Tupling(INNER, 8, [0.25] * 4)
    return sf.MechanismFile(drawn, guarantees=[sf.mechanisms.TuplePrivacy(0.5, 0.01)])


def read(path: Path) -> Any:
    """Return all that a file holds."""
    return sf.read_mechanism_file(path)


def proved(path: Path) -> dict[str, Any]:
    """Return what is proved of each promise of a file; where integers decide, to the last bit."""
    file = read(path)
    if not file.has_matrix:
        proof = file.noise_proof
        return {"noise": [proof.upper, proof.slack_m, proof.reach_m, proof.holds]}
    epsilons, distortions = sf.proofs.prove_guarantees(file.report_channel, file.prior, file.guarantees)
    facts: dict[str, Any] = {
        "epsilon": [[each.claimed, each.upper, list(each.worst_pair), each.holds] for each in epsilons],
        "distortion": [[each.claimed, each.lower, each.holds] for each in distortions],
    }
    if file.constraints:
        proofs = [sf.proofs.prove_constraint(file.report_channel, each) for each in file.constraints]
        facts["constraints"] = [[each.upper, each.holds] for each in proofs]
    if file.optimality is not None:
        facts["bound"] = sf.proofs.prove_optimality(
            file.prior, file.loss, file.guarantees, file.optimality, file.constraints
        )
    if file.tupling is not None:
        found = [each.prove(file.tupling) for each in file.tuple_guarantees]
        facts["tuple"] = [[each.worst.bounds.lower, each.worst.bounds.upper, each.holds] for each in found]
    return facts
