"""Options that the studies share: each takes one part of the method away (CrowdNotes+ Table 3)."""

from __future__ import annotations

from typing import Annotated

import typer

QueryDiversity = Annotated[
    bool, typer.Option("--query-diversity/--no-query-diversity", help="Without: the post as the only query.")
]
Utility = Annotated[bool, typer.Option("--utility/--no-utility", help="Without: the hits in the order of the search.")]
