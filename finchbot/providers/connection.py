"""How a provider is reached: address, key, headers and patience."""

from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

CONNECT_TIMEOUT_S = 10.0

_ENDPOINT = "/chat/completions"


@dataclass(frozen=True, slots=True)
class Connection:
    """Everything that makes one line to a provider; equal connections share a client."""

    provider: str
    base_url: str
    """Normalised, see `normalised`."""
    api_key: str = field(default="", repr=False)
    """Empty when the server asks for none."""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Sent with every request, names letter by letter; they may hold a secret."""
    idle_timeout_s: float = 120.0

    @property
    def local(self) -> bool:
        """Whether the server is on this machine, where no proxy belongs in between."""
        host = urlsplit(self.base_url).hostname or ""
        if host == "localhost":
            return True
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return False


def normalised(base_url: str) -> str:
    """Return a base URL as the OpenAI client wants it, whichever part of it a person pasted.

    Blanks and slashes at the end go, so does a pasted ``/chat/completions``; a bare host gets
    the usual ``/v1``.
    """
    url = base_url.strip().rstrip("/").removesuffix(_ENDPOINT).rstrip("/")
    return url if urlsplit(url).path.strip("/") else f"{url}/v1"
