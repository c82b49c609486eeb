import pytest

from memhook.core.memory import Sensitivity
from memhook.engine.catalogue import OPERATIONS
from memhook.engine.scopes import NO_NAMESPACE, OWNER, Rights, Scope, narrowed, rights_of, scopes_of, written
from memhook.errors import AccessDenied, InvalidInput

READER = Rights(frozenset({Scope.READ}))
WRITER = Rights(frozenset({Scope.WRITE}))


@pytest.mark.parametrize("method", ["get", "search", "list", "inject", "pack"])
def test_reading_needs_the_scope_to_read(method: str) -> None:
    READER.check(OPERATIONS[method].scope, {})
    with pytest.raises(AccessDenied, match="memory:read"):
        WRITER.check(OPERATIONS[method].scope, {})


@pytest.mark.parametrize("method", ["remember", "edit", "forget"])
def test_writing_needs_the_scope_to_write(method: str) -> None:
    WRITER.check(OPERATIONS[method].scope, {})
    with pytest.raises(AccessDenied, match="memory:write"):
        READER.check(OPERATIONS[method].scope, {})


def test_restricted_memories_need_their_scope_besides_the_parameter() -> None:
    with pytest.raises(AccessDenied, match="memory:restricted"):
        READER.check(Scope.READ, {"include_restricted": True})
    OWNER.check(Scope.READ, {"include_restricted": True})


@pytest.mark.parametrize("method", ["export_page", "import_lines", "mute", "why", "projects", "health"])
def test_what_looks_past_scopes_and_namespaces_is_the_owners(method: str) -> None:
    OWNER.check(OPERATIONS[method].scope, {})
    every_scope = Rights(frozenset(Scope))
    for rights in (READER, every_scope, rights_of(written(every_scope)), Rights(frozenset(Scope), ("frontend",))):
        with pytest.raises(AccessDenied, match="owner"):
            rights.check(OPERATIONS[method].scope, {})


def test_what_is_visible_grows_with_the_scopes() -> None:
    assert READER.visible.sensitivities == (Sensitivity.NORMAL,)
    assert not READER.visible.redacted
    restricted = Rights(frozenset({Scope.READ, Scope.RESTRICTED}))
    assert restricted.visible.sensitivities == (Sensitivity.NORMAL, Sensitivity.RESTRICTED)
    assert OWNER.visible.sensitivities == tuple(Sensitivity)


def test_a_namespace_that_was_not_granted_is_refused_to_readers_and_writers() -> None:
    rights = Rights(frozenset(Scope), ("frontend", "shared"))
    assert rights.within(["shared"]) == ("shared",)
    assert rights.within([]) == ("frontend", "shared")
    assert rights.home == "frontend"
    for params in ({"namespaces": ["shared", "backend"]}, {"namespace": "backend"}):
        with pytest.raises(AccessDenied, match="backend"):
            rights.check(Scope.READ, params)


def test_namespaces_with_nothing_in_common_let_nothing_through() -> None:
    assert narrowed(("a", "b"), ("b", "c")) == ("b",)
    assert narrowed((), ("b",)) == ("b",)
    assert narrowed(("a",), ()) == ("a",)
    assert narrowed(("a",), ("b",)) == NO_NAMESPACE


def test_rights_cross_the_wire_and_bad_ones_do_not_become_the_owners() -> None:
    rights = Rights(frozenset({Scope.READ, Scope.RESTRICTED}), ("a",))
    assert rights_of(written(rights)) == rights
    assert rights_of(None) == OWNER
    bad_ones: list[object] = [{}, [], "", {"scopes": ["memory:everything"], "namespaces": []}]
    for bad in bad_ones:
        with pytest.raises(InvalidInput):
            rights_of(bad)


def test_an_unknown_scope_is_told_with_those_there_are() -> None:
    with pytest.raises(InvalidInput) as error:
        scopes_of(["memory:admin"])
    assert "memory:confidential" in error.value.hint
