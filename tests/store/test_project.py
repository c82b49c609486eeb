import os
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memhook.store import project
from memhook.store.project import NO_PROJECT, Project, RecentWork, project_of, recent_work, remote_identity

REMOTE = "https://example.com/team/shop.git"
IDENTITY = "example.com/team/shop"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory, a fixed author and nothing of the user's own git configuration."""
    home = tmp_path / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.com")
    project._config_in.cache_clear()
    return home


def git(directory: Path, *arguments: str, text: str = "") -> str:
    command = ["git", "-C", str(directory), "-c", "protocol.file.allow=always", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, input=text).stdout.strip()


def repository(path: Path, remote: str = "", subjects: tuple[str, ...] = ("First",)) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    for subject in subjects:
        git(path, "commit", "-q", "--allow-empty", "-m", subject)
    if remote:
        git(path, "remote", "add", "origin", remote)
    return path


def script(path: Path, marker: Path) -> Path:
    path.write_text(f"#!/bin/sh\necho ran >> '{marker}'\nexit 1\n")
    path.chmod(0o755)
    return path


def removed(path: Path) -> Path:
    path.unlink()
    return path


def runs_nothing(*arguments: Any, **options: Any) -> Any:
    raise AssertionError("a process was started")


@pytest.mark.parametrize(
    "url",
    [
        "git@example.com:team/shop.git",
        "example.com:team/shop",
        "git@example.com:/team/shop.git",
        "git@[example.com]:team/shop.git",
        "ssh://git@example.com:22/team/shop",
        "ssh://git@example.com/team/shop.git/",
        "git+ssh://git@example.com:22/team/shop.git",
        "ssh://git@example.com:2222/team/shop.git",
        "https://example.com/team/shop",
        "https://example.com:443/team/shop.git",
        "https://user:token@example.com/team/shop.git/",
        "https://user@corp.example:to%2Fken@example.com/team/shop.git",
        "https://Example.COM./team//shop.git//",
        "https://example.com/team/shop.git?private_token=abc",
        "http://example.com:80/team/shop",
        "git://example.com:9418/team/shop.git",
        "  https://example.com/team/shop.git\n",
    ],
)
def test_every_spelling_of_a_remote_is_one_identity(url: str) -> None:
    assert remote_identity(url) == IDENTITY


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("https://example.com:8443/team/shop.git", "example.com:8443/team/shop"),
        ("https://example.com:22/team/shop.git", "example.com:22/team/shop"),
        ("https://example.com/Team/Shop.git", "example.com/Team/Shop"),
        ("git@example.com:shop", "example.com/shop"),
        ("https://example.com/group/sub/shop.git", "example.com/group/sub/shop"),
        ("ssh://git@[2001:DB8::1]:22/team/shop.git", "[2001:db8::1]/team/shop"),
        ("git@[2001:db8::1]:team/shop.git", "[2001:db8::1]/team/shop"),
        ("https://example.com/team/my.github.io", "example.com/team/my.github.io"),
    ],
)
def test_an_identity_keeps_what_tells_remotes_apart(url: str, identity: str) -> None:
    assert remote_identity(url) == identity


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/git/shop.git",
        "../shop.git",
        "./odd:name",
        "/srv/odd:name",
        "shop",
        "~/shop",
        "C:/projects/shop",
        "C:\\work\\shop",
        "file:///srv/git/shop.git",
        "file://server/shop.git",
        "ext::sh -c anything",
        "https://example.com",
        "https://example.com/",
        "https://example.com/.git",
        "https://[broken/team/shop",
        "https://example.com:port/team/shop",
        "https:///team/shop",
        "http://proxy@127.0.0.1:41234/git/team/shop",
        "ssh://localhost/team/shop",
        "ssh://[::1]:22/team/shop",
    ],
)
def test_a_remote_that_means_nothing_elsewhere_is_no_identity(url: str) -> None:
    assert remote_identity(url) == ""


def test_a_repository_is_known_by_its_remote(tmp_path: Path) -> None:
    shop = repository(tmp_path / "anything", REMOTE)
    assert project_of(shop) == Project(IDENTITY, shop, "shop")


def test_a_repository_without_a_remote_is_known_by_its_path(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    assert project_of(str(shop)) == Project(str(shop), shop, "shop")


def test_clones_of_the_same_remote_are_one_project(tmp_path: Path) -> None:
    one = repository(tmp_path / "one", REMOTE)
    two = repository(tmp_path / "two", "git@example.com:team/shop.git")
    assert project_of(one).id == project_of(two).id == IDENTITY


def test_a_clone_of_a_local_directory_is_the_same_project(tmp_path: Path) -> None:
    original = repository(tmp_path / "original")
    git(tmp_path, "clone", "-q", str(original), "clone")
    assert project_of(tmp_path / "clone") == Project(str(original), tmp_path / "clone", "original")


@pytest.mark.parametrize(
    "url", ["/srv/git/shop.git", "/srv/git/shop.git/", "file:///srv/git/shop.git", "/srv//git/./shop.git"]
)
def test_a_remote_on_this_machine_is_its_path_however_it_is_spelled(tmp_path: Path, url: str) -> None:
    shop = repository(tmp_path / "clone", url)
    assert project_of(shop) == Project("/srv/git/shop.git", shop, "shop")


@pytest.mark.parametrize("url", ["../shop.git", "shop", "~/shop", "file://server/shop.git", "/", "/tmp", "/tmp/.git"])
def test_a_path_that_says_nothing_is_no_identity(tmp_path: Path, url: str) -> None:
    shop = repository(tmp_path / "clone", url)
    assert project_of(shop).id == str(shop)


def test_a_remote_beyond_this_machine_comes_before_one_on_it(tmp_path: Path) -> None:
    shop = repository(tmp_path / "clone", "/srv/git/shop.git")
    git(shop, "remote", "add", "upstream", REMOTE)
    assert project_of(shop).id == IDENTITY


@pytest.mark.parametrize("remote", ["", REMOTE])
def test_subdirectories_worktrees_and_links_are_the_same_project(tmp_path: Path, remote: str) -> None:
    shop = repository(tmp_path / "shop", remote)
    (shop / "src" / "deep").mkdir(parents=True)
    (shop / "src" / "package.json").write_text("{}")
    git(shop, "worktree", "add", "-q", str(tmp_path / "elsewhere"))
    git(shop, "worktree", "add", "-q", str(shop / "inside"))
    (tmp_path / "elsewhere" / "src").mkdir()
    (tmp_path / "link").symlink_to(shop / "src")
    places = [
        shop / "src" / "deep",
        shop / "src" / ".." / "src",
        shop / ".git",
        shop / ".git" / "refs",
        shop / ".git" / "worktrees" / "elsewhere",
        shop / "inside",
        tmp_path / "elsewhere" / "src",
        tmp_path / "link" / "deep",
    ]
    expected = project_of(shop)
    assert expected.id == (IDENTITY if remote else str(shop))
    assert [(str(place), project_of(place).id) for place in places if project_of(place).id != expected.id] == []
    assert {project_of(place).name for place in places} == {"shop"}


def test_the_root_is_the_top_of_the_checkout_asked_about(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", REMOTE)
    git(shop, "worktree", "add", "-q", str(tmp_path / "linked"))
    (tmp_path / "linked" / "src").mkdir()
    assert project_of(tmp_path / "linked" / "src").root == tmp_path / "linked"
    assert project_of(shop / ".git" / "refs").root == shop


def test_origin_comes_first_and_then_the_first_remote_by_name(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    git(shop, "remote", "add", "upstream", "https://example.com/up/shop")
    git(shop, "remote", "add", "Fork.of.mine", "https://example.com/fork/shop")
    assert project_of(shop).id == "example.com/fork/shop"
    git(shop, "remote", "add", "origin", "https://example.com/origin/shop")
    assert project_of(shop).id == "example.com/origin/shop"
    git(shop, "remote", "set-url", "origin", "/srv/mirror")
    assert project_of(shop).id == "example.com/fork/shop"


def test_url_rewriting_and_the_users_own_remotes_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "gitconfig"
    own.write_text(
        '[url "https://mirror.example/"]\n\tinsteadOf = https://example.com/\n'
        '[remote "origin"]\n\turl = https://example.com/every/where\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    shop, plain = repository(tmp_path / "shop"), repository(tmp_path / "plain")
    git(shop, "config", "remote.origin.url", REMOTE)
    assert project_of(shop).id == IDENTITY
    assert project_of(plain).id == str(plain)


def test_git_variables_in_the_environment_do_not_mislead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = repository(tmp_path / "shop", REMOTE, ("Shop",))
    other = repository(tmp_path / "other", "https://example.com/team/other", ("Other",))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_COMMON_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_CONFIG", str(other / ".git" / "config"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'remote.origin.url=https://example.com/set/aside'")
    assert project_of(shop).id == IDENTITY
    assert recent_work(shop, 10).subjects == ("Shop",)


def test_a_submodule_is_its_own_project(tmp_path: Path) -> None:
    library = repository(tmp_path / "library")
    shop = repository(tmp_path / "shop", REMOTE)
    git(shop, "submodule", "--quiet", "add", str(library), "vendor/library")
    vendored = shop / "vendor" / "library"
    git(vendored, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert {project_of(place).id for place in (vendored, tmp_path / "linked")} == {str(library)}
    git(vendored, "remote", "set-url", "origin", "https://example.com/team/library.git")
    assert project_of(vendored) == Project("example.com/team/library", vendored, "library")
    assert project_of(shop / "vendor").id == IDENTITY


def test_the_worktrees_of_a_bare_repository_are_one_project(tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository(tmp_path / "original")), "shop.git")
    bare = tmp_path / "shop.git"
    git(bare, "remote", "remove", "origin")
    git(bare, "worktree", "add", "-q", str(tmp_path / "linked"), "main")
    assert project_of(tmp_path / "linked") == Project(str(bare), tmp_path / "linked", "shop")


def test_a_hidden_bare_repository_is_named_after_the_directory_it_is_in(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    git(shop, "clone", "-q", "--bare", str(repository(tmp_path / "original")), ".bare")
    git(shop / ".bare", "remote", "remove", "origin")
    (shop / ".git").write_text("gitdir: ./.bare\n")
    git(shop, "worktree", "add", "-q", "main")
    assert project_of(shop / "main") == Project(str(shop / ".bare"), shop / "main", "shop")


def test_a_git_directory_kept_elsewhere_counts_when_it_names_the_work_tree(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "kept"), str(shop))
    git(shop, "remote", "add", "origin", REMOTE)
    assert project_of(shop) == NO_PROJECT
    git(shop, "config", "core.worktree", str(shop))
    assert project_of(shop).id == IDENTITY


FAKE_CONFIG = f'[core]\n\tbare = true\n[remote "origin"]\n\turl = {REMOTE}\n'


def planted_git_directory(path: Path, config: str = FAKE_CONFIG) -> Path:
    """What a repository may contain as ordinary files: git checks out anything that is not named .git."""
    for folder in ("objects", "refs"):
        (path / folder).mkdir(parents=True)
        (path / folder / "keep").touch()
    (path / "HEAD").write_text("ref: refs/heads/main\n")
    (path / "config").write_text(config)
    return path


@pytest.mark.parametrize("where", ["docs", "docs/refs"])
@pytest.mark.parametrize("pathname", ["remote", "path"])
def test_a_clone_that_contains_a_bare_repository_stays_itself(tmp_path: Path, where: str, pathname: str) -> None:
    victim = repository(tmp_path / "victim", REMOTE if pathname == "remote" else "")
    planted = planted_git_directory(tmp_path / "theirs" / "docs")
    if pathname == "path":
        (planted / "config").write_text(f"[core]\n\tworktree = {victim}\n")
        (planted / "commondir").write_text(str(victim / ".git"))
    theirs = tmp_path / "theirs"
    git(theirs, "init", "-q", "-b", "main")
    git(theirs, "add", "--force", ".")
    git(theirs, "commit", "-q", "-m", "Nothing to see")
    git(tmp_path, "clone", "-q", str(theirs), "clone")
    assert (tmp_path / "clone" / where).is_dir()
    assert project_of(tmp_path / "clone" / where).id == str(theirs)
    assert recent_work(tmp_path / "clone" / where, 10).subjects == ("Nothing to see",)


def pointer(text: str) -> Callable[[Path], object]:
    return lambda git_file: git_file.write_text(f"gitdir: {text}\n")


@pytest.mark.parametrize(
    "leads_elsewhere",
    [
        pointer("../../victim/.git"),
        pointer("../../victim/.git/worktrees/linked"),
        pointer("../../victim.git"),
        pointer("../planted"),
        pointer("../planted/worktrees/part"),
        lambda git_file: git_file.symlink_to("../../victim/.git"),
        lambda git_file: git_file.symlink_to("../planted"),
    ],
)
def test_a_git_file_that_leads_to_another_repository_is_passed_over(
    tmp_path: Path, leads_elsewhere: Callable[[Path], object]
) -> None:
    victim = repository(tmp_path / "victim", REMOTE)
    git(victim, "worktree", "add", "-q", str(tmp_path / "linked"))
    git(tmp_path, "clone", "-q", "--bare", str(victim), "victim.git")
    git(tmp_path / "victim.git", "remote", "set-url", "origin", REMOTE)
    clone = repository(tmp_path / "clone", "https://example.com/them/theirs")
    planted = planted_git_directory(clone / "planted")
    linked = planted / "worktrees" / "part"
    linked.mkdir(parents=True)
    (linked / "HEAD").touch()
    (linked / "commondir").write_text("../..\n")
    (linked / "gitdir").write_text("../../../part/.git\n")
    (clone / "part").mkdir()
    leads_elsewhere(clone / "part" / ".git")
    assert project_of(clone / "part").id == "example.com/them/theirs"


@pytest.mark.parametrize("planted", ["part/.git", "planted", "planted/worktrees/part"])
def test_a_worktree_counts_only_where_its_repository_records_it(tmp_path: Path, planted: str) -> None:
    """An unpacked archive can hold such a record, which names the repository and this folder, itself."""
    victim = repository(tmp_path / "victim", REMOTE)
    clone = repository(tmp_path / "clone", "https://example.com/them/theirs")
    (clone / "part").mkdir()
    record = clone / planted
    record.mkdir(parents=True)
    (record / "HEAD").write_text("ref: refs/heads/main\n")
    (record / "commondir").write_text(f"{victim}/.git\n")
    (record / "gitdir").write_text(f"{clone}/part/.git\n")
    if not planted.endswith(".git"):
        pointer(str(record))(clone / "part" / ".git")
    assert project_of(clone / "part").id == "example.com/them/theirs"


def test_what_a_linked_worktree_contains_cannot_make_it_another_project(tmp_path: Path) -> None:
    clone = repository(tmp_path / "clone", "https://example.com/them/theirs")
    linked = tmp_path / "linked"
    git(clone, "worktree", "add", "-q", str(linked))
    (linked / "part").mkdir()
    planted_git_directory(linked / "planted", f'[core]\n\tworktree = ../part\n[remote "origin"]\n\turl = {REMOTE}\n')
    pointer("../planted")(linked / "part" / ".git")
    assert project_of(linked / "part").id == "example.com/them/theirs"


def test_a_repository_whose_work_tree_is_elsewhere_does_not_count_where_it_lies(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", REMOTE)
    (tmp_path / "elsewhere").mkdir()
    git(shop, "config", "core.worktree", str(tmp_path / "elsewhere"))
    assert project_of(shop) == NO_PROJECT


@pytest.mark.parametrize("marker", project.ROOT_MARKERS)
def test_without_git_the_nearest_root_marker_tells(tmp_path: Path, marker: str) -> None:
    shop = tmp_path / "work" / "shop"
    (shop / "src").mkdir(parents=True)
    (shop / marker).touch()
    (tmp_path / "work" / "package.json").touch()
    (tmp_path / "link").symlink_to(shop)
    assert project_of(shop / "src") == project_of(tmp_path / "link" / "src") == Project(str(shop), shop, "shop")
    assert project_of(tmp_path / "work").id == str(tmp_path / "work")


def test_a_temporary_directory_without_git_or_marker_is_no_project(tmp_path: Path) -> None:
    (tmp_path / "Makefile").touch()
    assert project_of(tmp_path) == NO_PROJECT


def test_a_plain_directory_is_a_project_by_itself_and_one_with_where_the_session_began(home: Path) -> None:
    notes = home / "notes"
    (notes / "2026" / "march").mkdir(parents=True)
    assert project_of(notes) == Project(str(notes), notes, "notes")
    assert project_of(notes / "2026").id == str(notes / "2026")
    for start in (notes, notes / "2026", notes / "2026" / "march"):
        assert project_of(start, session_root=notes).id == str(notes)
    assert project_of(notes, session_root=notes / "2026").id == str(notes)
    assert project_of(notes / "2026", session_root=home).id == str(notes / "2026")


@dataclass(frozen=True)
class Case:
    """Two places, made by `places`, and whether they are one project; `known_by` is what the first one's id is."""

    places: Callable[[Path, Path], tuple[Path, Path]]
    is_one: bool
    known_by: Callable[[Path, Path], str]


def of_remote(_base: Path, _first: Path) -> str:
    return IDENTITY


def of_path(_base: Path, first: Path) -> str:
    return str(first)


def of_nothing(_base: Path, _first: Path) -> str:
    return ""


def made(path: Path, *marks: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for mark in marks:
        (path / mark).touch()
    return path


def worktree(of: Path, path: Path) -> Path:
    git(of, "worktree", "add", "-q", str(path))
    return path


def renamed(path: Path, to: Path) -> Path:
    return path.rename(to)


def linked(path: Path, to: Path) -> Path:
    path.symlink_to(to)
    return path


def submodule(shop: Path, library: Path, remote: str = "") -> Path:
    git(shop, "submodule", "--quiet", "add", str(library), "vendored")
    if remote:
        git(shop / "vendored", "remote", "set-url", "origin", remote)
    return shop / "vendored"


def fork(path: Path) -> Path:
    git(repository(path, "git@example.com:me/shop.git"), "remote", "add", "upstream", REMOTE)
    return path


SSH = "git@example.com:team/shop"
CASES = {
    "clones over https and ssh": Case(
        lambda base, home: (repository(base / "a", REMOTE), repository(base / "b", SSH)), True, of_remote
    ),
    "a worktree of a repository with a remote": Case(
        lambda base, home: (shop := repository(base / "a", REMOTE), worktree(shop, base / "b")), True, of_remote
    ),
    "a worktree of a repository without": Case(
        lambda base, home: (shop := repository(base / "a"), worktree(shop, base / "b")), True, of_path
    ),
    "a subdirectory with a marker of its own": Case(
        lambda base, home: (shop := repository(base / "a", REMOTE), made(shop / "web", "package.json")), True, of_remote
    ),
    "a submodule and what it is in": Case(
        lambda base, home: (
            shop := repository(base / "a", REMOTE),
            submodule(shop, repository(base / "lib"), "https://example.com/team/lib"),
        ),
        False,
        of_remote,
    ),
    "a submodule and a clone of the same": Case(
        lambda base, home: (
            submodule(repository(base / "a"), repository(base / "lib"), REMOTE), repository(base / "b", SSH)
        ),
        True,
        of_remote,
    ),
    "clones of one bare repository on this machine": Case(
        lambda base, home: (repository(base / "a", "/srv/git/shop.git"), repository(base / "b", "/srv/git/shop.git")),
        True,
        lambda _base, _first: "/srv/git/shop.git",
    ),
    "a fork and what it is a fork of": Case(
        lambda base, home: (repository(base / "a", REMOTE), fork(base / "b")), False, of_remote
    ),
    "two repositories without a remote": Case(
        lambda base, home: (repository(base / "a" / "shop"), repository(base / "b" / "shop")), False, of_path
    ),
    "a renamed clone": Case(
        lambda base, home: (
            repository(base / "a", REMOTE), renamed(repository(base / "b", REMOTE), base / "c")
        ),
        True,
        of_remote,
    ),
    "a repository without a remote, renamed": Case(
        lambda base, home: (renamed(repository(base / "a"), base / "b"), made(base / "a", "go.mod")), False, of_path
    ),
    "a marked directory and a folder in it": Case(
        lambda base, home: (shop := made(base / "a", "go.mod"), made(shop / "cmd")), True, of_path
    ),
    "two plain directories": Case(
        lambda base, home: (made(home / "a"), made(home / "b")), False, of_path
    ),
    "a plain directory and a link to it": Case(
        lambda base, home: (shop := made(home / "a"), linked(base / "b", shop)), True, of_path
    ),
    "a repository and a link into it": Case(
        lambda base, home: (shop := repository(base / "a"), linked(base / "b", made(shop / "src"))), True, of_path
    ),
    "home and a temporary directory": Case(
        lambda base, home: (home, made(base / "scratch")), True, of_nothing
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_which_places_are_one_project(tmp_path: Path, home: Path, name: str) -> None:
    first, second = CASES[name].places(tmp_path, home)
    assert project_of(first).id == CASES[name].known_by(tmp_path, first)
    assert (project_of(first).id == project_of(second).id) is CASES[name].is_one


@pytest.mark.parametrize(
    ("ssh", "https"),
    [
        ("ssh://git@ssh.github.com:443/team/shop.git", "https://github.com/team/shop"),
        ("ssh://git@altssh.gitlab.com:443/team/shop.git", "https://gitlab.com/team/shop.git"),
        ("git@ssh.dev.azure.com:v3/team/suite/shop", "https://team@dev.azure.com/team/suite/_git/shop"),
        ("ssh://git@git.example.com:7999/team/shop.git", "https://git.example.com/team/shop"),
    ],
)
def test_the_ssh_and_the_https_form_are_one(ssh: str, https: str) -> None:
    assert remote_identity(ssh) == remote_identity(https) != ""


@pytest.mark.parametrize(
    "unusable",
    [
        lambda base: "",
        lambda base: ".",
        lambda base: "shop",
        lambda base: "~",
        lambda base: Path("shop/src"),
        lambda base: str(base / "missing"),
        lambda base: str(base / "shop" / "file"),
        lambda base: str(base / "shop" / "file" / "below"),
        lambda base: str(base / "shop") + "\0",
        lambda base: str(base / "shop") + "\ud800",
        lambda base: str(base / "loop"),
        lambda base: str(base / "dangling"),
        lambda base: str(base) + "/long" * 2000,
        lambda base: "/" + "x" * 300,
    ],
)
def test_what_is_not_an_absolute_directory_is_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unusable: Callable[[Path], str | Path]
) -> None:
    shop = repository(tmp_path / "shop", REMOTE)
    (shop / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "missing")
    monkeypatch.chdir(shop)
    assert project_of(unusable(tmp_path)) == NO_PROJECT
    assert recent_work(unusable(tmp_path), 10) == RecentWork()


@pytest.mark.parametrize("wide", ["home", "temporary"])
def test_home_and_the_temporary_directory_are_no_projects_but_what_is_in_them_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wide: str
) -> None:
    directory = tmp_path / wide
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "package.json").touch()
    directory.mkdir(exist_ok=True)
    git(directory, "init", "-q")
    git(directory, "remote", "add", "origin", REMOTE)
    (directory / "pyproject.toml").touch()
    (directory / "notes").mkdir()
    (tmp_path / "link").symlink_to(directory)
    (directory / "marked" / "src").mkdir(parents=True)
    (directory / "marked" / "go.mod").touch()
    deeper = repository(directory / "deeper")
    for place in (directory, directory / "notes", directory / ".git", tmp_path / "link"):
        is_plain = wide == "home" and place.name == "notes"
        assert project_of(place).id == (str(place) if is_plain else "")
        assert recent_work(place, 10) == RecentWork()
    assert project_of(directory / "marked" / "src").id == str(directory / "marked")
    assert project_of(deeper).id == str(deeper)


@pytest.mark.parametrize("wide", ["/", "/tmp", "/var/tmp"])
def test_the_widest_directories_are_no_projects(wide: str) -> None:
    assert project_of(wide) == NO_PROJECT


def test_a_worktree_of_a_repository_in_home_is_never_home(tmp_path: Path, home: Path) -> None:
    git(home, "init", "-q")
    git(home, "commit", "-q", "--allow-empty", "-m", "First")
    git(home, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert project_of(tmp_path / "linked") == NO_PROJECT
    git(home, "remote", "add", "origin", "https://example.com/me/dotfiles")
    assert project_of(tmp_path / "linked").id == "example.com/me/dotfiles"


def test_a_user_without_a_home_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert project_of(repository(tmp_path / "shop", REMOTE)).id == IDENTITY


@pytest.mark.parametrize(
    "broken",
    [
        lambda git: git.mkdir(),
        lambda git: git.write_text("gitdir: /nowhere/at/all\n"),
        lambda git: git.write_text("gitdir:"),
        lambda git: git.write_text("nonsense"),
        lambda git: git.write_bytes(b"gitdir: \0\xff"),
        lambda git: git.write_text("gitdir: " + "x" * 100_000),
        lambda git: git.symlink_to(git),
        os.mkfifo,
    ],
)
def test_a_broken_git_entry_is_passed_over(tmp_path: Path, broken: Callable[[Path], object]) -> None:
    shop = repository(tmp_path / "shop", REMOTE)
    (shop / "part").mkdir()
    (tmp_path / "alone").mkdir()
    broken(shop / "part" / ".git")
    broken(tmp_path / "alone" / ".git")
    assert project_of(shop / "part").id == IDENTITY
    assert project_of(tmp_path / "alone") == NO_PROJECT


@pytest.mark.parametrize(
    "spoil",
    [
        removed,
        lambda config: os.mkfifo(removed(config)),
        lambda config: removed(config).mkdir(),
        lambda config: removed(config).symlink_to("/dev/zero"),
        lambda config: config.write_bytes(b"\xff\0[[[remote"),
        lambda config: os.truncate(config, 100 * 1024 * 1024),
    ],
)
def test_a_repository_whose_configuration_cannot_be_read_is_known_by_its_path(
    tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    shop = repository(tmp_path / "shop", REMOTE)
    spoil(shop / ".git" / "config")
    assert project_of(shop).id == str(shop)


def test_a_name_that_is_not_text_gives_an_id_and_a_name_that_are(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9\n")
    try:
        odd.mkdir()
    except OSError:
        pytest.skip("this filesystem takes no such name")
    (odd / "go.mod").touch()
    found = project_of(odd)
    assert found.id == f"{tmp_path}/caf\\xe9\n"
    assert found.name == "caf\ufffd\ufffd"
    assert found.id.encode()


def test_which_project_it_is_takes_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = repository(tmp_path / "shop", REMOTE)
    (shop / "src").mkdir()
    git(shop, "worktree", "add", "-q", str(tmp_path / "linked"))
    monkeypatch.setattr(subprocess, "run", runs_nothing)
    assert {project_of(place).id for place in (shop, shop / "src", tmp_path / "linked")} == {IDENTITY}


def test_a_directory_outside_git_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", runs_nothing)
    assert project_of(tmp_path) == NO_PROJECT


def test_a_changed_remote_is_noticed(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", REMOTE)
    assert project_of(shop).id == IDENTITY
    git(shop, "remote", "set-url", "origin", "https://example.com/team/moon.git")
    assert project_of(shop).id == "example.com/team/moon"
    git(shop, "remote", "remove", "origin")
    assert project_of(shop).id == str(shop)


def without_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def with_slow_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def expired(command: list[str], *, timeout: float, **options: Any) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", expired)


def with_failing_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script(tmp_path / "git", tmp_path / "ran")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")


@pytest.mark.parametrize("spoil", [without_git, with_slow_git, with_failing_git])
def test_a_project_is_the_same_when_git_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[pytest.MonkeyPatch, Path], None]
) -> None:
    shop, plain = repository(tmp_path / "shop", REMOTE), repository(tmp_path / "plain")
    spoil(monkeypatch, tmp_path)
    assert project_of(shop).id == IDENTITY
    assert project_of(plain).id == str(plain)
    assert recent_work(shop, 10) == RecentWork()


@pytest.mark.parametrize(
    "config",
    [
        "",
        '[remote "origin"]\n\turl = https://example.com/a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
        '[remote "origin"] url = git@example.com:a/b # why\n',
        '[REMOTE "Origin"]\r\n  URL=https://example.com/a/b ; note\r\n',
        '[remote "or\\"ig\\\\in"]\nurl = "https://example.com/a#b;c"\n',
        '[remote "two"]\nurl = https://example.com/one\nurl = https://example.com/two\npushurl = x\n',
        '[remote "split"]\nurl = https://example.com/\\\nteam/shop\n',
        '[remote "a.b.c"]\nurl = "  spaced  out"tail  \n',
        '# [remote "no"]\n; url = no\n[core]\n\tbare\n\tworktree = "../with space"\n[branch "main"]\nremote = origin\n',
        '\ufeff[remote "bom"]\nurl = x:y\n[remote "empty"]\nurl =\n',
        '[url "https://mirror.example/"]\ninsteadOf = https://example.com/\n[include]\npath = other\n',
    ],
)
def test_a_configuration_reads_as_git_reads_it(tmp_path: Path, config: str) -> None:
    file = tmp_path / "config"
    file.write_bytes(config.encode())
    command = ["git", "config", "--file", str(file), "-z", "--get-regexp", r"^remote\..*\.url$|^core\.worktree$"]
    by_git = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    pairs = [entry.partition("\n")[::2] for entry in by_git.split("\0") if entry]
    read = project._config_entries(config.removeprefix("\ufeff"))
    wanted = [(key, value) for key, value in read if key == "core.worktree" or project._REMOTE_URL.fullmatch(key)]
    assert [(key, value.strip()) for key, value in pairs] == wanted


def test_a_repository_that_git_distrusts_keeps_its_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shop = repository(tmp_path / "shop", REMOTE)
    monkeypatch.setitem(project._GIT_VARIABLES, "GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert project_of(shop).id == IDENTITY
    assert recent_work(shop, 10) == RecentWork()


def test_recent_work_is_the_branch_and_the_last_subjects(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", REMOTE, ("1", "2", "3", "Vier: grün", "5\nof two lines\n\nand a body", "6"))
    (shop / "src").mkdir()
    expected = RecentWork("main", ("6", "5 of two lines", "Vier: grün", "3", "2"))
    assert recent_work(shop, 10) == recent_work(str(shop / "src"), 10) == expected


def test_recent_work_is_that_of_the_worktree_asked_about(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", REMOTE)
    git(shop, "worktree", "add", "-q", "-b", "fix/tax", str(tmp_path / "linked"))
    git(tmp_path / "linked", "commit", "-q", "--allow-empty", "-m", "Fix the tax")
    root = project_of(tmp_path / "linked").root
    assert root is not None
    assert recent_work(root, 10) == RecentWork("fix/tax", ("Fix the tax", "First"))


def test_recent_work_without_a_branch_or_without_commits(tmp_path: Path) -> None:
    fresh, detached = repository(tmp_path / "fresh", subjects=()), repository(tmp_path / "detached")
    git(detached, "checkout", "-q", "--detach")
    assert recent_work(fresh, 10) == RecentWork("main", ())
    assert recent_work(detached, 10) == RecentWork("", ("First",))


def test_recent_work_outside_a_repository_or_without_time_is_empty(tmp_path: Path) -> None:
    assert recent_work(tmp_path, 10) == RecentWork()
    assert recent_work(repository(tmp_path / "shop"), 0) == RecentWork()


def test_a_subject_is_one_short_line_without_control_characters(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", subjects=("long " * 100, "\x1b[31mred\u2028line"))
    escape, long = recent_work(shop, 10).subjects
    assert escape == "\ufffd[31mred\ufffdline"
    assert len(long) <= project.SUBJECT_CHARS


def asked_about(shop: Path) -> None:
    project._config_in.cache_clear()
    assert project_of(shop).id == IDENTITY
    recent_work(shop, 10)


def test_a_repository_cannot_make_memhook_run_its_fsmonitor_hooks_pager_or_aliases(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    shop = repository(tmp_path / "shop", REMOTE)
    evil = script(shop / "evil", ran)
    hooks = shop / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "pre-commit"):
        script(hooks / hook, ran)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "credential.helper", "diff.external"):
        git(shop, "config", key, str(evil))
    git(shop, "config", "core.hooksPath", str(hooks))
    for name in ("config", "log", "symbolic-ref"):
        git(shop, "config", f"alias.{name}", f"!{evil}")
    asked_about(shop)
    assert recent_work(shop, 10).subjects == ("First",)
    assert not ran.exists()
    git(shop, "status")
    assert ran.exists(), "the trap itself must work"


def test_a_repository_cannot_make_memhook_run_its_signature_check(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    shop = repository(tmp_path / "shop", REMOTE)
    head, _, message = git(shop, "cat-file", "commit", "HEAD").partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----"
    signed = git(shop, "hash-object", "-t", "commit", "-w", "--stdin", text=f"{head}\n{signature}\n\n{message}\n")
    git(shop, "update-ref", "HEAD", signed)
    git(shop, "config", "log.showSignature", "true")
    git(shop, "config", "gpg.program", str(script(shop / "evil", ran)))
    asked_about(shop)
    assert recent_work(shop, 10).subjects == ("First",)
    assert not ran.exists()
    git(shop, "log")
    assert ran.exists(), "the trap itself must work"


def test_a_repository_cannot_make_memhook_fetch_what_it_lacks(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    shop = repository(tmp_path / "shop", REMOTE, ("First", "Second"))
    missing = git(shop, "rev-parse", "HEAD~")
    (shop / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    trap = {"url": str(tmp_path), "promisor": "true", "uploadpack": str(script(shop / "evil", ran))}
    for key, value in trap.items():
        git(shop, "config", f"remote.trap.{key}", value)
    git(shop, "config", "core.repositoryFormatVersion", "1")
    git(shop, "config", "extensions.partialClone", "trap")
    asked_about(shop)
    assert not ran.exists()
    subprocess.run(["git", "-C", str(shop), "log"], check=False, capture_output=True)
    assert ran.exists(), "the trap itself must work"


def test_a_program_called_git_in_the_repository_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = tmp_path / "ran"
    shop = repository(tmp_path / "shop", REMOTE)
    script(shop / "git", ran)
    monkeypatch.chdir(shop)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    asked_about(shop)
    assert not ran.exists()
