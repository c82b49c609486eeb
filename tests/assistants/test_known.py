"""Which assistant an event is from."""

from __future__ import annotations

from memhook.assistants.known import KNOWN
from memhook.daemon.hook_client import PASSED_ON


class Asked(dict[str, str]):
    """An environment with every variable, which records those that are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return True

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return "1"

    def get(self, name: str, default: object = None) -> str:
        return self[name]


def test_the_client_passes_on_each_variable_by_which_an_assistant_is_recognised() -> None:
    environment = Asked()
    for assistant in KNOWN.values():
        assistant.runs_here(environment)
    assert environment.names
    assert environment.names <= {name.decode() for name in PASSED_ON}
