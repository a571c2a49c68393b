"""A program that serves the admin alone, as the gateway makes it; its server is elsewhere."""

import asyncio
import sys

from finchbot.compose.gateway import make_admin
from finchbot.server.serving import Server, listen


async def main() -> None:
    """Serve on a free port and print it."""
    listener = listen("127.0.0.1", 0)
    server = Server(make_admin())
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve([listener])


if __name__ == "__main__":
    asyncio.run(main())
