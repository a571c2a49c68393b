"""The bind rule: whoever listens to the network needs a password, a token, or demo mode."""

from collections.abc import Callable, Mapping
from datetime import datetime

from finchbot.errors import ConfigError
from finchbot.server.arrival import TrustedProxies, is_loopback
from finchbot.server.cookies import Signer
from finchbot.server.guard import Door
from finchbot.server.hosts import host_rule
from finchbot.server.identity import Identities
from finchbot.server.visits import Visits
from finchbot.settings import ServerSettings


def check_bind(server: ServerSettings, *, demo: bool) -> None:
    """Refuse an open door.

    Args:
        server: Where to listen, and the secrets.
        demo: Whether demo mode limits what a stranger can do; a Space is in it by default.

    Raises:
        ConfigError: ``server.needs_password`` (``host``), ``server.bad_proxy`` (``proxy``) or
            ``server.bad_root_path``.
    """
    secured = server.password is not None or server.api_token is not None
    if not (is_loopback(server.host) or secured or demo):
        raise ConfigError("server.needs_password", host=server.host)
    root_path(server.root_path)
    for proxy in server.trusted_proxies:
        _check_proxy(proxy)


def make_door(
    server: ServerSettings,
    *,
    demo: bool,
    environ: Mapping[str, str],
    signer: Signer,
    clock: Callable[[], datetime],
    new_id: Callable[[str], str],
    visits: Visits | None = None,
) -> Door:
    """Return the guard's rules for these settings.

    In a Space the platform's own proxy is the only way in, so it is trusted.
    """
    in_space = bool(environ.get("SPACE_ID"))
    proxies = server.trusted_proxies or (("*",) if in_space else ())
    loopback = is_loopback(server.host)
    return Door(
        hosts=host_rule(server.host, server.allowed_hosts),
        proxies=TrustedProxies(proxies),
        identities=Identities(
            password=server.password,
            token=server.api_token,
            loopback_bind=loopback,
            demo=demo,
            signer=signer,
            clock=clock,
            new_id=new_id,
        ),
        root_path=root_path(server.root_path),
        in_space=in_space,
        visits=visits,
    )


def root_path(setting: str) -> str:
    """Return the root path with a slash before and none behind; empty for none.

    Raises:
        ConfigError: ``server.bad_root_path``: it is no plain path.
    """
    path = setting.strip().strip("/")
    if not path:
        return ""
    if not all(part.replace("-", "").replace("_", "").isalnum() for part in path.split("/")):
        raise ConfigError("server.bad_root_path", path=setting)
    return f"/{path}"


def _check_proxy(proxy: str) -> None:
    try:
        TrustedProxies([proxy])
    except ValueError as error:
        raise ConfigError("server.bad_proxy", proxy=proxy) from error
