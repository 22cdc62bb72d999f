"""Settings come from the environment, and a bad one gives a sentence."""

from __future__ import annotations

import stat
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from pydantic_settings import BaseSettings

from crowdnotes.domain import SourceCategory
from crowdnotes.errors import ConfigurationError
from crowdnotes.settings import Settings, _warn_of_unread_variable, load_settings
from tests.command_line import crowdnotes
from tests.settings_table import PAGE, page

_KINDS = [field.annotation for field in Settings.model_fields.values()]
_CHECKED = {int, float, bool}
_GROUPS = [
    kind
    for kind in _KINDS
    if isinstance(kind, type)
    and issubclass(kind, BaseSettings)
    and any(field.annotation in _CHECKED for field in kind.model_fields.values())
]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CROWDNOTES_WORKERS", "none"),
        ("CROWDNOTES_FETCH_MAX_BYTES", "0"),
        ("CROWDNOTES_ALLOWED_PRIVATE_HOSTS", "not json"),
        ("CROWDNOTES_SEARCH_REQUEST_SECONDS", "0"),
        ("CROWDNOTES_BRIDGING_RATERS", "none"),
    ],
)
def test_a_bad_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError) as raised:
        load_settings()
    assert variable in str(raised.value) or "allowed_private_hosts" in str(raised.value)


def test_a_user_without_a_home_is_asked_for_a_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWDNOTES_DATA_DIR", raising=False)
    monkeypatch.setattr("crowdnotes.settings.user_data_path", MagicMock(side_effect=RuntimeError("no home")))
    with pytest.raises(ConfigurationError, match="CROWDNOTES_DATA_DIR"):
        load_settings()


@pytest.mark.parametrize("kind", _GROUPS)
def test_every_group_of_settings_names_its_own_variable(
    monkeypatch: pytest.MonkeyPatch, kind: type[BaseSettings]
) -> None:
    field = next(name for name, info in kind.model_fields.items() if info.annotation in _CHECKED)
    variable = f"{kind.model_config['env_prefix']}{field}".upper()
    monkeypatch.setenv(variable, "much")
    with pytest.raises(ConfigurationError, match=f"wrong: {variable}: "):
        load_settings()


def test_a_removed_setting_is_named_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    _warn_of_unread_variable.cache_clear()
    for name in ("CROWDNOTES_BRIDGING_HELPFUL_INTERCEPT", "CROWDNOTES_BRIDGING_RATERS", "CROWDNOTES_LINK_TRIES"):
        monkeypatch.setenv(name, "all")
    load_settings()
    load_settings()
    said = [" ".join(record.getMessage().split()[:6]) for record in caplog.records]
    assert sorted(said) == [
        "Remove the variable CROWDNOTES_BRIDGING_HELPFUL_INTERCEPT: its value",
        "Remove the variable CROWDNOTES_LINK_TRIES: its value",
    ]


def test_a_renamed_setting_is_named_with_its_new_name(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _warn_of_unread_variable.cache_clear()
    monkeypatch.setenv("CROWDNOTES_EVIDENCE_LOOK_QUOTA", "5")
    load_settings()
    assert "the setting is now called CROWDNOTES_EVIDENCE_FOLLOW_UP_QUOTA" in caplog.text


def test_a_command_names_a_removed_setting(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _warn_of_unread_variable.cache_clear()
    assert crowdnotes(tmp_path, "cases", "list", CROWDNOTES_JURY_REPEATS="3").returncode == 0
    assert "Remove the variable CROWDNOTES_JURY_REPEATS" in caplog.text


def test_hosts_of_ones_own_get_their_kind_of_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDNOTES_EVIDENCE_CATEGORIES", '{"WWW.MySite.org": "research literature"}')
    assert load_settings().evidence.categories == {"mysite.org": SourceCategory.RESEARCH}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('{"https://mysite.org": "news media"}', "is not a host"),
        ('{"mysite.org": "research"}', "“research” is not a kind of source; use one of: health authority"),
        ('["mysite.org"]', "hosts with kinds"),
    ],
)
def test_a_wrong_host_or_kind_of_ones_own_is_said_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    monkeypatch.setenv("CROWDNOTES_EVIDENCE_CATEGORIES", value)
    with pytest.raises(ConfigurationError, match=said):
        load_settings()


def test_the_database_password_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDNOTES_DATABASE_URL", "postgresql://ann:s3cret@db/notes")
    settings = load_settings()
    assert "s3cret" not in repr(settings)
    assert "s3cret" in settings.resolved_database_url


def test_no_private_host_may_be_read_unless_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().allowed_private_hosts == ()
    monkeypatch.setenv("CROWDNOTES_ALLOWED_PRIVATE_HOSTS", '["Wiki.Local."]')
    assert load_settings().allowed_private_hosts == ("wiki.local",)


def test_the_page_of_settings_is_made_from_the_settings_as_they_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.settings_table"


def test_every_setting_has_a_reason() -> None:
    rows = [line for line in page().splitlines() if line.startswith("- `CROWDNOTES_")]
    assert len(rows) > 60
    assert [row for row in rows if row.endswith((": ", ": None"))] == []


def test_a_secret_may_stand_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    monkeypatch.setenv("CROWDNOTES_LLM_API_KEY", "")  # so that what is read is taken out again afterwards
    monkeypatch.delenv("CROWDNOTES_LLM_API_KEY")
    monkeypatch.setenv("CROWDNOTES_LLM_API_KEY_FILE", str(tmp_path / "key"))
    key = load_settings().llm.api_key
    assert key is not None
    assert key.get_secret_value() == "s3cret"
    monkeypatch.setenv("CROWDNOTES_AUTHOR_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigurationError, match="cannot read the file that CROWDNOTES_AUTHOR_FILE names"):
        load_settings()


def test_only_its_owner_enters_the_data_folder_and_nothing_else_is_changed(tmp_path: Path) -> None:
    def mode(name: str) -> int:
        Settings(data_dir=tmp_path / name).make_data_dir()
        return stat.S_IMODE((tmp_path / name).stat().st_mode)

    for name in ("empty", "earlier", "home", "shared"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o1777 if name == "shared" else 0o755)
    (tmp_path / "earlier" / "crowdnotes.sqlite").touch()
    (tmp_path / "home" / "letter.txt").touch()
    modes = [mode(name) for name in ("new", "empty", "earlier", "home", "shared")]
    assert modes == [0o700, 0o700, 0o700, 0o755, 0o1777]
