"""Which part of a file is new, however it grew."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.public_data.loading import Mark, open_shards

_HEADER = b"noteId\ttext\n"


def _read(path: Path, known: list[Mark]) -> tuple[bytes, bool]:
    """The new lines, and whether the last was unfinished; `known` learns the file."""
    found, cut = b"", False
    for shard in open_shards(path, known):
        found += b"".join(shard.blocks)
        cut = shard.cut
        assert shard.mark is not None
        if shard.grown_from is not None:
            known.remove(shard.grown_from)
        known.append(shard.mark)
    return found, cut


@given(
    lines=st.lists(st.integers(0, 10**6), min_size=1, max_size=60),
    cuts=st.lists(st.floats(0, 1), max_size=4),
    wide=st.sampled_from([1, 3_000]),
    zipped=st.booleans(),
)
def test_a_file_that_grows_in_steps_gives_each_whole_line_once(
    lines: list[int], cuts: list[float], wide: int, zipped: bool
) -> None:
    rows = b"".join(b"%d\t%s\n" % (number, b"x" * wide) for number in lines)
    known: list[Mark] = []
    seen = b""
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder, "notes-00000.tsv"), Path(folder, "notes-00000.zip")
        for share in (*sorted(cuts), 1.0):
            plain.write_bytes(_HEADER + rows[: round(share * len(rows))])
            if zipped:
                with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                    archive.write(plain, plain.name)
            found, cut = _read(packed if zipped else plain, known)
            whole = found[: found.rfind(b"\n") + 1]  # a last line that may be whole comes, and comes again
            assert not (cut and whole != found)
            seen += whole
            assert len(known) == 1
        assert seen == rows
        assert _read(packed if zipped else plain, known) == (b"", False)
        other = Path(folder, "other.tsv")
        other.write_bytes(_HEADER + b"7\tother\n" + rows)
        assert _read(other, known)[0] == b"7\tother\n" + rows
