"""The loader of mechanism files under atheris: bytes that reach new code are kept and changed again.

``python -m tests.fuzz.atheris_loader LIMIT [FOLDER] [SEED]``: the limit is libFuzzer's, ``-runs=3000`` or
``-max_total_time=60``. The corpus lies in the folder, and begins with small honest files. An input that fails is
written to the folder, too.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["sfumato.files", "sfumato.core", "sfumato.proofs", "zipfile", "json"]):
    import sfumato.files  # noqa: F401

from tests.fuzz.guard import guarded, limit_memory
from tests.fuzz.readers.mechanisms import MechanismFiles, NoiseFiles

_LARGEST = 4_096
"""Bytes of an honest file that the corpus begins with."""


def main(limit: str, corpus: Path, seed: int = 1) -> None:
    """Run libFuzzer up to a limit; it ends the process, with an error if an input fails."""
    honest = Path(tempfile.mkdtemp(prefix="honest-"))
    at_hand = Path(tempfile.mkdtemp(prefix="input-"))
    (honest / "noise").mkdir()
    readers = (MechanismFiles(honest), NoiseFiles(honest / "noise"))
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = [data for reader in readers for data in reader.raw if len(data) <= _LARGEST]
    for number, data in enumerate(seeds):
        (corpus / f"honest-{number}").write_bytes(data)
    limit_memory()

    def attempt(data: bytes) -> None:
        (at_hand / "a.sfm").write_bytes(data)
        with guarded():
            readers[0].read(at_hand)

    def changed(data: bytes, most: int, seed: int) -> bytes:
        """Change the bytes themselves, or what is in the container, whose checksums then fit."""
        rng = Random(seed)
        if rng.randrange(2):
            return bytes(atheris.Mutate(data, most))
        parted = readers[0].parted(data)
        return readers[0].changed(rng, *parted)[:most] if parted else bytes(atheris.Mutate(data, most))

    options = [
        limit,
        "-timeout=60",
        "-rss_limit_mb=4096",
        "-max_len=16384",
        "-print_final_stats=1",
    ]
    atheris.Setup(
        [sys.argv[0], *options, f"-seed={seed}", f"-artifact_prefix={corpus}/failed-", str(corpus)],
        attempt,
        custom_mutator=changed,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main(
        sys.argv[1],
        Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp(prefix="corpus-")),
        *map(int, sys.argv[3:]),
    )
