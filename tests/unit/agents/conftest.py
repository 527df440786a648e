from tests.unit.gateway.conftest import gateway, program

__all__ = ["gateway", "program"]
