"""The simulated jury: raters of both sides, a model of what they find helpful, and the algorithm's verdict.

`open_jury(...)` gives a `Jury`; `Jury.verdict` and `Jury.compare` say how it would judge notes.
Everything it says is a simulation, with the model's measured quality on every verdict.
"""

from __future__ import annotations

from crowdnotes.jury.jury import Jury, open_jury
from crowdnotes.jury.raters import Sampling, own_pool, shipped_pool

__all__ = ["Jury", "Sampling", "open_jury", "own_pool", "shipped_pool"]
