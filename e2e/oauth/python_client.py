"""The official Python MCP client's OAuth provider: signs in, renews, and says what became of it, one JSON line each.

Writes {"open": url} and waits for {"code", "state", "iss"} on standard input, as a person's browser would bring them.
"""

import asyncio
import sys

import httpx2
from person_client import Memory, provider, say

BASE, SERVER, REDIRECT = sys.argv[1:4]


async def main():
    memory = Memory()
    auth = provider(SERVER, "Python test", REDIRECT, memory, scope="sites:read sites:write")
    async with httpx2.AsyncClient(auth=auth, trust_env=False) as client:
        answer = await client.get(f"{BASE}/me")
        say(status=answer.status_code, email=answer.json().get("email"), scope=memory.tokens.scope)
        first = memory.tokens
        # As if an hour had gone by.
        auth.context.token_expiry_time = 1
        answer = await client.get(f"{BASE}/sites")
        say(status=answer.status_code, renewed=memory.tokens.refresh_token != first.refresh_token)
        # The old one is used again: the user would have to approve again, and there is none.
        newest = memory.tokens.access_token
        auth.context.current_tokens = first
        auth.context.token_expiry_time = 1
        auth.context.callback_handler = None
        try:
            answer = await client.get(f"{BASE}/sites")
            say(status=answer.status_code)
        except Exception as error:
            say(ended=type(error).__name__)
        async with httpx2.AsyncClient(trust_env=False) as plain:
            answer = await plain.get(f"{BASE}/sites", headers={"Authorization": f"Bearer {newest}"})
            say(newest=answer.status_code)


asyncio.run(main())
