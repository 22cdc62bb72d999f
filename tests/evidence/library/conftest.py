"""A small table, and a place for libraries."""

from pathlib import Path

import pandas as pd
import pytest

from crowdnotes.evidence.library import Libraries
from tests.fakes import HashingEmbedder

ROWS = [
    ("What is flu?", "Influenza is a respiratory infection caused by a virus. Rest and fluids help most people."),
    ("What is measles?", "Measles is a virus that spreads through the air. Two doses of vaccine prevent it."),
    ("What is diabetes?", "Diabetes means that blood glucose is too high. Insulin moves glucose into cells."),
    ("", ""),
    ("What is flu?", "Influenza is a respiratory infection caused by a virus! Rest and fluids help most people."),
    ("What causes flu?", "Influenza viruses cause flu. They pass through the air and enter the body by the nose."),
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "health.parquet"
    pd.DataFrame(ROWS, columns=["question", "answer"]).assign(
        url=[f"https://example.org/{i}" for i in range(len(ROWS))], date="2020-02-03", publisher="NIH"
    ).to_parquet(file)
    return file


@pytest.fixture
def libraries(tmp_path: Path) -> Libraries:
    return Libraries(tmp_path / "libraries", HashingEmbedder())
