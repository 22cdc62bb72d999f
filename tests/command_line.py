"""`crowdnotes …` in this process: what a person's shell would show, without a new interpreter for each."""

from __future__ import annotations

import io
import logging
import os
import sys
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from crowdnotes.cli.main import main
from crowdnotes.engines.embedding import make_embedder
from tests.shared import minilm


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def crowdnotes(folder: Path, *words: str, stdin: str = "", **variables: str) -> Ended:
    """Run a command in a folder, with its data below it; the model is read once for all commands."""
    out, err = io.StringIO(), io.StringIO()
    level = logging.getLogger("crowdnotes").level
    environment = {"CROWDNOTES_DATA_DIR": str(folder / "data"), **variables}
    with ExitStack() as stack:
        stack.enter_context(chdir(folder))
        stack.enter_context(patch.dict(os.environ, environment))
        stack.enter_context(patch.object(sys, "argv", ["crowdnotes", *words]))
        stack.enter_context(patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")))
        stack.enter_context(
            patch("crowdnotes.workspace.make_embedder", lambda settings, _: make_embedder(settings, minilm()))
        )
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        stack.callback(logging.getLogger("crowdnotes").setLevel, level)
        try:
            main()
            code = 0
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else int(left.code is not None)
    return Ended(code, out.getvalue(), err.getvalue())
