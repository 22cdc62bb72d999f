"""Rows that come a second time, found without holding the table: keys go to a few files, each sorted alone."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import IO, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_PARTS = 16  # at 200 million ratings a part is 250 MB
_KEY = np.dtype([("number", "<i8"), ("name", "<i4"), ("row", "<i8")])


class RepeatFinder:
    """Collects the keys of all rows, then names the rows that repeat an earlier one. Exact, no hashing.

    A key has a whole number, a name, or both. Names are numbered as they come; their table is the one
    thing kept in memory (some 200 bytes for each person).
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, int] = {}
        self._rows = 0
        self._files = ExitStack()
        self._parts: list[IO[bytes]] = []

    def __enter__(self) -> Self:
        self._parts = [self._files.enter_context(self._path(part).open("w+b")) for part in range(_PARTS)]
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()
        for part in range(_PARTS):
            self._path(part).unlink(missing_ok=True)

    def add(self, columns: list[pa.ChunkedArray]) -> None:
        """The key columns of the next rows."""
        keys = np.zeros(len(columns[0]), dtype=_KEY)
        for column in columns:
            if pa.types.is_integer(column.type):
                keys["number"] = column.to_numpy()
            else:
                keys["name"] = self._numbered(column)
        keys["row"] = np.arange(self._rows, self._rows + len(keys))
        self._rows += len(keys)
        part = (keys["number"] ^ keys["name"]) % _PARTS
        order = np.argsort(part, kind="stable")
        keys, bounds = keys[order], np.searchsorted(part[order], np.arange(_PARTS + 1))
        for number, file in enumerate(self._parts):
            file.write(keys[bounds[number] : bounds[number + 1]].tobytes())

    def repeated_rows(self) -> npt.NDArray[np.int64]:
        """The numbers of the rows that repeat an earlier row's key, rising."""
        found = [self._repeats(file) for file in self._parts]
        return np.sort(np.concatenate(found))

    def _repeats(self, file: IO[bytes]) -> npt.NDArray[np.int64]:
        file.seek(0)
        keys = np.frombuffer(file.read(), dtype=_KEY)
        order = np.lexsort((keys["row"], keys["name"], keys["number"]))
        number, name = keys["number"][order], keys["name"][order]
        same = (number[1:] == number[:-1]) & (name[1:] == name[:-1])
        rows: npt.NDArray[np.int64] = keys["row"][order][1:][same]
        return rows

    def _numbered(self, column: pa.ChunkedArray) -> npt.NDArray[np.int32]:
        numbers = []
        for chunk in column.chunks:
            encoded = chunk if pa.types.is_dictionary(chunk.type) else pc.dictionary_encode(chunk)
            names = [self._names.setdefault(name, len(self._names)) for name in encoded.dictionary.to_pylist()]
            numbers.append(np.asarray(names, dtype=np.int32)[encoded.indices.to_numpy()])
        return np.concatenate(numbers) if numbers else np.empty(0, dtype=np.int32)

    def _path(self, part: int) -> Path:
        return self._folder / f".keys-{part:02d}"
