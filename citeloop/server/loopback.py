"""Whether a request comes from this machine, and from its user rather than from a web page that they have open."""

import re
from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address
from typing import Final

ALLOWED_ORIGINS: Final = ("https://smith.langchain.com", "https://eu.smith.langchain.com")
"""Where Studio is served from: its pages may talk to a server on their reader's machine. ``langgraph.json`` agrees."""
LOOPBACK_ORIGIN: Final = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"
"""Pages of this machine, as a regular expression. ``langgraph.json`` agrees."""

_FORWARDING = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "cf-connecting-ip", "via")


def is_local(client: str | None, headers: Mapping[str, str]) -> bool:
    """Whether a request may speak for the local user.

    Not if it passed a proxy, whose own address is what we see. Not if it names another host, as a page does whose
    domain was pointed at this machine (DNS rebinding). Not from a foreign page: a browser sends a form of any page
    anywhere, and only tells where the page is from.
    """
    origin = headers.get("origin")
    return (
        client is not None
        and _is_loopback(client)
        and _is_loopback(_host_name(headers.get("host", "")))
        and not any(name in headers for name in _FORWARDING)
        and (origin is None or origin in ALLOWED_ORIGINS or re.fullmatch(LOOPBACK_ORIGIN, origin) is not None)
    )


def _host_name(host: str) -> str:
    """The name or address in a Host header, without its port."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _is_loopback(name: str) -> bool:
    if name.lower() == "localhost":
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback
