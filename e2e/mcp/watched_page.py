"""Waiting for the change of a page with the official Python client, in both eras of the protocol."""

from contextlib import asynccontextmanager


@asynccontextmanager
async def watching(client, updated, uri):
    """Gives a function that waits for the next change."""
    if client.protocol_version >= "2026":
        async with client.listen(resource_subscriptions=[uri]) as news:
            async def first():
                return (await anext(news)).uri
            yield first
    else:
        await client.subscribe_resource(uri)
        yield updated.get
        await client.unsubscribe_resource(uri)
