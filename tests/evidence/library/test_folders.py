import os
import socket
from pathlib import Path

import pytest

from crowdnotes.errors import LibraryError
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.library.folders import declared_url, open_folder
from crowdnotes.testing import HashingEmbedder

PARAGRAPH = "Measles spreads through the air and two doses of the vaccine prevent it in nearly everyone. " * 4
PAGE = f"""<html><head><title>About measles</title><link rel="canonical" href="https://example.org/measles"></head>
<body><article><h1>About measles</h1><p>{PARAGRAPH}</p></article></body></html>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "pages"
    (root / "deep" / ".git").mkdir(parents=True)
    (root / "a.html").write_text(PAGE)
    (root / "b.txt").write_text(f"Flu in brief\n\nInfluenza is a virus. {PARAGRAPH}")
    (root / "deep" / "c.md").write_text(f"# Diabetes\n\nBlood glucose is too high. {PARAGRAPH}")
    (root / "deep" / "d.pdf").write_bytes(b"%PDF-1.4 broken")
    (root / "deep" / ".git" / "e.txt").write_text("hidden " * 40)
    (root / ".f.txt").write_text("hidden " * 40)
    (root / "photo.jpg").write_bytes(b"\xff\xd8")
    return root


def test_files_become_records_in_sorted_order(folder: Path) -> None:
    records = list(open_folder(folder).read())
    assert [(r.record, r.label) for r in records] == [(0, "a.html"), (1, "b.txt"), (2, "deep/c.md"), (3, "deep/d.pdf")]
    assert [r.title for r in records[:3]] == ["About measles", "Flu in brief", "Diabetes"]
    assert records[0].url == "https://example.org/measles"
    assert "two doses" in records[0].text


def test_what_cannot_be_read_is_counted_and_named_and_a_folder_without_readable_files_explained(
    folder: Path, tmp_path: Path
) -> None:
    info = Libraries(tmp_path / "libraries", HashingEmbedder()).add(folder, "pages")
    assert (info.records, info.skipped, info.columns) == (3, 1, None)
    assert info.skipped_names[0].startswith("deep/d.pdf: ")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "photo.jpg").write_bytes(b"x")
    with pytest.raises(LibraryError, match="holds no file that can be read"):
        open_folder(tmp_path / "pictures")


def test_a_link_out_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret " * 40)
    (folder / "link.txt").symlink_to(secret)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "z.txt").write_text("secret " * 40)
    (folder / "door").symlink_to(outside)
    records = list(open_folder(folder).read())
    assert not any("secret" in record.text for record in records)
    assert next(r for r in records if r.label == "link.txt").problem == "leads out of the folder"


def test_a_pipe_or_socket_is_skipped_with_a_reason_and_not_waited_for(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    (folder / "to-pipe.txt").symlink_to(folder / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as open_socket:
        open_socket.bind(str(folder / "s.txt"))
        problems = {record.label: record.problem for record in open_folder(folder).read()}
    assert all("not a file" in problems[name] for name in ("pipe.txt", "to-pipe.txt", "s.txt"))
    os.mkfifo(tmp_path / "table.csv")
    with pytest.raises(LibraryError, match="not a file"):
        Libraries(tmp_path / "libraries", HashingEmbedder()).add(tmp_path / "table.csv", "pipe")


@pytest.mark.parametrize(
    ("html", "url"),
    [
        ('<link rel="canonical" href="https://a.org/x">', "https://a.org/x"),
        ('<meta property="og:url" content="http://a.org/y">', "http://a.org/y"),
        (
            '<link rel="canonical" href="/relative"><meta property="og:url" content="https://a.org/z">',
            "https://a.org/z",
        ),
        ('<link rel="canonical" href="javascript:alert(1)">', None),
        ('<link rel="canonical" href="https://[bad">', None),
        ('<link rel="stylesheet" href="https://a.org/x">', None),
        ("<![broken <<<", None),
        ("", None),
    ],
)
def test_a_pages_own_address_is_taken_only_when_it_is_one(html: str, url: str | None) -> None:
    assert declared_url(html) == url
