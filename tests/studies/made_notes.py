"""Notes of HealthNotes, made for tests and easy to learn."""

from __future__ import annotations

import json
from pathlib import Path

SUBJECTS = "kettle lantern orchard pebble quarry ribbon saddle timber umbrella velvet walnut yeast".split()


def health_file(path: Path, first: int = 0, count: int = 72) -> Path:
    """Notes that name a review are shown, others rant; no two are alike. Of one the time is not known."""
    rows = []
    for number in range(first, first + count):
        subject, other = SUBJECTS[number % 12], SUBJECTS[number * 5 % 11]
        helpful = number % 3 == 0
        things = f"{subject}s and {other}s in house {number} of row {number * 7}"
        note = f"A review found {things} harmless." if helpful else f"Stupid liars: {things}, wake up!"
        rows.append(
            {
                "note_id": str(number),
                "post": f"The {subject} in street {number * 13} makes {other} owners number {number} ill.",
                "note": f"{note} https://example.org/{number}",
                "status": "CURRENTLY_RATED_HELPFUL" if helpful else "CURRENTLY_RATED_NOT_HELPFUL",
                "created_at_ms": None if number == first + 1 else 1_690_000_000_000 + number * 86_400_000,
            }
        )
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path
