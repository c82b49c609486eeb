"""The errors that memhook reports to users.

MemhookError
├── InvalidInput      invalid input of the user
├── SettingsError     the user's settings cannot be read, so nothing is stored or shown
├── NotFound          no memory has that URN, id or alias
├── Conflict          a memory has changed since the version that a change was made from
├── StoreError        the store cannot be opened, read or written
│   ├── DamagedStore  its files were truncated or changed; repair may be possible
│   └── RemoteError   a remote store cannot be reached, or refuses; local data is not affected
├── EmbeddingError    the embedding model is missing or not the one expected
├── DaemonUnavailable no daemon answers and none could be started
└── AccessDenied      the caller lacks the scope for this
"""


class MemhookError(Exception):
    """An error with a message and a hint for the user."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidInput(MemhookError): ...


class SettingsError(MemhookError): ...


class NotFound(MemhookError): ...


class Conflict(MemhookError): ...


class StoreError(MemhookError): ...


class DamagedStore(StoreError): ...


class RemoteError(StoreError): ...


class EmbeddingError(MemhookError): ...


class DaemonUnavailable(MemhookError): ...


class AccessDenied(MemhookError): ...
