"""Long work in the background: named steps with progress, cancel and resume. Knows nothing of cases."""

from crowdnotes.jobs.records import (
    Fence,
    JobRecord,
    JobState,
    Progress,
    Step,
    StepRecord,
    StepState,
    plain_step,
    with_time_left,
)
from crowdnotes.jobs.runner import JobRunner, require_workers

__all__ = [
    "Fence",
    "JobRecord",
    "JobRunner",
    "JobState",
    "Progress",
    "Step",
    "StepRecord",
    "StepState",
    "plain_step",
    "require_workers",
    "with_time_left",
]
