"""Streamlit's command, without the models that the app reads ahead (six seconds of the processor): a walk that needs
them waits for them, and most do not."""

from streamlit.web.cli import main

from pages.common import shared_workspace

if __name__ == "__main__":
    shared_workspace.load_models = lambda: None  # type: ignore[assignment] # it is cached
    main()
