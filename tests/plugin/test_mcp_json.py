"""The MCP server as a client starts it from the plugin."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from memhook import __version__
from memhook.daemon import hook_client
from tests.mcp_server.test_stdio import INITIALIZED, hello, lines
from tests.plugin.test_launcher import ROOT, script, state

SERVER = json.loads((ROOT / ".mcp.json").read_text(encoding="utf-8"))["mcpServers"]["memhook"]


def test_the_plugin_offers_its_tools_to_the_model_at_once(home: Path) -> None:
    python = script(home / "python", f'PYTHONPATH={ROOT}; export PYTHONPATH; shift 2; exec {sys.executable} "$@"')
    (state(home) / "interpreter").write_text(f"{python}\n{hook_client.__file__}\n{__version__}\n", encoding="utf-8")
    command = [SERVER["command"].replace("${CLAUDE_PLUGIN_ROOT}", str(ROOT)), *SERVER["args"]]
    asked = lines(hello(), INITIALIZED, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    ran = subprocess.run(command, input=asked, capture_output=True, timeout=300, check=True, cwd=home)
    tools = json.loads(ran.stdout.splitlines()[1])["result"]["tools"]
    assert {"inject_context", "get_memory"} <= {tool["name"] for tool in tools}
    assert SERVER["alwaysLoad"] is True  # else Claude Code hides them behind a search
