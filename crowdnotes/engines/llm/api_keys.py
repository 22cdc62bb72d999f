"""Find, keep and forget the API keys of model servers.

Keys come from the settings (environment) or the system's keyring, and from nowhere else.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from crowdnotes.errors import ConfigurationError
from crowdnotes.settings_sections import LlmSettings

_KEYRING_SERVICE = "crowdnotes"


def key_for(settings: LlmSettings, base_url: str) -> str | None:
    """Return the key of a server, or None: the environment's first, then the keyring's.

    A key from the environment goes only to the server that it was set for. A system without a keyring has no keys in
    it; that is no error.
    """
    from keyring.errors import KeyringError

    if base_url == settings.base_url and settings.api_key is not None:
        return settings.api_key.get_secret_value()
    if base_url == settings.judge_base_url and settings.judge_api_key is not None:
        return settings.judge_api_key.get_secret_value()
    import keyring

    try:
        return keyring.get_password(_KEYRING_SERVICE, account(base_url))
    except (KeyringError, RuntimeError):
        return None


def keep_key(base_url: str, key: str) -> None:
    """Put a key into the keyring. Raises ConfigurationError if the system has none."""
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(_KEYRING_SERVICE, account(base_url), key)
    except (KeyringError, RuntimeError):
        raise ConfigurationError(
            "This system has no keyring.",
            "Set CROWDNOTES_LLM_API_KEY in the environment instead.",
        ) from None


def forget_key(base_url: str) -> bool:
    """Remove a key from the keyring; False if there was none. Raises ConfigurationError without a keyring."""
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    try:
        keyring.delete_password(_KEYRING_SERVICE, account(base_url))
    except PasswordDeleteError:
        return False
    except (KeyringError, RuntimeError):
        raise ConfigurationError(
            "This system has no keyring.", "Set CROWDNOTES_LLM_API_KEY in the environment instead."
        ) from None
    return True


def account(base_url: str) -> str:
    """Return the name under which a server's key is kept: its scheme, host and port."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(f"“{base_url}” is not a server's address.", "Write it as https://api.example.org/v1.")
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}"
