"""Where a route leads, and the gateway that serves it, as long as they are held."""

from collections.abc import Iterator
from contextlib import contextmanager

from runner.gateway.bundle import gateway_bundle
from runner.gateway.client import Gateway, open_gateway
from runner.gateway.scripted import load_scenarios, scripted_provider
from runner.roster import Route
from runner.settings import Settings
from sandbox.api import Sandbox


@contextmanager
def address(settings: Settings, route: Route) -> Iterator[str]:
    """Give where a route leads; a scripted one is served as long as this is held."""
    if route.scripted is None:
        yield route.base_url or ""
        return
    with scripted_provider(load_scenarios(settings.path(route.scripted))) as provider:
        yield provider.base_url


@contextmanager
def gateway_unit(sandbox: Sandbox) -> Iterator[Gateway]:
    """Start the gateway's unit from its packed program, and keep it until left."""
    with open_gateway(sandbox, sandbox.store(gateway_bundle())) as gateway:
        yield gateway
