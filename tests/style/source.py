"""The Python files of this repository as the style checks see them: name, text, tree, imports.

An import counts wherever it stands, inside a function or under `TYPE_CHECKING` too, and also as
`importlib.import_module("name")`: the rules are about what a module knows, not about when.
"""

import ast
import gc
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CODE_FOLDERS = ("agent", "gui", "tasks", "installers")


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name: the module named in the statement, and the name taken from it."""

    module: str
    taken: str | None
    line: int

    @property
    def candidates(self) -> tuple[str, ...]:
        """`from a import b` may mean the module `a.b`; both count."""
        if self.taken is None:
            return (self.module,)
        return (self.module, f"{self.module}.{self.taken}")


@dataclass(frozen=True)
class Source:
    """One Python file. What many rules look at is looked up once."""

    path: str
    text: str
    tree: ast.Module

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All of the tree."""
        return list(ast.walk(self.tree))

    @property
    def module(self) -> str:
        """The dotted name under which it is imported."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def package(self) -> str:
        """The package that a relative import starts from."""
        return self.module if self.path.endswith("__init__.py") else self.module.rpartition(".")[0]

    @cached_property
    def imports(self) -> list[Import]:
        """All imports, in no particular order."""
        return list(self._imports())

    def _imports(self) -> Iterator[Import]:
        for node in self.nodes:
            match node:
                case ast.Import(names=names):
                    yield from (Import(alias.name, None, node.lineno) for alias in names)
                case ast.ImportFrom(names=names):
                    module = self._origin(node)
                    yield from (Import(module, alias.name, node.lineno) for alias in names)
                case ast.Call(args=[ast.Constant(value=str(name)), *_]):
                    if _callee(node) in {"import_module", "__import__"}:
                        yield Import(name, None, node.lineno)
                case _:
                    pass

    def _origin(self, node: ast.ImportFrom) -> str:
        """The absolute name of the module in `from module import …`."""
        if not node.level:
            return node.module or ""
        parents = self.package.split(".")
        base = parents[: len(parents) - node.level + 1]
        return ".".join([*base, node.module] if node.module else base)


def parse(path: str, text: str) -> Source:
    """A source from its path inside the repository and its text."""
    return Source(path, text, ast.parse(text, path))


def sources(*folders: str, root: Path = REPOSITORY) -> list[Source]:
    """All Python files under these folders, in the order of their paths.

    None of it is ever garbage, and looking for some while it grows takes three times as long as the
    rest."""
    paths = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    gc.disable()
    try:
        return [_read(path, root) for path in paths]
    finally:
        gc.freeze()
        gc.enable()


@cache
def _read(path: Path, root: Path) -> Source:
    return parse(path.relative_to(root).as_posix(), path.read_text("utf-8"))


def inside(module: str, *packages: str) -> bool:
    """Whether a module is one of these packages or lies in one."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def _callee(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
