"""How every floor is served: plain uvicorn, on a free port of loopback, without access lines."""

import socket
from typing import Any

import uvicorn


def serve(app: Any) -> None:
    """Serve until a signal; the first line of the output is the URL, and it takes connections."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(2048)
        # T201: who started this process reads the URL from its output.
        print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)  # noqa: T201
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
