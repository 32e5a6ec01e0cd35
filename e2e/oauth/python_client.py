"""The official Python MCP client's OAuth provider: signs in, renews, and says what became of it, one JSON line each.

Writes {"open": url} and waits for {"code", "state", "iss"} on standard input, as a person's browser would bring them.
"""

import asyncio
import json
import sys

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata

BASE, SERVER, REDIRECT = sys.argv[1:4]


def say(**facts):
    print(json.dumps(facts), flush=True)


class Memory:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def open_link(url):
    say(open=url)


async def wait_for_answer():
    line = await asyncio.to_thread(sys.stdin.readline)
    return AuthorizationCodeResult(**json.loads(line))


async def main():
    memory = Memory()
    provider = OAuthClientProvider(
        server_url=SERVER,
        client_metadata=OAuthClientMetadata(
            client_name="Python test",
            redirect_uris=[REDIRECT],
            grant_types=["authorization_code", "refresh_token"],
            scope="sites:read sites:write",
        ),
        storage=memory,
        redirect_handler=open_link,
        callback_handler=wait_for_answer,
    )
    async with httpx2.AsyncClient(auth=provider, trust_env=False) as client:
        answer = await client.get(f"{BASE}/me")
        say(status=answer.status_code, email=answer.json().get("email"), scope=memory.tokens.scope)
        first = memory.tokens
        # As if an hour had gone by.
        provider.context.token_expiry_time = 1
        answer = await client.get(f"{BASE}/sites")
        say(status=answer.status_code, renewed=memory.tokens.refresh_token != first.refresh_token)
        # The old one comes again: the person would have to be asked anew, and nobody answers.
        newest = memory.tokens.access_token
        provider.context.current_tokens = first
        provider.context.token_expiry_time = 1
        provider.context.callback_handler = None
        try:
            answer = await client.get(f"{BASE}/sites")
            say(status=answer.status_code)
        except Exception as error:
            say(ended=type(error).__name__)
        async with httpx2.AsyncClient(trust_env=False) as plain:
            answer = await plain.get(f"{BASE}/sites", headers={"Authorization": f"Bearer {newest}"})
            say(newest=answer.status_code)


asyncio.run(main())
