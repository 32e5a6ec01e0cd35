"""The official Python MCP client publishes pages at once, whose connections are cut; writes them as a JSON list.

Arguments: the address of the service, and the titles as JSON. DROPLEAF_KEY is the key.
"""

import asyncio
import json
import os
import sys
import warnings

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

# The calls of the older era are deprecated, and what is tested here.
warnings.simplefilter("ignore")

BASE, TITLES = sys.argv[1], json.loads(sys.argv[2])


async def main():
    headers = {"Authorization": f"Bearer {os.environ['DROPLEAF_KEY']}"}
    timeout = httpx2.Timeout(60, read=300)
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=timeout) as http_client:
        transport = streamable_http_client(f"{BASE}/mcp", http_client=http_client)
        async with Client(transport, mode="legacy") as client:

            async def publish(title):
                html = f'<!doctype html><html lang="en"><title>{title}</title><h1>{title}</h1></html>'
                result = await client.call_tool("publish_html", {"html": html})
                assert not result.is_error, result.content
                return result.structured_content

            sites = await asyncio.gather(*(publish(title) for title in TITLES))
            print(json.dumps([{"id": site["id"], "title": site["title"]} for site in sites]))


asyncio.run(main())
