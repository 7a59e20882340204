"""Files of this machine that a workflow file names, looked up before anything is sent.

Names begin at the folder of the workflow file. A name that is there counts as it is; else ``*``,
``?`` and ``[`` make it a pattern. Hidden files fit no pattern, and the order is that of names, so
the same folder always makes the same workflow. A folder or pattern stands for what lies there: a
link in it that leads elsewhere is a fault, for nobody who looks at the workflow file sees that it
hands out something else; who means it names it.

Whoever submits a file may not have written it. So what it names beyond its own folder is noted as
``outside``, unless the person has named it too, and is sent only when that was confirmed; the folders
of Wingbeat itself, with its keys, are a fault.
"""

from __future__ import annotations

import glob
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from agent.api.values import Dataset
from agent.api.work import PENDING
from agent.paths import Home, resolved
from agent.protocol.phrases import Phrase, said
from agent.regular_files import open_regular
from agent.workflow.faults import Faults, Place, shown
from agent.workflow.kinds import Word
from agent.workflow.patterns import Budget, TooWideError, fitting

FILES_MAX = 100_000
NEIGHBOURS_MAX = 1_000
STRAYS_TOLD_MAX = 5
_EXTERNAL = "id:"
_SHARE = "share:"


@dataclass(slots=True)
class LocalFiles:
    """What is named, each once, with the placeholder that stands for it in the submission."""

    folder: Path
    faults: Faults
    files: dict[str, Path] = field(default_factory=dict)
    _placeholders: dict[Path, str] = field(default_factory=dict)
    _found: dict[str, tuple[Path, ...]] = field(default_factory=dict)
    granted: tuple[Path, ...] = ()
    """What the person has named or confirmed, with all that lies below."""
    texts: dict[Path, None] = field(default_factory=dict)
    """Files whose text becomes a part of the request."""
    outside: dict[Path, None] = field(default_factory=dict)
    """What lies beyond the folder and was not granted, where it really is."""
    runs: int = 0
    """How many runs all fan-outs of the file make together, so far."""
    _budget: Budget = field(default_factory=Budget)
    _near: set[Path] = field(default_factory=set)
    _home: Home = field(default_factory=Home.of)

    def datasets(self, word: Word) -> tuple[Dataset, ...]:
        """Return the datasets that a word under ``data`` stands for: an identifier after ``id:`` or
        what lies in a share, as ``share:flights/line-7``, neither looked up; else the files and
        folders of this name or pattern, which are sent with the submission. Empty, and a fault,
        where there are none."""
        if word.startswith(_EXTERNAL):
            identifier = str(word).removeprefix(_EXTERNAL).strip()
            if not identifier:
                self.faults.at(word.place).said("the identifier after id: is missing")
                return ()
            return (Dataset(identifier, external=True),)
        if word.startswith(_SHARE):
            return (Dataset(str(word), external=True),)
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
        lead out, and what goes beyond ``FILES_MAX``, are left out, with faults. Devices and
        Wingbeat's own folders are faults, and stay."""
        key = f"{inside}{word}"
        if key not in self._found:
            self._found[key] = self._look(word, inside)
        found = self._found[key]
        if not found:
            self._missing(word, inside)
        whole = self.folder / word
        self._note(found, word, whole if _exists(whole) else still_part(whole))
        if len(found) > FILES_MAX:
            self.faults.at(word.place).said(
                "{name} fits more than {most} files", name=shown(word), most=FILES_MAX
            )
        return found[:FILES_MAX]

    def one(self, word: Word) -> Path | None:
        """Return the path of the file or folder of this name, which is never a pattern; None, and a
        fault, where it is not there. A device or a folder of Wingbeat's own is returned, with a
        fault."""
        path = self.folder / word
        if _exists(path):
            self._note((path,), word, path)
            return path
        self._missing(word, inside=False)
        return None

    def _note(self, found: Iterable[Path], word: Word, below: Path) -> None:
        """Note what lies beyond the folder, as one thing what a pattern finds ``below`` a folder;
        what is or holds a folder of Wingbeat is a fault."""
        allowed = (resolved(self.folder), *map(resolved, self.granted))
        for path in found:
            if path.exists() and not (path.is_file() or path.is_dir()):
                self.faults.at(word.place).said(
                    "{name} is no file but a device, a pipe or a socket",
                    name=shown(self.relative(path)),
                )
                return
            if path.parent in self._near and not path.is_symlink() and not path.is_dir():
                continue
            where = resolved(path)
            own = self._home.own_folder(where)
            if own is not None:
                self.faults.at(word.place).said(
                    "{name} is or holds a folder of Wingbeat itself ({folder}): its keys are never sent",
                    name=shown(word),
                    folder=str(own),
                )
                return
            if not any(where.is_relative_to(each) for each in allowed):
                start = resolved(below)
                self.outside[start if where.is_relative_to(start) else where] = None
            elif not path.is_symlink() and any(
                where.parent.is_relative_to(each) for each in allowed
            ):
                self._near.add(path.parent)

    def _look(self, word: Word, inside: bool) -> tuple[Path, ...]:
        path = self.folder / word
        if _exists(path):
            if inside and path.is_dir():
                return self._without_strays(self._listed(path, "*", word), path, word)
            return (path,)
        if not glob.has_magic(word):
            return ()
        found = self._listed(self.folder, word, word)
        return self._without_strays(found, still_part(self.folder / word), word)

    def _listed(self, folder: Path, pattern: str, word: Word) -> list[Path]:
        try:
            return sorted(itertools.islice(fitting(folder, pattern, self._budget), FILES_MAX + 1))
        except TooWideError:
            self.faults.at(word.place).said(
                "{name} looks through more files than a workflow may: name a folder nearer to them",
                name=shown(word),
            )
        except (OSError, ValueError, RecursionError):
            pass
        return []

    def _without_strays(self, found: list[Path], below: Path, word: Word) -> tuple[Path, ...]:
        """Return those that lie below a folder; links out of it are faults."""
        home = resolved(below)
        folders = {parent: resolved(parent) for parent in {path.parent for path in found}}
        lies = {
            path: resolved(path) if path.is_symlink() else folders[path.parent] for path in found
        }
        strays = [path for path in found if not lies[path].is_relative_to(home)]
        for path in strays[:STRAYS_TOLD_MAX]:
            self.faults.at(word.place).said(
                "{name} is a link that leads out of the folder, to {path}: name it by itself, or put "
                "the file there",
                name=shown(self.relative(path)),
                path=str(resolved(path)),
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
        self.texts[path] = None
        try:
            with open_regular(path) as file:
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


def still_part(pattern: Path) -> Path:
    """Return the folder in which a pattern begins to choose; of a name that is none, the whole."""
    parts = itertools.takewhile(lambda part: not glob.has_magic(part), pattern.parts)
    return Path(*parts)


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
