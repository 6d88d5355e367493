"""The documents of a run, read one by one, with what could not be read."""

import os.path
from collections.abc import Iterator, Sequence
from pathlib import Path

from citeloop.errors import EmptyDocument
from citeloop.knowledge.document import LoadedDocument
from citeloop.knowledge.loaders import document_uri, find_files, load_file


class IngestSource:
    """The documents at and under some paths. To be iterated once.

    Raises:
        InvalidRequest: a path does not exist.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._starts = [path.resolve() if path.exists() else path for path in paths]
        self._files = list(find_files(self._starts))
        self._documents = 0
        self._read_whole: set[str] = set()
        self.skipped: list[str] = []
        """One line for each file, or part of it, that gave no document."""

    @property
    def total(self) -> int:
        """Documents known of so far: those read, and one for each file still to be read."""
        return self._documents + len(self._files)

    def __iter__(self) -> Iterator[tuple[LoadedDocument, Path]]:
        """Each document with the file it comes from. A file that fails is noted and passed over."""
        self._files.reverse()
        while self._files:
            file = self._files.pop()
            try:
                yield from self._read(file)
                self._read_whole.add(str(file))
            except Exception as error:  # whatever is wrong with one file must not end the run
                self.skipped.append(str(error) or f"{file}: {type(error).__name__}")
                if isinstance(error, EmptyDocument):
                    self._read_whole.add(str(file))

    def is_gone(self, source_file: str) -> bool:
        """Whether a document of that file, not met in this run, is no more: the file was read through, or is gone.

        Files that lie elsewhere than the paths of this run are never told gone: their folder may be on another disk.
        """
        if source_file in self._read_whole:
            return True
        return self._start_of(Path(source_file)) is not None and _is_absent(source_file)

    def has_claim(self, source_file: str, uri: str, file: Path) -> bool:
        """Whether ``source_file`` is there, is another than ``file``, and gives the document its ``uri`` still."""
        if source_file == str(file) or _is_absent(source_file):
            return False
        if os.path.realpath(source_file) == os.path.realpath(file):  # one file, reached by two links
            return False
        source = Path(source_file)
        if self._start_of(source) is None:
            return True
        name = document_uri(source, self._root_of(source))
        return uri == name or uri.startswith(f"{name}#")

    def _read(self, file: Path) -> Iterator[tuple[LoadedDocument, Path]]:
        for document in load_file(file, self._root_of(file), on_skip=self.skipped.append):
            self._documents += 1
            yield document, file

    def _root_of(self, file: Path) -> Path:
        start = self._start_of(file)
        return file.parent if start is None or start == file else start

    def _start_of(self, file: Path) -> Path | None:
        return next((start for start in self._starts if file.is_relative_to(start)), None)


def _is_absent(file: str) -> bool:
    """Whether there is no such file; one that cannot be looked at may well be there."""
    try:
        Path(file).stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
