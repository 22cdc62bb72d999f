"""Relative links in the Markdown documents lead to files that exist. `python -m tests.links` checks all."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

_LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)")
_ROOT = Path(__file__).parent.parent


def broken_links(document: Path) -> list[str]:
    """The relative targets of a Markdown file that do not exist, as written."""
    targets = _LINK.findall(document.read_text(encoding="utf-8"))
    local = [target for target in targets if not re.match(r"[a-z][a-z0-9+.-]*:|#|//", target, re.IGNORECASE)]
    return [target for target in local if not (document.parent / target.split("#", 1)[0]).exists()]


def main() -> None:
    """Exit 1 with a line for each broken link of the tracked Markdown files."""
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=_ROOT, capture_output=True, text=True, check=True
    )
    documents = [_ROOT / name for name in tracked.stdout.split("\n") if name]
    broken = [f"{path.relative_to(_ROOT)}: {link}" for path in documents for link in broken_links(path)]
    if broken:
        sys.exit("Links that lead nowhere:\n" + "\n".join(broken))
    print(f"{len(documents)} documents, no broken links")


if __name__ == "__main__":
    main()
