"""The errors memhook raises for its users.

MemhookError
├── InvalidInput      something the user gave cannot be used
├── SettingsError     what the user has set cannot be read, so nothing is stored or shown
├── NotFound          no memory answers to that URN, id or alias
├── StoreError        the store cannot be opened, read or written
│   ├── DamagedStore  its files were cut or changed; there may be a way to repair it
│   └── RemoteError   one that is elsewhere cannot be reached, or refuses; what is here is not concerned
├── EmbeddingError    the embedding model is missing or not the one expected
├── DaemonUnavailable no daemon answers and none could be started
└── AccessDenied      the caller lacks the scope for this
"""


class MemhookError(Exception):
    """What happened, and what the user can do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidInput(MemhookError): ...


class SettingsError(MemhookError): ...


class NotFound(MemhookError): ...


class StoreError(MemhookError): ...


class DamagedStore(StoreError): ...


class RemoteError(StoreError): ...


class EmbeddingError(MemhookError): ...


class DaemonUnavailable(MemhookError): ...


class AccessDenied(MemhookError): ...
