"""The bills of materials (CycloneDX): what a wheel needs, and what the studio's page is made of.

`uv export` says which packages the lock file has for the dependencies and extras, with addresses and sums of their
files. Added are their licences, which extras need them, and the libraries inside the page.
"""

from __future__ import annotations

import json
import re
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from . import ROOT
from .building import sha256
from .running import ReleaseError, run

EXTRAS = (
    *("fit", "geo", "hex", "learn", "ledger", "opendp", "pipelines", "postgres", "report", "sign", "solvers"),
    "spark",
)
STUDIO = ROOT / "studio"
PAGE_LICENCES = STUDIO / "src" / "sfumato_studio" / "page" / "licences.txt"
LICENCES = Path(__file__).with_name("licences.toml")

Bom = dict[str, Any]


def write(target: Path, wheel: Path, version: str, epoch: int) -> Path:
    """Write the bill of materials of a wheel into a folder; the same wheel and lock file give the same bytes.

    The wheel is the library's or the studio's, which needs the library.

    Raises:
        ReleaseError: It is not valid CycloneDX 1.5, or a package has no licence in ``release/licences.toml``.
    """
    name = wheel.name.partition("-")[0].replace("_", "-")
    library = name == "sfumato"
    exports = {extra: _exported(name, extra, version) for extra in (EXTRAS if library else ())}
    bom = completed(
        _exported(name, None, version),
        needed_by={extra: _names(found) for extra, found in exports.items()},
        always=_names(_exported(name, "", version)),
        licences=known_licences() | {"sfumato": licence_of(ROOT)},
        page=[] if library else libraries(PAGE_LICENCES.read_text(encoding="utf-8")),
    )
    bom["metadata"]["timestamp"] = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    bom["metadata"]["component"] |= {
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
        "licenses": [_licence(licence_of(ROOT if library else STUDIO))],
        "hashes": [{"alg": "SHA-256", "content": sha256(wheel)}],
    }
    unnamed = json.dumps(bom, sort_keys=True)
    bom["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, unnamed)}"
    text = json.dumps(bom, indent=1, sort_keys=True) + "\n"
    validate(text)
    path = target / f"{name}.cdx.json"
    path.write_text(text, encoding="utf-8")
    return path


def completed(
    exported: Bom,
    needed_by: dict[str, set[str]],
    always: set[str],
    licences: dict[str, str],
    page: list[tuple[str, str, str]],
) -> Bom:
    """Return what uv exported with licences, extras and the libraries of the page, and without a time or number.

    Args:
        exported: The export of all extras, read from its JSON.
        needed_by: The packages (`purl`) that come with each extra.
        always: Those that come with none.
        licences: The licence of each package, by its name; the empty text if nobody has read it.
        page: Name, version and licence of each library in the studio's page.

    Raises:
        ReleaseError: A package is not in `licences`.
    """
    components = [dict(each) for each in exported["components"]]
    if missing := sorted({each["name"] for each in components} - licences.keys()):
        raise ReleaseError(
            f"{LICENCES.name} has no licence of {', '.join(missing)}. Read it in the metadata and add it."
        )
    for each in components:
        if licence := licences[each["name"]]:
            each["licenses"] = [_licence(licence)]
        each["scope"] = "required" if each["purl"] in always else "optional"
        extras = sorted(extra for extra, found in needed_by.items() if each["purl"] in found - always)
        if extras:
            each["properties"] = [
                *each.get("properties", []),
                *({"name": "sfumato:extra", "value": x} for x in extras),
            ]
    inside = [_library(*each) for each in page]
    root = exported["metadata"]["component"]["bom-ref"]
    dependencies = [dict(each) for each in exported["dependencies"]]
    for each in dependencies:
        if each["ref"] == root:
            each["dependsOn"] = [*each.get("dependsOn", []), *(library["bom-ref"] for library in inside)]
    dependencies += [{"ref": library["bom-ref"]} for library in inside]
    kept = {name: exported[name] for name in ("bomFormat", "specVersion", "version")}
    metadata = {name: exported["metadata"][name] for name in ("tools", "component")}
    return {**kept, "metadata": metadata, "components": [*components, *inside], "dependencies": dependencies}


def libraries(text: str) -> list[tuple[str, str, str]]:
    """Return name, version and licence of each library, from the file that lies beside the studio's page."""
    found = re.findall(r"^={78}\n(\S+) (\S+) \((.+)\)$", text, flags=re.MULTILINE)
    return [(name, version, re.sub(r"^\((.*)\)$", r"\1", licence)) for name, version, licence in found]


def known_licences() -> dict[str, str]:
    """Return the licence of each Python package that may be installed, by its name; the empty text if unread."""
    table = tomllib.loads(LICENCES.read_text(encoding="utf-8"))
    read: dict[str, str] = table["read"]
    return {**read, **dict.fromkeys(table["unread"]["packages"], "")}


def licence_of(folder: Path) -> str:
    """Return the licence of a distribution as the project file in its folder states it."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["license"])


def validate(text: str) -> None:
    """Raise `ReleaseError` where a text is not valid CycloneDX 1.5.

    The files of packages are checked here, as there are thousands: the general reading of addresses takes minutes.
    """
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    bom = json.loads(text)
    for each in bom["components"]:
        for file in each.pop("externalReferences", []):
            kind, address, (total,) = file["type"], file["url"], file["hashes"]
            sound = total["alg"] == "SHA-256" and re.fullmatch(r"[0-9a-f]{64}", total["content"])
            if not (kind == "distribution" and re.fullmatch(r"https://[\w./%+~-]+", address) and sound):
                raise ReleaseError(f"a file of {each['name']} has an unusual address or sum: {file}")
    if (error := JsonStrictValidator(SchemaVersion.V1_5).validate_str(json.dumps(bom))) is not None:
        raise ReleaseError(f"the bill of materials is not CycloneDX 1.5: {error}")


def _exported(name: str, extra: str | None, version: str) -> Bom:
    """Return what uv exports for an extra of a distribution, for none (the empty text), or for all (None)."""
    chosen = ["--all-extras"] if extra is None else ["--extra", extra] if extra else []
    how = ["uv", "export", "--quiet", "--frozen", "--format", "cyclonedx1.5", "--no-default-groups"]
    found: Bom = json.loads(run([*how, "--package", name, *chosen], ROOT))
    root = found["metadata"]["component"]["bom-ref"]
    for each in found["components"]:
        if each["name"] == "sfumato":  # uv knows its folder only, and counts what its developers need
            each |= {"version": version, "purl": f"pkg:pypi/sfumato@{version}"}
            (edges,) = (one for one in found["dependencies"] if one["ref"] == each["bom-ref"])
            edges["dependsOn"].remove(root)
    return found


def _names(bom: Bom) -> set[str]:
    return {each["purl"] for each in bom["components"]}


def _licence(text: str) -> dict[str, Any]:
    """Return a licence as CycloneDX spells it: an identifier, or an expression of several."""
    if re.search(r" (AND|OR|WITH) ", text):
        return {"expression": text}
    return {"license": {"id": text}}


def _library(name: str, version: str, licence: str) -> dict[str, Any]:
    purl = f"pkg:npm/{quote(name, safe='/')}@{version}"
    properties = [{"name": "sfumato:inside", "value": "sfumato_studio/page"}]
    kind = {"type": "library", "name": name, "version": version, "scope": "required"}
    return {**kind, "bom-ref": purl, "purl": purl, "licenses": [_licence(licence)], "properties": properties}
