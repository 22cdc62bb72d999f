"""What leaves the program: text to copy, files to keep, tables to share."""

from crowdnotes.handoff.files import cases_csv, to_json, to_markdown
from crowdnotes.handoff.passed_over import although, gate_said
from crowdnotes.handoff.x_form import class_label, form_labels, is_demonstration, post_url

__all__ = [
    "although",
    "cases_csv",
    "class_label",
    "form_labels",
    "gate_said",
    "is_demonstration",
    "post_url",
    "to_json",
    "to_markdown",
]
