"""A proxy that the bench has, as something that takes part in the audit of proxies."""

from __future__ import annotations

from bench.adapters.sae_proxies import Proxy


class NamedProxy(Proxy):
    """The proxy called `proxy`."""

    def __init__(self, *, proxy: str) -> None:
        self.proxy = proxy
