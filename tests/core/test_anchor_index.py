"""Which commands bring up a memory that names one."""

from __future__ import annotations

from pathlib import Path

import pytest

from memhook.core.actions import Action, action_of
from memhook.core.anchor_index import AnchorIndex, named_in_words
from memhook.core.anchors import anchors_of

CALLS = [
    tuple(line.split(" | ")) for line in (Path(__file__).parent / "calls.txt").read_text(encoding="utf-8").splitlines()
]


def is_shown(note: str, call: str) -> bool:
    return is_matched(note, action_of({"command": call}, "", ""))


@pytest.mark.parametrize(("expected", "call", "note"), CALLS)
def test_a_note_comes_up_for_the_calls_it_is_about_and_no_others(expected: str, call: str, note: str) -> None:
    assert is_shown(note, call) == (expected == "shown")


@pytest.mark.parametrize(
    ("note", "call"),
    [
        ("Run `npm ci --prefer-offline`.", "npm ci"),
        ("`npm install --legacy-peer-deps` is needed until the table is upgraded.", "npm install zod"),
        ("Backfill: `airflow dags backfill -s 2026-01-01 -p backfill_pool load`.", "airflow dags backfill load"),
        ("Use git fetch --prune in scripts.", "git fetch origin"),
    ],
)
def test_a_recipe_with_flags_comes_up_for_the_command_without_them(note: str, call: str) -> None:
    assert is_shown(note, call)


def test_a_flag_in_prose_is_part_of_the_command_it_follows() -> None:
    note = "Never call git push --force on shared branches."
    assert is_shown(note, "git push --force origin main")
    assert not is_shown(note, "git push origin main")
    assert not is_shown("Use git push --force never.", "git push origin main")


def test_a_memory_that_is_filed_again_has_only_its_new_flags() -> None:
    index = AnchorIndex()
    index.file("note", ("git push --force",), "Never `git push --force`.")
    index.file("note", ("git push",), "`git push` asks for the passphrase.")
    assert index.matches(Action(commands=(("git", "push"),)))


def edited(note: str, path: str, written: str = "") -> bool:
    return is_matched(note, Action(paths=(path,), written=written))


def failed(note: str, error: str) -> bool:
    return is_matched(note, Action(commands=(("make", "test"),), error=error))


def is_matched(note: str, action: Action) -> bool:
    index = AnchorIndex()
    index.file("note", anchors_of("", note), note)
    return bool(index.matches(action))


def test_a_type_of_two_words_counts_where_code_uses_it() -> None:
    note = "ShiftStore must never be called from the main thread, see GitHub"
    assert edited(note, "src/ShiftStore.kt")
    assert edited(note, "src/Menu.kt", "val open = ShiftStore(db).current()")
    assert edited(note, "src/Menu.java", "ShiftStore store = null;")
    assert not edited(note, "src/ShiftReport.kt", "val open = ShiftReport(db)")
    assert not edited(note, "src/Menu.kt", "// as on GitHub and in the ShiftStore")
    assert not edited(note, "docs/menu.md", "GitHub(R) has it.")


def test_a_file_name_is_meant_in_the_folder_it_is_said_to_be_in() -> None:
    note = "the strings.xml in res/values-fr comes out of the translation tool"
    assert edited(note, "app/res/values-fr/strings.xml")
    assert not edited(note, "app/res/values-de/strings.xml")
    assert not edited(note, "app/res/values-fr/plurals.xml")


def test_a_file_with_an_unknown_ending_counts() -> None:
    assert edited("proguard-rules.pro: the first line stays", "app/proguard-rules.pro")


def test_any_word_with_an_ending_may_be_the_file_that_is_touched() -> None:
    assert edited("memory.x is generated, don't edit", "memory.x")
    assert not edited("memory.x is generated, don't edit", "memory.y")


def test_an_address_counts_where_it_is_written() -> None:
    note = "the endpoint /v1/departures is used by the displays"
    assert edited(note, "app/departures.py", '@router.get("/v1/departures")')
    assert not edited(note, "app/departures.py", '@router.get("/v1/arrivals")')


@pytest.mark.parametrize(
    ("path", "written", "expected"),
    [
        ("src/release.py", "ModelRegistry.promote(name)", True),
        ("src/release.py", "registry = ModelRegistry()\nregistry.promote(name)", True),
        ("src/ModelRegistry.kt", "fun promote() {}", True),
        ("src/release.py", "ModelRegistry.lookup(name)", False),
        ("src/release.py", "Gateway.promote(name)", False),
    ],
)
def test_a_member_counts_with_its_type_whatever_the_object_is_called(path: str, written: str, expected: bool) -> None:
    assert edited("ModelRegistry.promote asks for two approvals", path, written) == expected


def test_what_a_note_says_of_a_file_is_meant_in_that_file() -> None:
    note = "`charts/tracker/values.yaml`: `replicaCount` stays 3"
    assert edited(note, "charts/tracker/values.yaml", "replicaCount: 2")
    assert not edited(note, "charts/gateway/values.yaml", "replicaCount: 2")


@pytest.mark.parametrize(
    ("note", "error", "expected"),
    [
        ("CUDA out of memory on the small node: set GRAD_ACCUM=4", "RuntimeError: CUDA out of memory. Tried", True),
        (
            "error: use of deleted function in FrameRef comes from a copy",
            "a.cc:1: error: use of deleted function 'x'",
            True,
        ),
        ("undefined reference to `vtable for Sink' = add the file", "undefined reference to `vtable for Sink'", True),
        ("undefined reference to `vtable for Sink' = add the file", "undefined reference to `avcodec_open2'", False),
        ("panicked at 'already borrowed' in the scheduler = pump()", "panicked at 'already borrowed': a.rs:4", True),
        ("panicked at 'already borrowed' in the scheduler = pump()", "panicked at 'index out of bounds'", False),
        (
            "when gradle says Could not resolve acme:labels the token has expired",
            "Could not resolve acme:labels:2",
            True,
        ),
        ("when gradle says Could not resolve acme:labels the token has expired", "Could not resolve all files", False),
        (
            '`webhook "gate.acme.svc" denied: owner-label`: every pod names its owner',
            'webhook "gate.acme.svc" denied the request:\n\nPod/a was blocked by these policies\n\nowner-label: none',
            True,
        ),
        (
            '`webhook "gate.acme.svc" denied: owner-label`: every pod names its owner',
            'webhook "gate.acme.svc" denied the request:\n\nPod/a was blocked by these policies\n\nhost-path: no',
            False,
        ),
        (
            "`Error(s) in loading: missing key(s)` is an old checkpoint",
            "Error(s) in loading net: missing key(s) a",
            True,
        ),
        (
            "`dial tcp: connect: connection refused` = no tunnel",
            "dial tcp [::1]:5432: connect: connection refused",
            True,
        ),
        ("the test database is shared", "error: the test database was dropped", False),
        ("`Can't resolve the icon map` = run the icon task", "Module: Can't resolve the icon 'a.svg' map", True),
        ("SqlException 1205 is normal at 6 am", "SqlException: deadlocked. Error Number:1205", True),
        ("SqlException 1205 is normal at 6 am", "SqlException: bad column. Error Number:207", False),
        (
            "QueryFailedError: duplicate key value means a double scan",
            "QueryFailedError: duplicate key value (1)",
            True,
        ),
        (
            "QueryFailedError: duplicate key value means a double scan",
            "QueryFailedError: null value in a column",
            False,
        ),
        ("a ParseException in Mapper.read comes from empty orders", "ParseException\n  at a.Mapper.read(M.cs:4)", True),
        ("a ParseException in Mapper.read comes from empty orders", "ParseException\n  at a.Login.run(L.cs:4)", False),
        ("LinkError for chorale_core means the build was skipped", "could not compile `chorale_core`", False),
    ],
)
def test_an_error_has_the_words_of_a_note_up_to_where_its_sentence_goes_on(
    note: str, error: str, expected: bool
) -> None:
    assert failed(note, error) == expected


@pytest.mark.parametrize(
    ("note", "same", "other"),
    [
        (
            "If it dies with \"Cannot read properties of null (reading 'orders')\" the fixture is missing.",
            "TypeError: Cannot read properties of null (reading 'orders')",
            "TypeError: Cannot read properties of null (reading 'address')",
        ),
        (
            "`connect ECONNREFUSED 127.0.0.1:7700`: the search server is down, `make search` starts it.",
            "Error: connect ECONNREFUSED 127.0.0.1:7700",
            "Error: connect ECONNREFUSED 127.0.0.1:5432",
        ),
        (
            "`Fieldbus exception 0x06` from a sensor is no defect, it is busy.",
            "read: Fieldbus exception 0x06 (busy)",
            "read: Fieldbus exception 0x02 (illegal address)",
        ),
    ],
)
def test_a_message_that_names_something_is_not_that_of_another_one(note: str, same: str, other: str) -> None:
    assert failed(note, same)
    assert not failed(note, other)


def test_an_error_is_about_the_name_that_its_message_has() -> None:
    note = "A frame has 8 ms; the assertion `frame_budget` in debug builds aborts above that."
    assert failed(note, "thread 'main' panicked at src/app.rs:231\nassertion failed: frame_budget: draw took 13 ms")
    assert not failed(note, "panicked at src/app.rs:231: no entry\n  at frame_budget (src/draw.rs:12)")
    denied = "Without the three labels creating one is refused with `AccessDenied`."
    assert failed(denied, "An error occurred (AccessDenied) when calling the CreateQueue operation")
    assert not failed(denied, "An error occurred (QueueExists) when calling the CreateQueue operation")


def test_a_code_may_end_in_a_number_of_base_sixteen() -> None:
    note = "Answer DEV_FAULT_0x2A: the counter is too low."
    assert failed(note, "flash: rejected, DEV_FAULT_0x2A")
    assert not failed(note, "flash: rejected, DEV_FAULT_0x2B")


def test_a_message_ends_where_the_note_says_where_it_was_seen() -> None:
    note = "tls: failed to verify certificate chain inside the worker image means that it lacks our root."
    assert failed(note, "dial: tls: failed to verify certificate chain")
    assert failed("GridIO: HDF error on opening a file means that it is locked.", "open failed: GridIO: HDF error")


def test_a_document_in_a_command_is_written_to_its_file() -> None:
    note = "DRAIN_SECONDS stays 30 in deploy/edge.env"
    line = "cat > {} <<'EOF'\nDRAIN_SECONDS=5\nEOF\nmake check"
    assert is_shown(note, line.format("deploy/edge.env"))
    assert not is_shown("make check needs the VPN", line.format("a.env").replace("\nmake check", ""))
    assert is_shown("make check needs the VPN", line.format("a.env"))


def test_a_short_message_counts_word_by_word() -> None:
    note = 'On "file is not a database" wipe the emulator.'
    assert failed(note, "SQLiteException: file is not a database: , while compiling")
    assert not failed(note, "the file of the database is missing")


def test_an_exception_with_its_package_is_a_message() -> None:
    note = "`java.lang.IllegalStateException: Migration didn't properly handle: stops` = an index is missing"
    assert failed(note, "java.lang.IllegalStateException: Migration didn't properly handle: stops(de.acme.Stop).")
    assert not failed(note, "java.lang.IllegalStateException: Depot has no stops")


def test_a_status_counts_for_the_address_it_is_said_of() -> None:
    note = "HTTP 422 from /v2/handover means that it was handed over already"
    assert failed(note, "POST https://api.test/v2/handover -> HTTP 422")
    assert not failed(note, "POST https://api.test/v2/parcels -> HTTP 422")
    assert not failed(note, "POST https://api.test/v2/handover -> HTTP 404")
    assert failed("ActiveRecord::Deadlocked: just retry", "ActiveRecord::Deadlocked: PG::Error")


def test_where_somebody_chose_the_anchors_the_text_adds_none() -> None:
    index = AnchorIndex()
    index.file("note", ("Makefile",), "adb reverse is lost with the cable")
    assert not index.matches(Action(commands=(("adb", "reverse"),)))


@pytest.mark.parametrize(("notes", "is_matched"), [(24, True), (25, False)])
def test_a_command_that_a_whole_collection_of_notes_is_about_is_no_anchor(notes: int, is_matched: bool) -> None:
    index = AnchorIndex()
    for number in range(notes):
        index.file(f"note {number}", ("git commit",), f"`git commit` has a trick number {number}.")
    assert bool(index.matches(Action(commands=(("git", "commit"),)))) is is_matched


@pytest.mark.parametrize(
    ("note", "same", "other"),
    [
        (
            'Postgrex.Error: relation "plots_history" does not exist -> you forgot `make triggers`',
            '** (Postgrex.Error) ERROR 42P01 relation "plots_history" does not exist',
            '** (Postgrex.Error) ERROR 42P01 relation "letters" does not exist',
        ),
        (
            "TypeError: Cannot read properties of undefined (reading 'velocity') means a tune with running status",
            "TypeError: Cannot read properties of undefined (reading 'velocity')",
            "TypeError: Cannot read properties of undefined (reading 'pitch')",
        ),
        (
            "UnknownTopicException for topic 'meters' = the broker was recreated",
            "UnknownTopicException: topic 'meters' not found",
            "UnknownTopicException: topic 'bills' not found",
        ),
        (
            "OperationalError: could not connect to localhost:5433 -> start the tunnel",
            "OperationalError: could not connect to localhost:5433",
            "OperationalError: could not connect to localhost:5432",
        ),
    ],
)
def test_an_exception_with_the_name_in_its_message_is_not_that_of_another_one(note: str, same: str, other: str) -> None:
    assert failed(note, same)
    assert not failed(note, other)


def test_an_exception_followed_by_advice_is_any_of_that_name() -> None:
    assert failed("SerializationError: run 'make seed' again", "SerializationError: batch 3")


@pytest.mark.parametrize(
    ("note", "message", "other"),
    [
        ("avrdude: stk500_recv(): programmer is not responding = the hub is off", "", "avrdude: verification error"),
        ("rsync: connection unexpectedly closed means that the NAS sleeps", " (0 bytes)", "rsync: permission denied"),
        ("ld: symbol(s) not found for arm64 = old libraries in the cache", "", "ld: file too small"),
        ('flashrom says "No device was found" when the clip is loose', "", "flashrom: verification failed"),
    ],
)
def test_a_note_on_a_message_of_a_tool_is_about_that_message_only(note: str, message: str, other: str) -> None:
    said = note.partition(" =")[0].partition(" means")[0].removeprefix('flashrom says "').partition('"')[0]
    tool = note.partition(" ")[0].rstrip(":")
    assert failed(note, f"{said}{message}\nmake: *** [all] Error 1")
    assert not is_matched(note, Action(commands=((tool, "-v"),), error=other))


@pytest.mark.parametrize("note", ["exit code 139 from ogr2ogr = an old file", "exit code 139 of convert in CI: retry"])
def test_an_exit_code_counts_for_the_tool_it_is_said_of(note: str) -> None:
    tool = note.split()[4]
    assert is_matched(note, Action(commands=((tool, "a", "b"),), error="Exit code 139"))
    assert not is_matched(note, Action(commands=(("pytest", "-x"),), error="Exit code 139"))


@pytest.mark.parametrize(
    "note",
    [
        "everything in src/midi/ is pure, no Date.now and no I/O, since the replays depend on it",
        "In src/midi/ never use Date.now, inject the clock",
        "No Date.now in src/midi/: the replays own the time",
    ],
)
def test_what_is_forbidden_in_a_place_counts_there(note: str) -> None:
    assert edited(note, "src/midi/tempo.ts", "const t = Date.now()")
    assert not edited(note, "src/hw/striker.ts", "const t = Date.now()")


@pytest.mark.parametrize(
    "note",
    [
        "Only src/clock.ts may call Date.now, never use it elsewhere",
        "Never use Date.now, the module in src/midi/ has a clock",
        "`Date.now` in src/clock.ts is wrapped, never call Date.now",
    ],
)
def test_what_is_forbidden_everywhere_counts_everywhere(note: str) -> None:
    assert edited(note, "src/hw/striker.ts", "const t = Date.now()")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("cat > notes.txt <<'X'\nrun mix ecto.reset\nX", False),
        ("tee -a notes.md <<X\nmix ecto.reset\nX", False),
        ("git commit -F - <<X\nno mix ecto.reset\nX", False),
        ("cat > run_bash <<X\nmix ecto.reset\nX", False),
        ("bash <<X\nmix ecto.reset\nX", True),
        ("cat <<X | bash\nmix ecto.reset\nX", True),
        ("docker exec -i web /bin/sh <<X\nmix ecto.reset\nX", True),
        ("python3 - <<X\nimport os\nos.system('mix ecto.reset')\nX", True),
    ],
)
def test_a_command_in_a_document_is_run_where_something_runs_the_document(call: str, expected: bool) -> None:
    assert is_shown("`mix ecto.reset` wipes the blobs, too", call) == expected


def test_a_name_in_code_is_no_argument_of_a_command() -> None:
    assert edited("`dbt run -s orders.mart` is slow; no joins in `orders.mart`", "a.sql", "from orders.mart")
    assert not edited("`dbt run -s orders.mart` is slow", "a.sql", "from orders.mart")
    assert edited("`import acme.util` is forbidden", "src/a.py", "import acme.util as u")


def changed(note: str, path: str, new: str, old: str = "") -> bool:
    return is_matched(note, action_of({"file_path": path, "old_string": old, "new_string": new}, "", ""))


def test_a_package_that_is_added_to_a_manifest_is_looked_for() -> None:
    note = "Use Req for HTTP, not HTTPoison or Tesla."
    assert changed(note, "mix.exs", '{:phoenix, "~> 1.7"}, {:httpoison, "~> 2.0"}', '{:phoenix, "~> 1.7"}')
    assert changed("We don't use moment or dayjs", "web/package.json", '"dayjs": "^1.11"')
    assert is_shown("No Pandas, use polars", "cat >> requirements.txt <<X\npandas\nX")
    patch = '*** Begin Patch\n*** Update File: Cargo.toml\n+serde_yaml = "0.9"\n*** End Patch'
    assert is_matched("No serde_yaml here", action_of({"input": patch}, "", ""))


def test_a_package_that_stays_or_leaves_is_not_looked_for() -> None:
    note = "We don't use moment or dayjs"
    assert not changed(note, "package.json", '"dayjs": "^1.12"', '"dayjs": "^1.11"')
    assert not changed(note, "package.json", '"zod": "^3.1"', '"dayjs": "^1.11"')
    assert not changed(note, "src/a.ts", 'const x = {dayjs: "^1.11"}')


def test_a_command_on_a_folder_is_the_same_within_it() -> None:
    note = "make -C firmware flash bricks boards of rev B."
    assert is_matched(note, action_of({"command": "make flash"}, "/p", "/p/firmware"))
    assert not is_matched(note, action_of({"command": "make flash"}, "/p", "/p"))


@pytest.mark.parametrize(
    ("note", "named"),
    [
        ("towerpi is reached via tailscale only", ("towerpi",)),
        ("fly deploy needs the VPN", ("fly deploy",)),
        ("Restart the mosquitto service after a change", ("restart mosquitto service",)),
        ("PlotStatus has to stay exhaustive", ("PlotStatus",)),
        ("The managing director noticed it at breakfast, not us", ()),
        ("", ()),
    ],
)
def test_what_a_note_names_in_plain_words_is_listed_if_it_looks_like_a_name(note: str, named: tuple[str, ...]) -> None:
    assert named_in_words(anchors_of("", note), note) == named


def test_what_somebody_chose_as_anchors_leaves_no_other_words() -> None:
    assert named_in_words(["fly.toml"], "fly deploy needs the VPN") == ()


@pytest.mark.parametrize(
    ("note", "path", "written", "expected"),
    [
        (
            "import from `@kit/icons/<Name>`, never `@kit/icons`",
            "src/Row.tsx",
            "import { Bin } from '@kit/icons'",
            True,
        ),
        ("import from `@kit/icons/<Name>`, never `@kit/icons`", "src/Row.tsx", "import B from '@kit/icons/B'", False),
        ("`date_trunc('quarter', …)` is wrong for us", "a.sql", "select date_trunc('quarter', day)", True),
        ("`date_trunc('quarter', …)` is wrong for us", "a.sql", "select date_trunc('month', day)", False),
        ("No pd.append any more, use concat", "a.py", "frame = pd.append(row)", True),
        ("Heights: `100dvh`, not `100vh`", "a.css", "height: 100vh;", True),
        ("never `println!` in the alternate screen", "a.rs", 'println!("x");', True),
        ("Grants are given as `ACCOUNTADMIN` only", "a.sql", "use role ACCOUNTADMIN;", True),
        ("In pay-core nobody calls Instant.now(), take the Clock", "pay-core/src/A.kt", "Instant.now()", True),
        ("In pay-core nobody calls Instant.now(), take the Clock", "pay-api/src/A.kt", "Instant.now()", False),
        ("Money is a MonetaryAmount from pay-core, never a float", "pay-core/build.gradle.kts", "plugins {}", False),
        ("In src/api/ always validate with `zod`", "src/api/a.ts", "x", True),
        ("`process.env` is read in `src/env.ts` only", "src/server.ts", "const port = process.env.PORT", True),
        ("No `-ffast-math` anywhere, it breaks NaN", "options.cmake", "add_compile_options(-O3 -ffast-math)", True),
        ("Paths: `s3://lake/<zone>/<table>/`", "a.py", 'target = "s3://lake/raw/tickets/"', True),
        ("Paths: `s3://lake/<zone>/<table>/`", "a.py", 'target = "s3://pond/raw/tickets/"', False),
        ("Public ones begin with `VITE_PUBLIC_`", ".env", "VITE_PUBLIC_TILES=1", True),
        ("Public ones begin with `VITE_PUBLIC_`", ".env", "VITE_OTHER=1", False),
        ("Don't call `Terminal::clear` on resize", "src/app.rs", "self.terminal.clear()?;", True),
        ("Don't call `Terminal::clear` on resize", "src/app.rs", "self.buffer.clear();", False),
        ("chrono and time were removed, take jiff", "src/a.rs", "use chrono::Utc;", True),
        ("Never import moment, it is huge", "src/a.ts", "import moment from 'moment'", True),
        ("Never write `.Values.env` in a chart", "a.yaml", "{{ .Values.env }}", True),
        ('Never `if env == "prod"` in code', "a.py", 'if env == "prod":', True),
        ("CronJobs need `concurrencyPolicy: Forbid`", "cron.yaml", "concurrencyPolicy: Allow", True),
        ('Never `panic = "abort"`: the host catches panics', "Cargo.toml", 'panic = "unwind"', False),
    ],
)
def test_a_name_counts_where_the_note_means_it(note: str, path: str, written: str, expected: bool) -> None:
    assert edited(note, path, written) == expected


@pytest.mark.parametrize(
    ("note", "error", "expected"),
    [
        ("`couldn't auto-discover subnets`: the tag is missing", "build failed: couldn't auto-discover subnets", True),
        ("`RuntimeError: Already borrowed` is the old pump", "RuntimeError: Already borrowed", True),
        ("`OSError: [Errno 28] No space left on device`: quota", "OSError: [Errno 28] No space left on device", True),
        ("`NetCDF: HDF error` is the lock", "RuntimeError: NetCDF: HDF error", True),
        ('`statement "_pg3_7" already exists` is the pooler', 'statement "_pg3_12" already exists', True),
        ('`relation "orders" does not exist`: make triggers', 'relation "visits" does not exist', False),
        ("`DEADLINE_EXCEEDED` just after a deploy is normal", "Code: DeadlineExceeded", True),
        ("The sandbox answers 905_3 without a terminal", "refused: errorCode=905_3 message=", True),
        ("`E0277: Rc<..> cannot be sent between threads` is an index", "error[E0277]: Rc cannot be sent between", True),
        ("`E0277: Rc<..> cannot be sent between threads` is an index", "error[E0277]: no Serialize for Meta", False),
        ("`ImagePullBackOff` with `401`: the secret is missing", "ImagePullBackOff: unexpected status 401", True),
        ("`ImagePullBackOff` with `401`: the secret is missing", "ImagePullBackOff: manifest unknown", False),
        ("`rustup target add wasm32-wasip2` comes first", "help: rustup target add aarch64-musl", False),
        ("`rate_limit_exceeded` of the provider: wait", "Error: Limit reached (rate_limit_exceeded, 5d1e)", True),
        ("`rate_limit_exceeded` of the provider: wait", "  return retry(rate_limit_exceeded, 3)", False),
        ("MissingBinding: it is not in AppGraph.kt", "a.java:2: error: [Dagger/MissingBinding] FareCalculator", True),
        ("`cudaErrorNoKernelImage` on the build box", "no image (cudaErrorNoKernelImage)", True),
        ("Exit code 3221225781 on Windows is a missing DLL", "Exit code 3221225781", True),
        ("ECONNREFUSED 127.0.0.1:4566 means no localstack", "connect ECONNREFUSED 127.0.0.1:4566", True),
        ("ECONNREFUSED 127.0.0.1:4566 means no localstack", "connect ECONNREFUSED 127.0.0.1:5432", False),
        ("`ECONNREFUSED 127.0.0.1:4566` means no localstack", "connect ECONNREFUSED 127.0.0.1:4566", True),
        ("`cannot bind port 9411` is the old agent", "cannot bind port 9411", True),
        ("`cannot bind port 9411` is the old agent", "cannot bind port 9412", False),
        ("`StaleVersionException` on the `orders` table: retry", "StaleVersionException: table 'orders'", True),
        ("`StaleVersionException` on the `orders` table: retry", "StaleVersionException: table 'sessions'", False),
        ("double free or corruption in test_tile_cache is a race", "test_tile_cache: double free or corruption", True),
        ("double free or corruption in test_tile_cache is a race", "test_undo: double free or corruption", False),
        ("New names go into `deploy/env.example`", "TRK_TTL is not listed in deploy/env.example", True),
        ("The lint rule `tokens/no-raw` forbids hex colours", "12:3  error  Use a token  tokens/no-raw", True),
    ],
)
def test_an_error_is_the_one_that_a_note_has(note: str, error: str, expected: bool) -> None:
    assert failed(note, error) == expected


def test_a_whole_path_comes_before_the_folder_that_many_notes_name() -> None:
    index = AnchorIndex()
    notes = {
        "folder": "In pay-core nobody calls Instant.now(), take the Clock",
        "path": "Migrations in pay-core/src/db/migration are immutable once merged",
    }
    for name, note in notes.items():
        index.file(name, anchors_of("", note), note)
    found = index.matches(Action(paths=("pay-core/src/db/migration/V3.sql",)))
    assert [one.memory for one in found] == ["path", "folder"]


def test_of_a_command_that_is_piped_to_a_program_both_have_to_be_run() -> None:
    note = "Colours are lost when piped: `kubectl logs | tw -`"
    assert is_shown(note, "kubectl logs deploy/api | tw -")
    assert not is_shown(note, "kubectl logs deploy/api --tail 20")
    assert is_shown("`kubectl logs | grep OOM` finds it", "kubectl logs deploy/api --tail 20")


def test_an_exit_code_is_of_the_command_that_the_note_names() -> None:
    note = "Exit code 137 from next build is the runner without memory"
    assert is_matched(note, Action(commands=(("npx", "next", "build"),), error="Exit code 137"))
    assert not is_matched(note, Action(commands=(("node", "dist/render.js"),), error="Exit code 137"))


def test_a_file_pattern_may_have_any_number_of_wildcards() -> None:
    note = f"`src/{'*a' * 12}*/z.json` is generated"
    assert edited(note, f"src/{'a' * 60}/z.json")
    assert not edited(note, f"src/{'a' * 60}/b.json")


@pytest.mark.parametrize(
    ("path", "expected"), [("a/ab", True), ("x/a/ab", True), ("a/x/a.b/ab", True), ("a/b", False), ("a/ab/c", False)]
)
def test_folders_between_wildcards_are_skipped_up_to_the_last_that_fits(path: str, expected: bool) -> None:
    assert edited("`**/a*b` is generated", path) == expected
