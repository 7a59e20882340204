"""What a package brings along: licences for people, and a bill of materials in CycloneDX for programs.

Both name the packages of the lock, as their own metadata have them. What these have linked or copied
into themselves (OpenSSL in `cryptography`, parts of Qt) is not listed apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import Message
from email.parser import Parser
from pathlib import Path

from agent import __version__

OWN = "wingbeat"
OWN_LICENCE = "Apache-2.0"


def licences(packages: Path, installed: str, own_text: str, *more: str) -> str:
    """Return the licence of Wingbeat, whose text is in ``own_text``, and, by name, those of what
    lies in the folder of packages beside it and of what ``more`` says, for whoever reads them where
    that is installed."""
    lines = [
        f"Wingbeat: {OWN_LICENCE}; its text is in {own_text}.",
        "",
        f"Brought along; the texts lie beside each, where it has one, below {installed}:",
        "",
    ]
    lines += [
        f"  {facts['Name']} {facts['Version']}: {licence(facts)}" for facts in _brought(packages)
    ]
    lines += [f"  {each}" for each in more]
    return "\n".join(lines) + "\n"


def bill_of_materials(
    packages: Path, wheels: list[Path], seconds: int, *more: dict[str, object]
) -> str:
    """Return what lies in the folder of packages as CycloneDX 1.5: name, version, licence, and the
    hashes of the wheels that it came in, one for each Python that has its own; after ``more``
    components."""
    components = list(more)
    for facts in _brought(packages):
        name, version = facts["Name"].lower().replace("_", "-"), facts["Version"]
        found = component("library", name, version, licence(facts))
        purl = f"pkg:pypi/{name}@{version}"
        found |= {"purl": purl, "bom-ref": purl, "properties": _hashes(name, wheels)}
        components.append(found)
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component("application", OWN, __version__, OWN_LICENCE),
        },
        "components": components,
    }
    return json.dumps(bill, indent=2) + "\n"


def licence(facts: Message) -> str:
    """Return a licence as the metadata have it: an expression, else the names among the
    classifiers, else the first line of a text."""
    for wanted in ("License-Expression", "Classifier", "License"):
        found: list[str] = facts.get_all(wanted, [])
        if wanted == "Classifier":
            found = [each.rpartition(" :: ")[2] for each in found if each.startswith("License ::")]
        if found := [each.strip().partition("\n")[0] for each in found if each.strip()]:
            return ", ".join(found)
    return "see its metadata"


def digest_of(folder: Path) -> str:
    """Return a hash of the names and contents of all files below the folder."""
    whole = hashlib.sha256()
    for each in sorted(one for one in folder.rglob("*") if one.is_file()):
        whole.update(f"{each.relative_to(folder).as_posix()}\0{digest(each)}\n".encode())
    return whole.hexdigest()


def digest(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _brought(packages: Path) -> Iterator[Message]:
    for file in sorted(packages.glob("*.dist-info/METADATA")):
        facts = Parser().parsestr(file.read_text("utf-8"), headersonly=True)
        if facts["Name"] != OWN:
            yield facts


def component(kind: str, name: str, version: str, terms: str) -> dict[str, object]:
    """Return one component of a bill of materials."""
    licence = {"license": {"name": terms}}
    return {"type": kind, "name": name, "version": version, "licenses": [licence]}


def _hashes(name: str, wheels: list[Path]) -> list[dict[str, str]]:
    """CycloneDX has one hash of a kind for a component; several wheels make several properties."""
    return [
        {"name": f"sha256 {each.name}", "value": hashlib.sha256(each.read_bytes()).hexdigest()}
        for each in wheels
        if each.name.partition("-")[0].lower().replace("_", "-") == name
    ]
