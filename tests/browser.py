"""The browser that journeys drive: one that is there, else the system's package, else Playwright's own.

`python -m tests.browser` makes sure that there is one, or fails with a sentence: tests without a
browser would pass without having looked at a page.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def find_browser() -> str | None:
    """Path of a Chrome or Chromium: CROWDNOTES_CHROMIUM, the PATH, the usual place on a Mac, Playwright's."""
    named = os.environ.get("CROWDNOTES_CHROMIUM")
    if named:
        return named if Path(named).exists() else None
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found:
        return found
    return str(_MAC) if _MAC.exists() else _playwrights_own()


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _install() -> list[str]:
    """Try what this machine allows; the sentences say what was tried and how it ended."""
    tried: list[str] = []
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        ok = _run(["apt-get", "update", "-qq"]) and _run(["apt-get", "install", "-y", "-qq", "chromium"])
        tried.append(f"the system's package chromium: {'installed' if ok else 'failed'}")
        if ok and find_browser():
            return tried
    ok = _run([sys.executable, "-m", "playwright", "install", "chromium"])
    tried.append(f"Playwright's own Chromium: {'installed' if ok else 'failed'}")
    return tried


def _run(command: list[str]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode == 0


def main() -> None:
    """Find or install a browser; exit 1 with a sentence when there is none to be had."""
    if find_browser():
        return
    print("No Chrome or Chromium found; installing one…", flush=True)
    tried = _install()
    if not find_browser():
        sys.exit(
            f"The tests need a Chrome or Chromium and none could be had ({'; '.join(tried)}).\n"
            "Install one, or set CROWDNOTES_CHROMIUM to its path, then run `make test` again."
        )


if __name__ == "__main__":
    main()
