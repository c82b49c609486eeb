"""The MCP server: a thin door to the daemon, over stdio or HTTP.

address      Where to listen: HOST:PORT as it is typed, and the socket that is bound to it
http_server  `memhook mcp --http`: the SDK's streamable HTTP behind a guard, which checks who asks, and from where
main         `memhook mcp`: over stdio say hello, then load the SDK and serve; over HTTP, what the tokens allow
server       The server behind the streams: tools and resources of MCP, each one call to the daemon
stdio        stdin and stdout for MCP: answered before the SDK is there, and closed to everything that is not protocol
tools        The tools: what each takes, what it is for, and which call of the engine it makes
web_server   A web server on one bound socket, until a signal or an idle time, also for the page; its connections
waiting      The MCP server while the plugin's environment is being made, run by the system's Python
"""
