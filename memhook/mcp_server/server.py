"""The MCP server on given streams: tools and resources, each one call to the daemon."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from typing import Any, cast

import anyio
from anyio.to_thread import run_sync
from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from pydantic import ValidationError

from memhook import __version__
from memhook.core.fencing import clean
from memhook.core.memory import URN_PREFIX
from memhook.engine.scopes import Rights, Scope, written
from memhook.errors import InvalidInput, MemhookError
from memhook.mcp_server.stdio import INSTRUCTIONS, NAME, Wire
from memhook.mcp_server.tools import TOOLS, Remember, Tool

RESOURCE_NOT_FOUND = -32002

Call = Callable[..., Any]


def run(call: Call, rights: Rights, wire: Wire) -> None:
    """Serve one client until it disconnects."""
    anyio.run(_served, server_for(call, lambda _: rights), wire)


def server_for(call: Call, rights_in: Callable[[Any], Rights]) -> Server[Any]:
    """Return the server. `call` calls the daemon, which checks the caller's rights that are sent with each call.

    `rights_in` reads them from the context of the request.
    """

    def limited(context: Any) -> Call:
        return partial(call, rights=written(rights_in(context)))

    async def list_tools(context: Any, _: Any) -> types.ListToolsResult:
        scopes = rights_in(context).scopes
        granted = {name: tool for name, tool in TOOLS.items() if tool.scope in scopes}
        return types.ListToolsResult(tools=[described(name, tool) for name, tool in granted.items()])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            ask = partial(_result, limited(context), params.name, params.arguments or {}, _client_of(context))
            shown = await run_sync(ask)
        except MemhookError as error:
            return _said(clean(f"{error.message} {error.hint}".strip()), is_error=True)
        return _answer(shown)

    async def list_resources(_: Any, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[])

    async def list_templates(_: Any, __: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[_MEMORY])

    async def read_resource(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        try:
            record = (await run_sync(partial(limited(context), "get", references=[params.uri])))[0]
        except MemhookError as error:
            raise MCPError(RESOURCE_NOT_FOUND, error.message) from error
        text = types.TextResourceContents(uri=params.uri, mime_type="text/markdown", text=clean(record["content"]))
        return types.ReadResourceResult(contents=[text])

    return Server(
        NAME,
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


_MEMORY = types.ResourceTemplate(
    uri_template=f"{URN_PREFIX}{{id}}", name="memory", description="One memory, whole", mime_type="text/markdown"
)


async def _served(server: Server[Any], wire: Wire) -> None:
    file: Any = anyio.wrap_file(cast(Any, wire))  # of a file, only readline, write and flush are used
    async with stdio_server(file, file) as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


@cache
def described(name: str, tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(read_only_hint=True) if tool.scope is Scope.READ else None
    return types.Tool(name=name, description=tool.description, input_schema=tool.input_schema, annotations=hints)


def _client_of(context: Any) -> str:
    """The name by which the client introduced itself: claude-code, codex-mcp-client."""
    introduced = context.session.client_params
    return introduced.client_info.name.lower() if introduced else ""


def _result(call: Call, name: str, arguments: dict[str, Any], client: str) -> str | dict[str, Any]:
    tool = TOOLS.get(name)
    if tool is None:
        raise InvalidInput(f"There is no tool {name!r}.", f"The tools are: {', '.join(TOOLS)}.")
    try:
        params = tool.arguments.model_validate(arguments).params()
    except ValidationError as error:
        raise InvalidInput(f"{'; '.join(map(_reason, error.errors()))}.", "See the tool's input schema.") from error
    of_client = {"client": client} if client and tool.arguments is Remember else {}
    return tool.shown(call(tool.operation, **params, **of_client))


def _reason(detail: Any) -> str:
    where = ".".join(str(part) for part in detail["loc"])
    return f"{where}: {detail['msg']}" if where else str(detail["msg"])


def _answer(shown: str | dict[str, Any]) -> types.CallToolResult:
    if isinstance(shown, str):
        return _said(shown)
    record = _cleaned(shown)
    return _said(json.dumps(record, ensure_ascii=False), structured_content=record)


def _said(text: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], **more)


def _cleaned(value: Any) -> Any:
    """The value without characters that act on a terminal or hide from a reader."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {key: _cleaned(one) for key, one in value.items()}
    return [_cleaned(one) for one in value] if isinstance(value, list) else value
