"""The official Python MCP client works off ten comments and hears of an eleventh; says what it saw, one JSON line each.

Arguments: the address of the service, `legacy` or `auto` (the era), the page's HTML. DROPLEAF_KEY is the key. Where a viewer
has something to do, it writes {"do": …} and waits for a line.
"""

import asyncio
import os
import sys
import warnings
from pathlib import Path

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

sys.path.insert(0, str(Path(__file__).parent.parent / "oauth"))
from person_client import hear, say
from watched_page import watching

# The calls of the older era are deprecated, and what is tested here.
warnings.simplefilter("ignore")

BASE, ERA, PAGE = sys.argv[1:4]


async def wait_for(what, **facts):
    say(do=what, **facts)
    await hear()


async def main():
    updated = asyncio.Queue()

    async def on_message(message):
        if isinstance(message, types.ResourceUpdatedNotification):
            updated.put_nowait(str(message.params.uri))

    headers = {"Authorization": f"Bearer {os.environ['DROPLEAF_KEY']}"}
    timeout = httpx2.Timeout(30, read=300)
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=timeout) as http_client:
        transport = streamable_http_client(f"{BASE}/mcp", http_client=http_client)
        async with Client(transport, mode=ERA, message_handler=on_message) as client:

            async def call(name, **arguments):
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result.content
                return result.structured_content

            site = await call("publish_html", html=PAGE, agentation=True)
            say(site=site)
            await wait_for("comments", site=site)
            feedback = (await call("list_feedback", site=site["url"], order="oldest"))["feedback"]
            say(comments=[item["comment"] for item in feedback])
            unread, seen = 0, site["updated_at"]
            for index, item in enumerate(feedback[:8]):
                find = f"{index + 1} has a mitsake"
                edits = [{"find": find, "replace": find.replace("mitsake", "mistake no more")}]
                edited = await call("edit_site", site=site["id"], edits=edits, expected_updated_at=seen)
                seen, text = edited["updated_at"], f"Fixed in version {edited['version']}."
                if index % 2:
                    done = await call("reply_to_feedback", id=item["id"], text=text, resolve=True)
                else:
                    done = await call("resolve_feedback", id=item["id"], note=text)
                unread += edited.get("unread_feedback", 0) + done.get("unread_feedback", 0)
            say(before=unread)
            # Only now, because changes of one's own are news too.
            async with watching(client, updated, f"dropleaf://sites/{site['id']}") as changed:
                await wait_for("eleventh", site=site)
                say(updated=await asyncio.wait_for(changed(), 15))
            both = await call("resolve_feedback", ids=[item["id"] for item in feedback[8:]], note="Will do.")
            say(unread=both.get("unread_feedback"))
            still = (await call("list_feedback", site=site["id"]))["feedback"]
            say(open=[item["comment"] for item in still])
            await call("reply_to_feedback", id=still[0]["id"], text="By Friday.", resolve=True)


asyncio.run(main())
