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
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from memhook.errors import InvalidInput, SettingsError
from memhook.files.layout import toml_layout
from memhook.paths import ENVIRONMENT_PREFIX
from memhook.patterns import regex

Detail = Literal["preview", "cascade", "full"]
Notice = Literal["brief", "off"]
Relevance = Literal["strict", "balanced", "eager"]
Languages = Literal["auto", "english", "all"]
Source = Literal["default", "user file", "project file", "environment"]
STORE_NAME = r"[a-z][a-z0-9_-]{0,39}"
StoreName = Annotated[str, StringConstraints(pattern=rf"^{STORE_NAME}$")]

LARGEST_FILE = 64 * 1024
MOST_VALUES = 500  # each is validated separately, and a project's file is read while a prompt waits
MOST_DOTS = 500  # on one line: tomllib is quadratic in the parts of a key
LONGEST_SHOWN = 100

HIDDEN = "(hidden)"
_SECRET_OPTION = regex(r"key|secret|token|password|sas|credential", re.IGNORECASE)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SessionStart(_Section):
    max_tokens: int = Field(300, ge=0, le=100_000)
    max_memories: int = Field(8, ge=0, le=100)


class Hooks(_Section):
    detail: Detail = "preview"
    best_chars: int = Field(1500, ge=0, le=20_000)
    relevance: Relevance = "balanced"
    max_memories: int = Field(10, ge=1, le=50)
    capture: bool = True
    actions: bool = True
    notice: Notice = "brief"
    session_start: SessionStart = SessionStart()


class Capture(_Section):
    """Where memories come from by themselves. `exclude` names projects, by name, by id or by their folder."""

    enabled: bool = False
    instruction: bool = True
    cues: bool = True
    follow: bool = True
    exclude: tuple[str, ...] = ()


class Distill(_Section):
    """The user's own model for `memhook distill`. `key_variable` names the environment variable that has its key."""

    command: str = ""
    url: str = ""
    model: str = ""
    key_variable: str = ""


class Agent(_Section):
    """Settings for one type of subagent; the session's apply to what is not set."""

    namespaces: tuple[str, ...] = ()
    max_tokens: int | None = Field(None, ge=1, le=100_000)


class Pack(_Section):
    half_life_days: float = Field(30, gt=0, le=3650)


class Store(_Section):
    """The location of a store. `options` are LanceDB's: a region, an endpoint, a timeout."""

    uri: str = Field(
        "", description="an absolute path, one below ~/, or a location such as s3://bucket/path, without credentials"
    )
    options: Mapping[str, str] = {}
    foreign: bool = Field(False, exclude=True)
    """Set by `load_settings` if an environment variable names the store: files of a repository may set one."""

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
        """Convert values to strings: LanceDB takes "true" and "443"."""
        if not isinstance(options, Mapping):
            return options
        return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()}


class SharedStore(Store):
    """A store that several people use, searched together with the personal one."""

    refresh_seconds: float = Field(60, ge=1, le=86_400)


_OPTION = FieldInfo(annotation=str, description="a text for LanceDB")


class Embedding(_Section):
    model: str = Field(
        "granite-embedding-30m-english", min_length=1, description="the name of a model, see memhook models list"
    )
    languages: Languages = "auto"


class Daemon(_Section):
    idle_minutes: float = Field(60, gt=0, le=10_080)


class Ledger(_Section):
    keep_days: int = Field(30, ge=1, le=3650)


class Settings(_Section):
    """All settings; `config/default.toml` documents them."""

    enabled: bool = True
    max_tokens: int = Field(4000, ge=1, le=100_000)
    session_max_tokens: int = Field(20_000, ge=1, le=10_000_000)
    preview_chars: int = Field(200, ge=40, le=2000)
    namespaces: tuple[str, ...] = ()
    hooks: Hooks = Hooks()
    capture: Capture = Capture()
    distill: Distill = Distill()
    pack: Pack = Pack()
    store: Store = Store()
    stores: Mapping[StoreName, SharedStore] = {}
    embedding: Embedding = Embedding()
    daemon: Daemon = Daemon()
    ledger: Ledger = Ledger()
    agents: Mapping[str, Agent] = {}


class Problem(NamedTuple):
    source: Source
    text: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The effective settings, the source of each value that is not a default, and the problems.

    `unreadable` is the error in the user's own settings: then `settings` may only be displayed. `project_problem` is
    that of the project's, which can only restrict: nothing is captured there.
    """

    settings: Settings
    sources: Mapping[str, Source]
    found: tuple[Problem, ...] = ()
    unreadable: str = ""
    project_problem: str = ""

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(one.text for one in self.found)

    def usable(self) -> Settings:
        """Return the settings; raise SettingsError if the user's own could not be read."""
        if self.unreadable:
            raise SettingsError(
                f"{self.unreadable} Until that is repaired, nothing is stored, changed or shown.",
                "Repair it: memhook config edit",
            )
        return self.settings


@dataclass(frozen=True, slots=True)
class _Layer:
    """The values of one source, in their order. `text` is that of the file, to find the line of a value."""

    source: Source
    place: str
    values: tuple[tuple[str, Any], ...] = ()
    text: str = ""
    unreadable: str = ""

    def where(self, key: str) -> str:
        line = _line_of(key, self.text)
        return f"{self.place}, line {line}" if line else self.place


def load_settings(
    user_file: Path, project_file: Path | None = None, environment: Mapping[str, str] | None = None
) -> Loaded:
    """Load all layers. An invalid value does not raise: the layer below applies, and `problems` reports it."""
    problems: list[Problem] = []
    stopping: dict[Source, str] = {}
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    layers = [_file_layer("user file", user_file)]
    if project_file is not None:
        layers.append(_file_layer("project file", project_file, os.O_NOFOLLOW))
    layers.append(_Layer("environment", "the environment", _environment_values(environment or {}, problems, stopping)))
    before_variables = Settings()
    for layer in layers:
        if layer.source == "environment":
            before_variables = Settings(**nested(values))
        if layer.unreadable:
            problems.append(Problem(layer.source, stopping.setdefault(layer.source, layer.unreadable)))
        for key, value in layer.values:
            problem = _problem_with(key, value, values, layer.source)
            if not problem:
                values[key] = value
                sources[key] = layer.source
            elif _is_decisive(key, value, layer.source):
                text = stopping.setdefault(layer.source, f"{layer.where(key)}: {problem}")
                problems.append(Problem(layer.source, text))
            else:
                problems.append(Problem(layer.source, f"{layer.where(key)}: {problem} It is ignored."))
    if "project file" in stopping:
        values |= dict.fromkeys(("hooks.capture", "capture.enabled"), False)
    unreadable = stopping.get("user file") or stopping.get("environment", "")
    project_problem = _without_its_words(stopping["project file"], project_file) if "project file" in stopping else ""
    settings = _with_foreign_stores(Settings(**nested(values)), sources, before_variables)
    return Loaded(settings, sources, tuple(problems), unreadable, project_problem)


def _with_foreign_stores(settings: Settings, sources: Mapping[str, Source], own: Settings) -> Settings:
    """Mark the stores that an environment variable moves from where `own`, without the environment, has them."""

    def marked(prefix: str, store: Store, mine: Store) -> Store:
        return store.model_copy(update={"foreign": _is_elsewhere(prefix, store, mine, sources)})

    named = {
        name: marked(f"stores.{name}", store, own.stores.get(name, Store())) for name, store in settings.stores.items()
    }
    return settings.model_copy(update={"store": marked("store", settings.store, own.store), "stores": named})


def _is_elsewhere(prefix: str, store: Store, own: Store, sources: Mapping[str, Source]) -> bool:
    """Return whether the store was moved: by another URI, or by an option other than credentials (an endpoint)."""
    given = (f"{prefix}.options.{name}" for name in store.options if store.options[name] != own.options.get(name))
    redirected = any(sources.get(key) == "environment" and not is_secret(key) for key in given)
    return redirected or (bool(store.uri) and _place(store.uri) != _place(own.uri))


def _place(uri: str) -> str:
    path = uri.removeprefix("file://")
    return path if "://" in path else os.path.normpath(Path(path).expanduser()) if path else ""


def _without_its_words(problem: str, project_file: Path | None) -> str:
    """Return the problem without quoting the project's file, whose author must not address the user."""
    line = re.search(r"\bline (\d+)", problem.removeprefix(str(project_file)))
    return f"{project_file} cannot be read{f' (at line {line[1]})' if line else ''}."


# Settings that decide where memories are, and whether any are stored or shown: a wrong guess would do harm.
_DECISIVE = ("store", "stores", "enabled", "hooks.capture", "capture", "namespaces")
_SLIP_OF_THE_PEN = 0.85


def _is_decisive(key: str, value: Any, source: Source) -> bool:
    """Return whether an invalid value of `key` must stop memhook, because its author's intent is unknown.

    In the user's file any invalid value does, but not an unknown key of another version. A project's file comes from
    somebody else, who must not be able to switch memhook off by an error.
    """
    meant = key if is_setting(key) else _likely_meant(key, _SLIP_OF_THE_PEN)
    if source == "project file":
        return meant in _SWITCHED and value is not True
    head = key.partition(".")[0]
    if source == "environment":
        return head in _DECISIVE or meant in _DECISIVE or meant == "store.uri"
    return not is_secret(key) and bool(meant or head in _DECISIVE or _is_misplaced(key))


def _is_misplaced(key: str) -> bool:
    """Return whether it is a value in place of a table, or the reverse."""
    return any(one.startswith(f"{key}.") or key.startswith(f"{one}.") for one in (*setting_keys(), "agents."))


def _line_of(key: str, text: str) -> int:
    """Return the line of a setting in a valid TOML file, from 1, or 0 if it is not found."""
    path = key_path(key)
    try:
        starts = [entry.start for entry in toml_layout(text).entries if entry.path[: len(path)] == path]
    except ValueError:
        return 0
    return text.count("\n", 0, min(starts)) + 1 if starts else 0


@cache
def setting_keys() -> tuple[str, ...]:
    return tuple(key for key, _ in flattened(Settings().model_dump(mode="json")))


def named_keys(settings: Settings) -> tuple[str, ...]:
    """Return the keys with user-defined names: subagent types, shared stores, options of a store."""
    named = settings.model_dump(include={"agents": True, "stores": True, "store": {"options"}}, exclude_unset=True)
    return tuple(key for key, _ in flattened(named))


def is_setting(key: str) -> bool:
    return key in setting_keys() or _named_field(key) is not None


def _named_field(key: str) -> FieldInfo | None:
    """Return the field of a key with a user-defined name; None if there is none."""
    match key_path(key):
        case ("agents", name, leaf) if name:
            return Agent.model_fields.get(leaf)
        case ("stores", name, leaf) if re.fullmatch(STORE_NAME, name) and leaf in ("uri", "refresh_seconds"):
            return SharedStore.model_fields[leaf]
        case ("stores", name, "options", option) if re.fullmatch(STORE_NAME, name) and option:
            return _OPTION
        case ("store", "options", option) if option:
            return _OPTION
    return None


def is_secret(key: str) -> bool:
    """Return whether the value must not be displayed: an option of a store with a credential."""
    path = key_path(key)
    return "options" in path[:-1] and _SECRET_OPTION.search(path[-1]) is not None


def key_path(key: str) -> tuple[str, ...]:
    """Split a key into its tables and its name. A subagent type is one name, even with dots."""
    head, _, rest = key.partition(".")
    name, _, leaf = rest.rpartition(".")
    return (head, name, leaf) if head == "agents" and name else tuple(key.split("."))


def value_of(settings: Settings, key: str) -> Any:
    """Return the effective value; for a subagent type without its own value, that of the session."""
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


def shown_value(settings: Settings, key: str) -> Any:
    """Return the effective value as it may be displayed."""
    value = value_of(settings, key)
    return HIDDEN if is_secret(key) and value else value


def refuse_credentials(key: str) -> None:
    """Raise if `key` is a credential: settings files are copied, backed up and displayed."""
    if is_secret(key):
        variable = ENVIRONMENT_PREFIX + "__".join(key_path(key)).upper()
        raise InvalidInput(
            f"{key} is a credential, which does not belong in a settings file.",
            f"Use the files of the platform (such as ~/.aws/credentials), or the environment variable {variable}.",
        )


def refuse_unknown(key: str) -> None:
    """Raise if there is no setting of that name; the hint has the one that was probably meant, or all."""
    if not is_setting(key):
        meant = _likely_meant(key, 0.75)
        hint = f"Did you mean {meant}?" if meant else f"The settings are: {', '.join(setting_keys())}."
        raise InvalidInput(f"There is no setting {key!r}.", hint)


def checked(key: str, value: Any) -> Any:
    """Return `value` validated for `key`; raise InvalidInput with key, value and the allowed values."""
    refuse_unknown(key)
    if isinstance(value, bool) and not isinstance(value_of(Settings(), key), bool) and "options" not in key_path(key):
        raise _invalid(key, value)
    try:
        return value_of(Settings(**nested({key: value})), key)
    except ValidationError as error:
        raise _invalid(key, value) from error


def overridden(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Return `settings` with these values, by dotted keys; raise InvalidInput for one that is not allowed."""
    for key, value in values.items():
        settings = _replaced(settings, key_path(key), checked(key, value))
    return settings


def _replaced(section: Any, path: tuple[str, ...], value: Any) -> Any:
    head, *rest = path
    return section.model_copy(update={head: _replaced(getattr(section, head), tuple(rest), value) if rest else value})


def what_is_allowed(key: str) -> str:
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
    if named := _named_field(key):
        return named
    *parents, leaf = key_path(key)
    section: Any = Settings
    for parent in parents:
        section = section.model_fields[parent].annotation
    field: FieldInfo = section.model_fields[leaf]
    return field


def _invalid(key: str, value: Any) -> InvalidInput:
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    if is_secret(key) or (key.endswith(".uri") and "@" in shown):
        shown = HIDDEN
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
    return InvalidInput(
        f"{key} must be {what_is_allowed(key)}, not {shown}.", f"Its current value: memhook config get {key}"
    )


def flattened(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested tables with dotted keys."""
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


def _file_layer(source: Source, path: Path, flags: int = 0) -> _Layer:
    """Read a file; a missing one is empty, a dangling link is an unreadable file."""
    try:
        text = _decoded(_plain_bytes(path, flags))
        values = tuple(islice(flattened(_parsed(text)), MOST_VALUES + 1))
        if len(values) <= MOST_VALUES:
            return _Layer(source, str(path), values, text)
        reason = f"it has more than {MOST_VALUES} values"
    except (FileNotFoundError, NotADirectoryError):
        if not path.is_symlink():
            return _Layer(source, str(path))
        reason = f"it is a link to {path.readlink()}, which does not exist"
    except OSError as error:
        reason = error.strerror or str(error)
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:
        reason = str(error)
    return _Layer(source, str(path), unreadable=f"{path} cannot be read: {reason}.")


def _parsed(text: str) -> dict[str, Any]:
    """Parse TOML; raise ValueError with the line."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_DOTS and not line.lstrip().startswith("#"):
            raise ValueError(f"it has a key with too many parts (at line {number})")
    try:
        return tomllib.loads(text)
    except ValueError as error:  # a number of 5,000 digits is no TOMLDecodeError
        last = text.rstrip("\n").count("\n") + 1
        raise ValueError(str(error).replace("at end of document", f"at line {last}, where it ends")) from error


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"it is not UTF-8 (at line {line})") from error


def _plain_bytes(path: Path, flags: int) -> bytes:
    """Read a regular file: a project's file could be an endless pipe, a device, or a link to a private file."""
    if not stat.S_ISREG((path.lstat() if flags else path.stat()).st_mode):  # opening acts on some devices
        raise OSError("it is not a regular file")
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags), "rb") as file:  # noqa: PTH123  a descriptor
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is not a regular file")
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise OSError(f"it is larger than {LARGEST_FILE >> 10} KB")
    return data


OTHER_VARIABLES = frozenset({"MEMHOOK_DISABLE", "MEMHOOK_CLIENT"})  # read by the hooks, not settings

# Credentials of a store may be in the environment instead of a file.
_NAMED_VARIABLE = regex(rf"{ENVIRONMENT_PREFIX}(STORE__OPTIONS__\w+|STORES__[A-Z0-9_-]+?__\w+)")


class _Variables(Settings, BaseSettings):
    """The settings by the names of their variables. Never made: it would look for all of them in several places."""

    model_config = SettingsConfigDict(env_prefix=ENVIRONMENT_PREFIX, env_nested_delimiter="__")


class _GivenEnvironment(EnvSettingsSource):
    """The environment source of pydantic-settings, with the caller's environment instead of this process's."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._given = {key.lower(): value for key, value in environment.items()}
        super().__init__(_Variables)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return self._given


def _environment_values(
    environment: Mapping[str, str], problems: list[Problem], stopping: dict[Source, str]
) -> tuple[tuple[str, Any], ...]:
    wanted = {"".join((ENVIRONMENT_PREFIX, key.replace(".", "__"))).upper(): key for key in setting_keys()}
    environment = {name: value for name, value in environment.items() if name.startswith(ENVIRONMENT_PREFIX)}
    wanted |= {name: _named_key(name) for name in environment if _NAMED_VARIABLE.fullmatch(name)}
    for name in sorted(environment.keys() - wanted.keys() - OTHER_VARIABLES):
        problem = _unknown_variable(name)
        if _is_decisive(_named_key(name), environment[name], "environment"):
            problems.append(Problem("environment", stopping.setdefault("environment", problem)))
        else:
            problems.append(Problem("environment", f"{problem} It is ignored."))
    values: dict[str, Any] = {}
    for name in sorted(wanted.keys() & environment.keys()):
        key, text = wanted[name], environment[name]
        if isinstance(value_of(Settings(), key), list) and not text.lstrip().startswith("["):
            text = json.dumps(names_in(text))
        try:
            found = _GivenEnvironment({name: text})()
        except ValueError:
            found = nested({key: text})
        values |= dict(flattened(found))
    return tuple(values.items())


def _unknown_variable(name: str) -> str:
    key = _named_key(name)
    likely = _likely_meant(key)
    meant = f" Did you mean {ENVIRONMENT_PREFIX}{likely.replace('.', '__').upper()}?" if likely else ""
    return f"the environment: there is no setting {key} for {name}.{meant}"


def _likely_meant(key: str, likeness: float = 0.6) -> str:
    return next(iter(difflib.get_close_matches(key, setting_keys(), 1, likeness)), "")


def _named_key(variable: str) -> str:
    return variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".")


def names_in(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _problem_with(key: str, value: Any, below: Mapping[str, Any], source: Source) -> str:
    """Return why `value` is not accepted from `source`, or ""."""
    try:
        parsed = checked(key, value)
        if source != "environment":
            refuse_credentials(key)
    except InvalidInput as error:
        return f"{error.message} {error.hint}" if is_secret(key) else error.message
    if source != "project file":
        return ""
    return _overreach(key, parsed, value_of(Settings(**nested(below)), key))


_PROJECT_MAY_LOWER = (
    *("max_tokens", "session_max_tokens", "preview_chars"),
    *("hooks.best_chars", "hooks.max_memories"),
    *("hooks.session_start.max_tokens", "hooks.session_start.max_memories"),
)


_SWITCHED = {
    "enabled": "memhook",
    "hooks.capture": "capturing",
    "hooks.actions": "memories at tool calls",
    "capture.enabled": "digests",
    "capture.instruction": "the instruction",
    "capture.cues": "cues",
    "capture.follow": "following files",
}


def _overreach(key: str, value: Any, current: Any) -> str:
    """Return why a project may not set this: its file comes from a cloned repository and may only restrict."""
    if key in _SWITCHED:
        return "" if value is False else f"a project may only switch {_SWITCHED[key]} off."
    leaf = key_path(key)[-1] if key.startswith("agents.") else key
    if leaf == "namespaces":
        allowed = not current or (value and set(value) <= set(current))
        return "" if allowed else "a project may only narrow the namespaces."
    if leaf in _PROJECT_MAY_LOWER:
        return "" if value <= current else f"{key} = {value} is above {current}, and a project may only lower it."
    return f"a project may not set {key}."
