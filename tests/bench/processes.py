"""The processes a bench talks to: ours, the floors', the model's, each one of its own."""

import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.e2e.harness import ROOT, ServerProcess

READY_S = 60.0
_INHERITED = ("PATH", "LANG", "HOME", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH")


def environment(**more: str) -> dict[str, str]:
    """Return the variables of a bench's process: no key of the tester's, compiled code kept."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**inherited, **more}


@contextmanager
def running(module: str, *arguments: str) -> Iterator[str]:
    """Run ``python -m module`` and give the URL that its first line of output names."""
    # S603: the command is ours, word for word.
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            there, _, _ = select.select([process.stdout], [], [], READY_S)
            url = process.stdout.readline().strip() if there else ""
            assert url.startswith("http"), f"{module} did not start"
            yield url
        finally:
            process.terminate()


def model(
    *, tokens: int, per_second: float = 0.0, tool_every: int = 0
) -> AbstractContextManager[str]:
    """Run the scripted model server; gives the base URL a client is told."""
    return running(
        "tests.support.model_server",
        *("--tokens", str(tokens)),
        *("--tokens-per-second", str(per_second)),
        *("--tool-every", str(tool_every)),
    )


@contextmanager
def finchbot(home: Path, model_url: str) -> Iterator[ServerProcess]:
    """Run ``python app.py`` in a fresh home, with one model to ask, and give it when it is well."""
    with ServerProcess(home, with_model(model_url)) as server:
        yield server


def with_model(model_url: str) -> Mapping[str, str]:
    """Return the variables that make a model the default one."""
    return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": model_url}
