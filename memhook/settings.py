"""Settings: defaults, the user's file, the project's file, the environment, in rising order."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from memhook.errors import InvalidInput
from memhook.paths import ENVIRONMENT_PREFIX

Detail = Literal["preview", "cascade", "full"]
Relevance = Literal["strict", "balanced", "eager"]
Source = Literal["default", "user file", "project file", "environment"]


LARGEST_FILE = 64 * 1024


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SessionStart(_Section):
    max_memories: int = Field(8, ge=0, le=100)


class Hooks(_Section):
    detail: Detail = "preview"
    relevance: Relevance = "balanced"
    session_start: SessionStart = SessionStart()


class Pack(_Section):
    half_life_days: float = Field(30, gt=0, le=3650)


class Store(_Section):
    uri: str = ""

    @field_validator("uri")
    @classmethod
    def _means_the_same_everywhere(cls, uri: str) -> str:
        if uri and not uri.startswith(("/", "~/")) and "://" not in uri:
            raise ValueError("it must be an absolute path, one below ~/, or a location such as s3://bucket/path")
        return uri


class Embedding(_Section):
    model: str = Field("granite-embedding-30m-english", min_length=1)


class Daemon(_Section):
    idle_minutes: float = Field(60, gt=0, le=10_080)


class Ledger(_Section):
    keep_days: int = Field(30, ge=1, le=3650)


class Settings(BaseSettings):
    """Every setting; `config/default.toml` says what each is for."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    enabled: bool = True
    max_tokens: int = Field(4000, ge=1, le=100_000)
    preview_chars: int = Field(200, ge=40, le=2000)
    namespaces: tuple[str, ...] = ()
    hooks: Hooks = Hooks()
    pack: Pack = Pack()
    store: Store = Store()
    embedding: Embedding = Embedding()
    daemon: Daemon = Daemon()
    ledger: Ledger = Ledger()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  the signature is pydantic-settings'
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `load_settings` hands over: the daemon serves many environments, its own says nothing."""
        return (init_settings,)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, where each value that is not a default came from, and what was wrong on the way."""

    settings: Settings
    sources: Mapping[str, Source]
    problems: tuple[str, ...] = ()


def load_settings(
    user_file: Path, project_file: Path | None = None, environment: Mapping[str, str] | None = None
) -> Loaded:
    """Never raises for a bad value: the value below it in the order is used, and `problems` says so."""
    problems: list[str] = []
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    layers: list[tuple[Source, str, dict[str, Any]]] = [("user file", str(user_file), _toml(user_file, problems))]
    if project_file is not None:
        layers.append(("project file", str(project_file), _toml(project_file, problems)))
    layers.append(("environment", "the environment", _environment_values(environment or {}, problems)))
    for source, place, layer in layers:
        for key, value in flattened(layer):
            problem = _problem_with(key, value, values, source)
            if problem:
                problems.append(f"{place}: {problem} It is ignored.")
                continue
            values[key] = value
            sources[key] = source
    return Loaded(Settings(**nested(values)), sources, tuple(problems))


def setting_keys() -> tuple[str, ...]:
    return tuple(key for key, _ in flattened(Settings().model_dump(mode="json")))


def value_of(settings: Settings, key: str) -> Any:
    value: Any = settings.model_dump(mode="json")
    for part in key.split("."):
        value = value[part]
    return value


def checked(key: str, value: Any) -> Any:
    """`value` as the setting `key` keeps it; raises InvalidInput naming key, value and what is allowed."""
    if key not in setting_keys():
        raise InvalidInput(f"There is no setting {key!r}.", f"The settings are: {', '.join(setting_keys())}.")
    if isinstance(value, bool) and not isinstance(value_of(Settings(), key), bool):
        raise InvalidInput(f"{key} = {str(value).lower()} is not possible: it is not a switch.")
    try:
        return value_of(Settings(**nested({key: value})), key)
    except ValidationError as error:
        reasons = "; ".join(_reason(detail["msg"]) for detail in error.errors())
        raise InvalidInput(
            f"{key} = {value!r} is not possible: {reasons}.", f"See: memhook config get {key}"
        ) from error


def flattened(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested tables as dotted keys."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of `flattened`."""
    tree: dict[str, Any] = {}
    for key, value in flat.items():
        *parents, leaf = key.split(".")
        branch = tree
        for parent in parents:
            branch = branch.setdefault(parent, {})
        branch[leaf] = value
    return tree


def _toml(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        status = path.stat()
        # A project's file is somebody else's: it may be a pipe that never ends or a link to something endless.
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FILE:
            raise OSError("it is not a plain file of reasonable size")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        problems.append(f"{path} cannot be read ({error}). It is ignored.")
        return {}


class _GivenEnvironment(EnvSettingsSource):
    """pydantic-settings' own reading of variables, over the environment of the caller instead of this process."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._given = {key.lower(): value for key, value in environment.items()}
        super().__init__(Settings)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return self._given


def _environment_values(environment: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    wanted = {"".join((ENVIRONMENT_PREFIX, key.replace(".", "__"))).upper() for key in setting_keys()}
    values: dict[str, Any] = {}
    for name in sorted(wanted & environment.keys()):
        try:
            values |= nested(dict([*flattened(values), *flattened(_GivenEnvironment({name: environment[name]})())]))
        except ValueError as error:
            problems.append(f"{name}: {error}. It is ignored.")
    return values


def _problem_with(key: str, value: Any, below: Mapping[str, Any], source: Source) -> str:
    """Why `value` cannot be taken from `source`, or nothing."""
    try:
        parsed = checked(key, value)
    except InvalidInput as error:
        return error.message
    if source != "project file":
        return ""
    return _overreach(key, parsed, value_of(Settings(**nested(below)), key))


_PROJECT_MAY_LOWER = ("max_tokens", "preview_chars", "hooks.session_start.max_memories")


def _overreach(key: str, value: Any, current: Any) -> str:
    """A project file comes from a repository someone cloned: it may only lower, narrow and switch off."""
    if key == "enabled":
        return "" if value is False else "a project may only switch memhook off."
    if key == "namespaces":
        allowed = not current or (value and set(value) <= set(current))
        return "" if allowed else "a project may only narrow the namespaces."
    if key in _PROJECT_MAY_LOWER:
        return "" if value <= current else f"{key} = {value} is above {current}, and a project may only lower it."
    return f"a project may not set {key}."


def _reason(message: str) -> str:
    return message[:1].lower() + message[1:]
