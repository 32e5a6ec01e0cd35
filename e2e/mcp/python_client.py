"""The official Python MCP client, from publishing to an answered comment; says what it saw, one JSON line each.

Arguments: the address of the service, `legacy` or `auto` (the era), the page's first and second HTML. DROPLEAF_KEY is the
key; without it the client signs in with OAuth: it writes {"open": url} and waits for {"code", "state", "iss"} on standard
input. Where a viewer or an operator has something to do, it writes {"do": …} and waits for a line.
"""

import asyncio
import json
import os
import sys
import warnings
from pathlib import Path

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

sys.path.insert(0, str(Path(__file__).parent.parent / "oauth"))
from person_client import Memory, hear, provider, say
from watched_page import watching

# The calls of the older era are deprecated, and what is tested here.
warnings.simplefilter("ignore")

BASE, ERA, FIRST, SECOND = sys.argv[1:5]
KEY = os.environ.get("DROPLEAF_KEY")
REDIRECT = os.environ.get("REDIRECT", "")


async def wait_for(what, **facts):
    say(do=what, **facts)
    await hear()


def http():
    timeout = httpx2.Timeout(30, read=300)
    if KEY:
        return httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, trust_env=False, timeout=timeout)
    auth = provider(f"{BASE}/mcp", "Python agent", REDIRECT, Memory())
    return httpx2.AsyncClient(auth=auth, trust_env=False, timeout=timeout)


async def main():
    updated = asyncio.Queue()

    async def on_message(message):
        if isinstance(message, types.ResourceUpdatedNotification):
            updated.put_nowait(str(message.params.uri))

    async with http() as http_client:
        transport = streamable_http_client(f"{BASE}/mcp", http_client=http_client)
        async with Client(transport, mode=ERA, message_handler=on_message) as client:
            say(version=client.protocol_version, server=client.server_info.name)

            async def call(name, **arguments):
                # The client itself checks the structure against the tool's schema.
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result.content
                return result.structured_content

            tools = await client.list_tools()
            say(tools=[tool.name for tool in tools.tools])
            site = await call("publish_html", html=FIRST, agentation=True)
            site = await call("update_site", site=site["id"], html=SECOND)
            listed = await call("list_sites")
            say(site=site, listed=[one["id"] for one in listed["sites"]])
            if os.environ.get("RESTART"):
                await wait_for("restart")
            uri = f"dropleaf://sites/{site['id']}"
            async with watching(client, updated, uri) as changed:
                await wait_for("comment", site=site)
                say(updated=await asyncio.wait_for(changed(), 15))
            unread = (await call("get_site", site=site["id"])).get("unread_feedback")
            feedback = (await call("list_feedback", site=site["id"]))["feedback"]
            resolved = await call("resolve_feedback", id=feedback[0]["id"], note="On Friday.")
            say(unread=unread, comments=[item["comment"] for item in feedback], note=resolved["resolved_note"])
            about = await client.read_resource(uri)
            say(read=json.loads(about.contents[0].text)["id"])


asyncio.run(main())
