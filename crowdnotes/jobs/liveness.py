"""Whether the process that works on a job is still there.

A process that was killed cannot say so. Its jobs are known as dead at once on the same machine (no
such process), and elsewhere when its heartbeat is missing for too long.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
import uuid

HEARTBEAT_SECONDS = 2.0
_SILENCE_SECONDS = 30.0  # many heartbeats: a busy database or a short sleep of the machine is not a death

# Tells this process from an earlier one with the same number, as in a restarted container.
_TOKEN = uuid.uuid4().hex[:12]
_held: set[str] = set()
_lock = threading.Lock()


def this_process() -> str:
    """The owner to write on a job: "host:process number:token"."""
    return f"{socket.gethostname()}:{os.getpid()}:{_TOKEN}"


def hold(job_id: str) -> None:
    """Note that this process works on the job."""
    with _lock:
        _held.add(job_id)


def release(job_id: str) -> None:
    """Note that it no longer does."""
    with _lock:
        _held.discard(job_id)


def is_alive(job_id: str, owner: str, heartbeat: float) -> bool:
    """Whether `owner` can still be at work on the job; `heartbeat` is in seconds since the epoch."""
    if owner == this_process():
        with _lock:
            return job_id in _held
    host, pid, _ = owner.rsplit(":", 2)
    if host == socket.gethostname() and not _process_exists(int(pid)):
        return False
    return time.time() - heartbeat < _SILENCE_SECONDS


def _process_exists(pid: int) -> bool:
    if pid == os.getpid():
        return False  # the number is ours now, and the token was not
    if sys.platform == "win32":
        return True  # signal 0 would end the process there; the heartbeat decides
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
