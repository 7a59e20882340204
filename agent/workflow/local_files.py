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

from agent.api.values import Dataset
from agent.api.work import PENDING
from agent.protocol.phrases import Phrase, said
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
        """Return the datasets that a word under ``data`` stands for: an identifier after ``id:``,
        which is not looked up, else the files and folders of this name or pattern, which are sent
        with the submission. Empty, and a fault, where there are none."""
        if word.startswith(_EXTERNAL):
            identifier = str(word).removeprefix(_EXTERNAL).strip()
            if not identifier:
                self.faults.at(word.place).said("the identifier after id: is missing")
                return ()
            return (Dataset(identifier, external=True),)
        return tuple(self.dataset(path) for path in self.named(word))

    def dataset(self, path: Path) -> Dataset:
        """Return the placeholder of a file or folder, the same one each time; it is sent with the
        submission from now on. Whether it is there is not looked at."""
        placeholder = self._placeholders.get(path)
        if placeholder is None:
            placeholder = f"{PENDING}{len(self.files) + 1}"
            self._placeholders[path] = placeholder
            self.files[placeholder] = path
        return Dataset(placeholder)

    def named(self, word: Word, *, inside: bool = False) -> tuple[Path, ...]:
        """Return the files and folders that a name or pattern means, sorted, or with ``inside``
        what lies in the folder that is named. Empty, and a fault, where there is none; links that
        lead out, and what goes beyond ``FILES_MAX``, are left out, with faults."""
        key = f"{inside}{word}"
        if key not in self._found:
            self._found[key] = self._look(word, inside)
        found = self._found[key]
        if not found:
            self._missing(word, inside)
        if len(found) > FILES_MAX:
            self.faults.at(word.place).said(
                "{name} fits more than {most} files", name=shown(word), most=FILES_MAX
            )
        return found[:FILES_MAX]

    def one(self, word: Word) -> Path | None:
        """Return the path of the file or folder of this name, which is never a pattern; None, and a
        fault, where it is not there."""
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
        """Return those that lie below a folder; links out of it are faults."""
        home = _resolved(below)
        folders = {parent: _resolved(parent) for parent in {path.parent for path in found}}
        lies = {
            path: _resolved(path) if path.is_symlink() else folders[path.parent] for path in found
        }
        strays = [path for path in found if not lies[path].is_relative_to(home)]
        for path in strays[:STRAYS_TOLD_MAX]:
            self.faults.at(word.place).said(
                "{name} is a link that leads out of the folder, to {path}: name it by itself, or put "
                "the file there",
                name=shown(self.relative(path)),
                path=str(_resolved(path)),
            )
        return tuple(path for path in found if lies[path].is_relative_to(home))

    def _missing(self, word: Word, inside: bool) -> None:
        path = self.folder / word
        if glob.has_magic(word):
            self.faults.at(word.place).said(
                "{name} fits no file in {folder}", name=shown(word), folder=shown(str(self.folder))
            )
        elif trouble := _trouble(path, shown(word)):
            self.faults.add(word.place, trouble)
        elif inside and path.is_dir():
            self.faults.at(word.place).said(
                "there is no file in the folder {name}", name=shown(word)
            )
        elif path.is_symlink():
            self.faults.at(word.place).said(
                "{name} is a link to something that is not there", name=shown(word)
            )
        else:
            hint = self.faults.hint(path.name, _neighbours(path.parent))
            missing = said("there is no file {name}", name=shown(word))
            if not Path(word).is_absolute():
                folder = shown(str(self.folder))
                missing = said(
                    "there is no file {name} in {folder}", name=shown(word), folder=folder
                )
            self.faults.add(word.place, missing, hint)

    def relative(self, path: Path) -> str:
        """Return the path as the file's author would write it: from the folder of the file if it is
        below it, else as it is; with ``/`` on every system."""
        try:
            return path.relative_to(self.folder).as_posix()
        except ValueError:
            return path.as_posix()

    def text(self, word: Word, characters_max: int, place: Place) -> str | None:
        """Return what is in a text file in UTF-8; None, and a fault, where it is missing, cannot be
        read, is no text or has more than ``characters_max``. A missing one is told at its word, all
        else at ``place``."""
        path = self.one(word)
        if path is None:
            return None
        try:
            with path.open("rb") as file:
                data = file.read(4 * characters_max + 4)
            text = data.decode("utf-8-sig")
        except OSError as error:
            self.faults.at(place).said(
                "{name} cannot be read: {why}", name=shown(word), why=str(error.strerror)
            )
        except UnicodeDecodeError:
            self.faults.at(place).said("{name} is no text in UTF-8", name=shown(word))
        else:
            if len(text) <= characters_max:
                return text
            self.faults.at(place).said(
                "{name} is too long: at most {most} characters fit",
                name=shown(word),
                most=characters_max,
            )
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


def _trouble(path: Path, name: str) -> Phrase | None:
    """What the system has against a name, other than that nothing is there."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return said("{name} cannot be looked at: {why}", name=name, why=str(error.strerror))
    except ValueError:
        return said("{name} is no name that a file can have", name=name)
    return None


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
