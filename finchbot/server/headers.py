"""The headers that go with every response: content security policy and its kin; pure."""

from collections.abc import Iterable

from finchbot.server.paths import below

Header = tuple[bytes, bytes]

# Both faces build styles and scripts in the page, hence 'unsafe-*'. What is held here: nothing
# is fetched from, sent to, or framed by another host, whatever a model or a memory writes.
_PAGE = (
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self' data: blob:",
    "worker-src 'self' blob:",
    "frame-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
)
# A file somebody sent may be a page with a script; opened by itself it must not be ours.
_FILE = (
    "sandbox",
    "default-src 'none'",
    "img-src 'self' data:",
    "media-src 'self'",
    "style-src 'unsafe-inline'",
)
_FILE_PREFIXES = ("/gradio_api/file", "/file=", "/admin/media/")
_HUGGING_FACE = "https://huggingface.co"


def policy(path: str, *, framed_by_space: bool) -> str:
    """Return the content security policy for what is served at `path`."""
    rules = _FILE if path.startswith(_FILE_PREFIXES) else _PAGE
    frames = f" {_HUGGING_FACE}" if framed_by_space else ""
    return "; ".join((*rules, f"frame-ancestors 'self'{frames}"))


def protected(headers: Iterable[Header], path: str, *, framed_by_space: bool) -> list[Header]:
    """Return response headers with ours added.

    A stricter policy a page of ours brings along stays beside ours: browsers hold both.
    Permissions for pages of other origins, which Gradio hands out, are taken away.
    """
    kept = [(name, value) for name, value in headers if not _is_foreign(name, framed_by_space)]
    names = {name.lower() for name, _ in kept}
    ours = {
        b"content-security-policy": policy(path, framed_by_space=framed_by_space).encode(),
        b"x-content-type-options": b"nosniff",
        b"referrer-policy": b"same-origin",
        b"cross-origin-resource-policy": b"same-origin",
    }
    if below(path, "/api") and b"cache-control" not in names:
        ours[b"cache-control"] = b"no-store"
    single = set(ours) - {b"content-security-policy"}
    return [(name, value) for name, value in kept if name.lower() not in single] + [*ours.items()]


def _is_foreign(name: bytes, framed_by_space: bool) -> bool:
    name = name.lower()
    return name.startswith(b"access-control-") or (framed_by_space and name == b"x-frame-options")
