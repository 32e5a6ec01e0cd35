"""The official Python client of MPP: posts a request and pays what is asked.

Standard input is {"url", "headers", "body"}; standard output is {"status", "headers", "text", "receipt", "requests"}, where
`requests` are the headers of every request that was sent. EVM_KEY is the payer's key, MAX_AMOUNT the most to pay.
"""

import asyncio
import json
import os
import sys

import httpx
from eth_account import Account
from mpp import Receipt
from mpp.client import PaymentTransport
from mpp.methods.evm import BASE_USDC
from mpp.methods.evm import client as evm

requests = []


class RecordingTransport(httpx.AsyncHTTPTransport):
    async def handle_async_request(self, request):
        requests.append(dict(request.headers))
        return await super().handle_async_request(request)


def receipt_of(response):
    if "Payment-Receipt" not in response.headers:
        return None
    receipt = Receipt.from_payment_receipt(response.headers["Payment-Receipt"])
    members = {"status": receipt.status, "method": receipt.method, "reference": receipt.reference}
    return {**members, "timestamp": receipt.timestamp.isoformat(), **receipt.extensions}


async def main():
    asked = json.load(sys.stdin)
    account = Account.from_key(os.environ["EVM_KEY"])
    method = evm.charge(currency=BASE_USDC, account=account, max_amount=os.environ["MAX_AMOUNT"])
    transport = PaymentTransport(methods=[method], inner=RecordingTransport())
    async with httpx.AsyncClient(transport=transport, trust_env=False, timeout=60) as client:
        response = await client.post(asked["url"], headers=asked.get("headers"), content=asked.get("body"))
    answer = {"status": response.status_code, "headers": dict(response.headers), "text": response.text}
    json.dump({**answer, "receipt": receipt_of(response), "requests": requests}, sys.stdout)


asyncio.run(main())
