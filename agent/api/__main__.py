"""`python -m agent.api` prints the client contract, for whoever writes a client of their own.

It is an OpenRPC document: the methods with the JSON Schema of every message. A document of a known format rather than our own page, so that editors, generators and test tools
read it. OpenRPC knows no notifications of a server; they stand under ``x-notifications``.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from typing import Any

import msgspec
from msgspec import Struct

from agent.api import (
    methods,
    rpc,
    session,
    values,
)

OPENRPC_VERSION = "1.3.2"
_REFERENCE = "#/components/schemas/{name}"
_NOTIFICATIONS: dict[str, type[Struct]] = {"event": session.Event, "closing": session.Closing}


def document() -> dict[str, Any]:
    """Return the whole contract, its methods, messages, errors and notifications, as an OpenRPC
    document made of what JSON knows."""
    kinds = [kind for each in methods.METHODS.values() for kind in (each.params, each.result)]
    kinds += [rpc.Request, rpc.Answer, rpc.Failure, rpc.Notification, *_NOTIFICATIONS.values()]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    return {
        "openrpc": OPENRPC_VERSION,
        "info": {
            "title": "Wingbeat client protocol",
            "description": inspect.getdoc(rpc) or "",
            "version": str(values.CLIENT_PROTOCOL),
        },
        "methods": [_method(each, components) for each in methods.METHODS.values()],
        "components": {"schemas": components, "errors": _errors()},
        "x-notifications": {
            name: {"schema": schemas[kinds.index(kind)]} for name, kind in _NOTIFICATIONS.items()
        },
    }


def _method(method: methods.AnyMethod, components: dict[str, Any]) -> dict[str, Any]:
    asked = components[method.params.__name__]
    required = asked.get("required", [])
    return {
        "name": method.name,
        "summary": inspect.getdoc(method.params),
        "paramStructure": "by-name",
        "params": [
            {"name": name, "required": name in required, "schema": schema}
            for name, schema in asked.get("properties", {}).items()
        ],
        "result": {
            "name": method.result.__name__,
            "schema": {"$ref": _REFERENCE.format(name=method.result.__name__)},
        },
        "x-params": {"$ref": _REFERENCE.format(name=method.params.__name__)},
        **{f"x-{key}": value for key, value in _remarks(method).items()},
    }


def _remarks(method: methods.AnyMethod) -> dict[str, Any]:
    known = ("name", "params", "result")
    given = [each.name for each in dataclasses.fields(method) if each.init]
    return {name: getattr(method, name) for name in given if name not in known}


def _errors() -> dict[str, Any]:
    return {
        code.name: {"code": code.value, "message": code.name.lower().replace("_", " ")}
        for code in rpc.ErrorCode
    }


def main() -> int:
    """Print the contract as an OpenRPC document."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(document()), indent=2).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
