"""The official Python client of MCP, unmodified, over standard input and output,
streamable HTTP and SSE: one memory for all of them, beside a running server;
wrong and missing tokens are refused."""

import asyncio
import json
import os

import httpx2
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from stack import ROOT, TOKEN, run, stack


async def talk(way, name, **arguments):
    async with Client(way, read_timeout_seconds=30) as client:
        tools = {t.name for t in (await client.list_tools()).tools}
        assert {"memory_write", "memory_search", "session_close"} <= tools, tools
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result
        return json.loads(result.content[0].text)


def http(s):
    client = httpx2.AsyncClient(headers={"Authorization": "Bearer " + TOKEN}, timeout=30)
    return streamable_http_client(s.admin + "/mcp", http_client=client)


def sse(s):
    return sse_client(s.admin + "/mcp/sse", headers={"Authorization": "Bearer " + TOKEN})


def stdio(s):
    env = dict(os.environ, HINDSIGHT_DATA_DIR=s.folder + "/data", HINDSIGHT_LOG_LEVEL="warn")
    return stdio_client(StdioServerParameters(command=str(ROOT / "bin/hindsight"), args=["mcp"], env=env))


with stack() as s:
    def shared(way, pet):
        wrote = asyncio.run(talk(way(s), "memory_write", content=f"My {pet} is called Pip."))
        assert wrote["result"] == "created", wrote
        for reader in (stdio, http, sse):
            found = asyncio.run(talk(reader(s), "memory_search", query=f"What is my {pet} called?"))
            assert any(pet in r["text"] for r in found["results"]), found

    def over_stdio():
        """standard input and output: what is written there everybody finds"""
        shared(stdio, "canary")

    def over_http():
        """streamable HTTP: what is written there everybody finds"""
        shared(http, "tortoise")

    def over_sse():
        """SSE: what is written there everybody finds"""
        shared(sse, "hamster")

    def refused():
        """wrong and missing tokens are refused"""
        for path in ("/mcp", "/mcp/sse", "/mcp/ws"):
            for headers in ({}, {"Authorization": "Bearer nonsense"}):
                assert httpx2.get(s.admin + path, headers=headers).status_code == 401, path

    run("mcp_python", [over_stdio, over_http, over_sse, refused])
