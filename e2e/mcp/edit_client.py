"""The official Python MCP client edits one word of a large page; says what it saw, one JSON line each.

Arguments: the address of the service, the page's ID, its `updated_at`, and edits that are refused, by their code, as JSON.
DROPLEAF_KEY is the key.
"""

import asyncio
import json
import os
import sys
import warnings
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

sys.path.insert(0, str(Path(__file__).parent.parent / "oauth"))
from person_client import say

warnings.simplefilter("ignore")

BASE, SITE, SEEN, REFUSED = sys.argv[1:5]


async def main():
    sent = 0

    async def count(request):
        nonlocal sent
        sent += len(request.content)

    headers = {"Authorization": f"Bearer {os.environ['DROPLEAF_KEY']}"}
    hooks = {"request": [count]}
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60, event_hooks=hooks) as http_client:
        transport = streamable_http_client(f"{BASE}/mcp", http_client=http_client)
        async with Client(transport, mode="auto") as client:
            await client.list_tools()
            before = sent
            edits = [{"find": "needle", "replace": "thread $&"}]
            edited = await client.call_tool("edit_site", {"site": SITE, "edits": edits, "expected_updated_at": int(SEEN)})
            assert not edited.is_error, edited.content
            say(sent=sent - before, version=edited.structured_content["version"], diff=edited.structured_content["diff"])
            again = [{"find": "thread", "replace": "rope"}]
            conflict = await client.call_tool("edit_site", {"site": SITE, "edits": again, "expected_updated_at": int(SEEN)})
            say(conflict=conflict.is_error and conflict.content[0].text)
            refused = {}
            for code, edits in json.loads(REFUSED).items():
                answer = await client.call_tool("edit_site", {"site": SITE, "edits": edits})
                refused[code] = answer.is_error and answer.content[0].text
            latest = await client.call_tool("get_site", {"site": SITE})
            say(refused=refused, latest=latest.structured_content["version"])
            read = await client.call_tool("read_site", {"site": SITE, "start_line": 3, "end_line": 3})
            say(read=read.structured_content["text"])


asyncio.run(main())
