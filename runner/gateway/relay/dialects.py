"""The protocols that the gateway speaks, by path. Data."""

from .chat import Chat
from .dialect import Dialect
from .messages import Messages
from .responses import Responses

DIALECTS: tuple[Dialect, ...] = (Chat(), Responses(), Messages())
BY_NAME: dict[str, Dialect] = {each.operation: each for each in DIALECTS}
BY_PATH: dict[str, Dialect] = {each.path: each for each in DIALECTS}
