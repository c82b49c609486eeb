"""Settings: defaults, the user's file, the project's file, the environment, in rising order."""

from __future__ import annotations

import difflib
import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from memhook.errors import InvalidInput
from memhook.paths import ENVIRONMENT_PREFIX

Detail = Literal["preview", "cascade", "full"]
Relevance = Literal["strict", "balanced", "eager"]
Languages = Literal["auto", "english", "all"]
Source = Literal["default", "user file", "project file", "environment"]
STORE_NAME = r"[a-z][a-z0-9_-]{0,39}"
StoreName = Annotated[str, StringConstraints(pattern=rf"^{STORE_NAME}$")]

LARGEST_FILE = 64 * 1024
LONGEST_SHOWN = 100

HIDDEN = "(hidden)"
_SECRET_OPTION = re.compile(r"key|secret|token|password|sas|credential", re.IGNORECASE)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SessionStart(_Section):
    max_memories: int = Field(8, ge=0, le=100)


class Hooks(_Section):
    detail: Detail = "preview"
    relevance: Relevance = "balanced"
    capture: bool = True
    session_start: SessionStart = SessionStart()


class Agent(_Section):
    """What holds for one type of subagent; what is not said holds as for the session."""

    namespaces: tuple[str, ...] = ()
    max_tokens: int | None = Field(None, ge=1, le=100_000)


class Pack(_Section):
    half_life_days: float = Field(30, gt=0, le=3650)


class Store(_Section):
    """Where memories are. What `options` may hold is LanceDB's to say: a region, an endpoint, a timeout."""

    uri: str = Field(
        "", description="an absolute path, one below ~/, or a location such as s3://bucket/path, without credentials"
    )
    options: Mapping[str, str] = {}

    @field_validator("uri")
    @classmethod
    def _means_the_same_everywhere(cls, uri: str) -> str:
        if uri and not uri.startswith(("/", "~/")) and "://" not in uri:
            raise ValueError
        if "@" in uri.partition("://")[2].partition("/")[0]:
            raise ValueError
        return uri

    @field_validator("options", mode="before")
    @classmethod
    def _as_written(cls, options: Any) -> Any:
        """true and 443 mean to LanceDB what "true" and "443" do."""
        if not isinstance(options, Mapping):
            return options
        return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()}


class SharedStore(Store):
    """One that several people use, searched beside the personal one."""

    refresh_seconds: float = Field(60, ge=1, le=86_400)


class Embedding(_Section):
    model: str = Field(
        "granite-embedding-30m-english", min_length=1, description="the name of a model, as memhook models list has it"
    )
    languages: Languages = "auto"


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
    session_max_tokens: int = Field(20_000, ge=1, le=10_000_000)
    preview_chars: int = Field(200, ge=40, le=2000)
    namespaces: tuple[str, ...] = ()
    hooks: Hooks = Hooks()
    pack: Pack = Pack()
    store: Store = Store()
    stores: Mapping[StoreName, SharedStore] = {}
    embedding: Embedding = Embedding()
    daemon: Daemon = Daemon()
    ledger: Ledger = Ledger()
    agents: Mapping[str, Agent] = {}

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
        layers.append(("project file", str(project_file), _toml(project_file, problems, follow_link=False)))
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


def named_keys(settings: Settings) -> tuple[str, ...]:
    """The keys of what is set under a name of the user's own: types of subagents, shared stores, a store's options."""
    named = settings.model_dump(include={"agents": True, "stores": True, "store": {"options"}}, exclude_unset=True)
    return tuple(key for key, _ in flattened(named))


def is_setting(key: str) -> bool:
    if key in setting_keys():
        return True
    match key_path(key):
        case ("agents", name, leaf):
            return bool(name) and leaf in Agent.model_fields
        case ("stores", name, leaf):
            return _is_store_name(name) and leaf in SharedStore.model_fields and leaf != "options"
        case ("stores", name, "options", option):
            return _is_store_name(name) and bool(option)
        case ("store", "options", option):
            return bool(option)
    return False


def _is_store_name(name: str) -> bool:
    return re.fullmatch(STORE_NAME, name) is not None


def is_secret(key: str) -> bool:
    """Whether the value is to be shown to nobody: an option of a store that holds a credential."""
    path = key_path(key)
    return "options" in path[:-1] and _SECRET_OPTION.search(path[-1]) is not None


def key_path(key: str) -> tuple[str, ...]:
    """The tables a setting is in, and its name. A type of subagent is one name, whatever dots it has."""
    head, _, rest = key.partition(".")
    name, _, leaf = rest.rpartition(".")
    return (head, name, leaf) if head == "agents" and name else tuple(key.split("."))


def value_of(settings: Settings, key: str) -> Any:
    """The value in force; for a type of subagent without one of its own, that of the session."""
    value: Any = settings.model_dump(mode="json")
    head, *rest = key_path(key)
    if head == "agents":
        name, leaf = rest
        return value["agents"].get(name, {}).get(leaf) or value[leaf]
    if head == "stores" and rest[0] not in value["stores"]:
        value["stores"][rest[0]] = SharedStore().model_dump(mode="json")
    for part in (head, *rest):
        value = value[part] if part in value or part != rest[-1] else ""
    return value


def refuse_credentials(key: str) -> None:
    """A file of settings is copied, backed up and shown; it is no place for a credential."""
    if is_secret(key):
        variable = ENVIRONMENT_PREFIX + "__".join(key_path(key)).upper()
        raise InvalidInput(
            f"{key} is a credential, which does not belong in a file of settings.",
            f"Keep it where the platform does (~/.aws/credentials and the like), or in the environment as {variable}.",
        )


def checked(key: str, value: Any) -> Any:
    """`value` as the setting `key` keeps it; raises InvalidInput naming key, value and what is allowed."""
    if not is_setting(key):
        raise InvalidInput(f"There is no setting {key!r}.", f"The settings are: {', '.join(setting_keys())}.")
    if isinstance(value, bool) and not isinstance(value_of(Settings(), key), bool) and "options" not in key_path(key):
        raise _not_possible(key, value)
    try:
        return value_of(Settings(**nested({key: value})), key)
    except ValidationError as error:
        raise _not_possible(key, value) from error


def what_is_allowed(key: str) -> str:
    """The values that the setting `key` takes, in words."""
    field = _field_of(key)
    bounds = {
        name: getattr(bound, name) for bound in field.metadata for name in ("ge", "gt", "le") if hasattr(bound, name)
    }
    match value_of(Settings(), key):
        case bool():
            return "true or false"
        case int():
            return f"a whole number from {bounds['ge']} to {bounds['le']}"
        case float():
            least = f"from {bounds['ge']} to" if "ge" in bounds else f"above {bounds['gt']}, at most"
            return f"a number {least} {bounds['le']}"
        case list():
            return "a list of names, such as work,home"
    return field.description or f"one of {', '.join(get_args(field.annotation))}"


def _field_of(key: str) -> FieldInfo:
    head, *rest = key_path(key)
    if head == "agents":
        return Agent.model_fields[rest[-1]]
    if "options" in rest:
        return FieldInfo(annotation=str, description="a text, as LanceDB takes it")
    if head == "stores":
        return SharedStore.model_fields[rest[-1]]
    fields = Settings.model_fields
    for parent in (head, *rest)[:-1]:
        section: type[BaseModel] = fields[parent].annotation  # type: ignore[assignment]
        fields = section.model_fields
    return fields[(head, *rest)[-1]]


def _not_possible(key: str, value: Any) -> InvalidInput:
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    if is_secret(key) or (key.endswith(".uri") and "@" in shown):
        shown = HIDDEN
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
    return InvalidInput(
        f"{key} = {shown} is not possible: it must be {what_is_allowed(key)}.",
        f"What it is now: memhook config get {key}",
    )


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
        *parents, leaf = key_path(key)
        branch = tree
        for parent in parents:
            branch = branch.setdefault(parent, {})
        branch[leaf] = value
    return tree


def _toml(path: Path, problems: list[str], *, follow_link: bool = True) -> dict[str, Any]:
    try:
        return tomllib.loads(_plain_text(path, 0 if follow_link else os.O_NOFOLLOW))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        problems.append(f"{path} cannot be read ({error}). It is ignored.")
        return {}


def _plain_text(path: Path, flags: int) -> str:
    """A project's file is somebody else's: it may be a pipe that never ends, a device, or a link to what is private."""
    if not stat.S_ISREG((path.lstat() if flags else path.stat()).st_mode):  # before it is opened: some devices act then
        raise OSError("it is not a plain file")
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags), "rb") as file:  # noqa: PTH123
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is not a plain file")
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise OSError(f"it is larger than {LARGEST_FILE >> 10} KB")
    return data.decode("utf-8")


OTHER_VARIABLES = frozenset({"MEMHOOK_DISABLE", "MEMHOOK_CLIENT"})  # read by the hooks, and no settings

# Credentials of a store may come so, instead of lying in a file.
_NAMED_VARIABLE = re.compile(rf"{ENVIRONMENT_PREFIX}(STORE__OPTIONS__\w+|STORES__[A-Z0-9_-]+?__\w+)")


class _GivenEnvironment(EnvSettingsSource):
    """pydantic-settings' own reading of variables, over the environment of the caller instead of this process."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._given = {key.lower(): value for key, value in environment.items()}
        super().__init__(Settings)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return self._given


def _environment_values(environment: Mapping[str, str], problems: list[str]) -> dict[str, Any]:
    wanted = {"".join((ENVIRONMENT_PREFIX, key.replace(".", "__"))).upper(): key for key in setting_keys()}
    environment = {name: value for name, value in environment.items() if name.startswith(ENVIRONMENT_PREFIX)}
    wanted |= {name: _named_key(name) for name in environment if _NAMED_VARIABLE.fullmatch(name)}
    problems += map(_unknown_variable, sorted(environment.keys() - wanted.keys() - OTHER_VARIABLES))
    values: dict[str, Any] = {}
    for name in sorted(wanted.keys() & environment.keys()):
        key, text = wanted[name], environment[name]
        if isinstance(value_of(Settings(), key), list) and not text.lstrip().startswith("["):
            text = json.dumps(names_in(text))
        try:
            found = _GivenEnvironment({name: text})()
        except ValueError:
            problems.append(f"the environment: {_not_possible(key, text).message} It is ignored.")
            continue
        values = nested(dict([*flattened(values), *flattened(found)]))
    return values


def _unknown_variable(name: str) -> str:
    key = _named_key(name)
    likely = difflib.get_close_matches(key, setting_keys(), 1)
    meant = f" Did you mean {ENVIRONMENT_PREFIX}{likely[0].replace('.', '__').upper()}?" if likely else ""
    return f"the environment: there is no setting {key}, which {name} would be for.{meant} It is ignored."


def _named_key(variable: str) -> str:
    return variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".")


def names_in(text: str) -> list[str]:
    """Names with commas between them, as one types them."""
    return [name for part in text.split(",") if (name := part.strip())]


def _problem_with(key: str, value: Any, below: Mapping[str, Any], source: Source) -> str:
    """Why `value` cannot be taken from `source`, or nothing."""
    try:
        parsed = checked(key, value)
        if source != "environment":
            refuse_credentials(key)
    except InvalidInput as error:
        return f"{error.message} {error.hint}" if is_secret(key) else error.message
    if source != "project file":
        return ""
    return _overreach(key, parsed, value_of(Settings(**nested(below)), key))


_PROJECT_MAY_LOWER = ("max_tokens", "session_max_tokens", "preview_chars", "hooks.session_start.max_memories")


_SWITCHED = {"enabled": "memhook", "hooks.capture": "capturing"}


def _overreach(key: str, value: Any, current: Any) -> str:
    """A project file comes from a repository someone cloned: it may only lower, narrow and switch off."""
    if key in ("enabled", "hooks.capture"):
        return "" if value is False else f"a project may only switch {_SWITCHED[key]} off."
    leaf = key_path(key)[-1] if key.startswith("agents.") else key
    if leaf == "namespaces":
        allowed = not current or (value and set(value) <= set(current))
        return "" if allowed else "a project may only narrow the namespaces."
    if leaf in _PROJECT_MAY_LOWER:
        return "" if value <= current else f"{key} = {value} is above {current}, and a project may only lower it."
    return f"a project may not set {key}."
