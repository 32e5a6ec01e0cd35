"""What the Python clients share: a person at the other end of standard input and output, and a place for tokens.

Writes one JSON line for each thing to say; {"open": url} asks for the answer {"code", "state", "iss"}, as a person's
browser would bring it.
"""

import asyncio
import json
import sys

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata


def say(**facts):
    print(json.dumps(facts), flush=True)


async def hear():
    return json.loads(await asyncio.to_thread(sys.stdin.readline))


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
    return AuthorizationCodeResult(**await hear())


def provider(server, name, redirect, memory, **more):
    return OAuthClientProvider(
        server_url=server,
        client_metadata=OAuthClientMetadata(
            client_name=name,
            redirect_uris=[redirect],
            grant_types=["authorization_code", "refresh_token"],
            **more,
        ),
        storage=memory,
        redirect_handler=open_link,
        callback_handler=wait_for_answer,
    )
