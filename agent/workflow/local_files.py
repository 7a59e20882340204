"""Files of this machine that a workflow file names, looked up before anything is sent.

Names begin at the folder of the workflow file. A name that is there counts as it is; else ``*``,
``?`` and ``[`` make it a pattern. Hidden files fit no pattern, and the order is that of names, so
the same folder always makes the same workflow. A folder or pattern stands for what lies there: a
link in it that leads elsewhere is a fault, for nobody who looks at the workflow file sees that it
hands out something else; who means it names it.
"""

from __future__ import annotations

import glob
import itertools
from dataclasses import dataclass, field
from pathlib import Path

from agent.api.plan import PENDING
from agent.api.values import Dataset
from agent.workflow.faults import Faults, Place, shown
from agent.workflow.kinds import Word

FILES_MAX = 100_000
NEIGHBOURS_MAX = 1_000
STRAYS_TOLD_MAX = 5
_EXTERNAL = "id:"


@dataclass(slots=True)
class LocalFiles:
    """What is named, each once, with the placeholder that stands for it in the submission."""

    folder: Path
    faults: Faults
    files: dict[str, Path] = field(default_factory=dict)
    _placeholders: dict[Path, str] = field(default_factory=dict)
    _found: dict[str, tuple[Path, ...]] = field(default_factory=dict)

    def datasets(self, word: Word) -> tuple[Dataset, ...]:
        """What a word under ``data`` stands for."""
        if word.startswith(_EXTERNAL):
            identifier = str(word).removeprefix(_EXTERNAL).strip()
            if not identifier:
                self.faults.add(word.place, "the identifier after id: is missing")
                return ()
            return (Dataset(identifier, external=True),)
        return tuple(self.dataset(path) for path in self.named(word))

    def dataset(self, path: Path) -> Dataset:
        """The placeholder of a file or folder."""
        placeholder = self._placeholders.get(path)
        if placeholder is None:
            placeholder = f"{PENDING}{len(self.files) + 1}"
            self._placeholders[path] = placeholder
            self.files[placeholder] = path
        return Dataset(placeholder)

    def named(self, word: Word, *, inside: bool = False) -> tuple[Path, ...]:
        """The files and folders that are meant. ``inside``: of a folder, the files in it."""
        key = f"{inside}{word}"
        if key not in self._found:
            self._found[key] = self._look(word, inside)
        found = self._found[key]
        if not found:
            self._missing(word, inside)
        if len(found) > FILES_MAX:
            self.faults.add(word.place, f"{shown(word)} fits more than {FILES_MAX} files")
        return found[:FILES_MAX]

    def one(self, word: Word) -> Path | None:
        """The file that is meant; a fault when it is not there."""
        path = self.folder / word
        if _exists(path):
            return path
        self._missing(word, inside=False)
        return None

    def _look(self, word: Word, inside: bool) -> tuple[Path, ...]:
        path = self.folder / word
        if _exists(path):
            if inside and path.is_dir():
                found = self._listed(glob.escape(str(path)) + "/*")
                return self._without_strays(found, path, word)
            return (path,)
        if not glob.has_magic(word):
            return ()
        root = "" if Path(word).is_absolute() else glob.escape(str(self.folder)) + "/"
        found = self._listed(root + word)
        return self._without_strays(found, _still_part(self.folder / word), word)

    def _listed(self, pattern: str) -> list[Path]:
        # Not Path.glob: that one finds hidden files too.
        names = glob.iglob(pattern, recursive=True)  # noqa: PTH207
        try:
            return sorted(Path(name) for name in itertools.islice(names, FILES_MAX + 1))
        except (OSError, ValueError):
            return []

    def _without_strays(self, found: list[Path], below: Path, word: Word) -> tuple[Path, ...]:
        """Those that lie below a folder; links out of it are told."""
        home = _resolved(below)
        folders = {parent: _resolved(parent) for parent in {path.parent for path in found}}
        lies = {
            path: _resolved(path) if path.is_symlink() else folders[path.parent] for path in found
        }
        strays = [path for path in found if not lies[path].is_relative_to(home)]
        for path in strays[:STRAYS_TOLD_MAX]:
            name = shown(self.relative(path))
            said = f"{name} is a link that leads out of the folder, to {_resolved(path)}"
            self.faults.add(word.place, f"{said}: name it by itself, or put the file there")
        return tuple(path for path in found if lies[path].is_relative_to(home))

    def _missing(self, word: Word, inside: bool) -> None:
        path = self.folder / word
        if glob.has_magic(word):
            self.faults.add(word.place, f"{shown(word)} fits no file in {shown(str(self.folder))}")
        elif trouble := _trouble(path):
            self.faults.add(word.place, f"{shown(word)} {trouble}")
        elif inside and path.is_dir():
            self.faults.add(word.place, f"there is no file in the folder {shown(word)}")
        elif path.is_symlink():
            self.faults.add(word.place, f"{shown(word)} is a link to something that is not there")
        else:
            hint = self.faults.hint(path.name, _neighbours(path.parent))
            where = f" in {shown(str(self.folder))}" if not Path(word).is_absolute() else ""
            self.faults.add(word.place, f"there is no file {shown(word)}{where}{hint}")

    def relative(self, path: Path) -> str:
        """How the file's author would call it."""
        try:
            return path.relative_to(self.folder).as_posix()
        except ValueError:
            return path.as_posix()

    def text(self, word: Word, characters_max: int, place: Place) -> str | None:
        """What is in a text file."""
        path = self.one(word)
        if path is None:
            return None
        try:
            with path.open("rb") as file:
                data = file.read(4 * characters_max + 4)
            text = data.decode("utf-8-sig")
        except OSError as error:
            self.faults.add(place, f"{shown(word)} cannot be read: {error.strerror}")
        except UnicodeDecodeError:
            self.faults.add(place, f"{shown(word)} is no text in UTF-8")
        else:
            if len(text) <= characters_max:
                return text
            limit = f"at most {characters_max} characters fit"
            self.faults.add(place, f"{shown(word)} is too long: {limit}")
        return None


def _still_part(pattern: Path) -> Path:
    """The folder in which a pattern begins to choose."""
    parts = itertools.takewhile(lambda part: not glob.has_magic(part), pattern.parts)
    return Path(*parts)


def _resolved(path: Path) -> Path:
    """Where it is in truth; a link that goes round in a circle is where it lies."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _trouble(path: Path) -> str:
    """What the system has against a name, other than that nothing is there."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return f"cannot be looked at: {error.strerror}"
    except ValueError:
        return "is no name that a file can have"
    return ""


def _neighbours(folder: Path) -> list[str]:
    names: list[str] = []
    try:
        for each in folder.iterdir():
            names.append(each.name)
            if len(names) >= NEIGHBOURS_MAX:
                break
    except (OSError, ValueError):
        pass
    return names
