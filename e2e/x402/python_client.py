"""The official Python client of x402: pays whatever it is told to post.

Each line on standard input is {"url", "headers", "body"}; each on standard output what came of it: {"status", "headers",
"text", "receipt"}. EVM_KEY is the payer's key.
"""

import json
import os
import sys

import requests
from eth_account import Account
from x402 import x402ClientSync
from x402.http.clients import wrapRequestsWithPayment
from x402.http.x402_http_client import x402HTTPClientSync
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client

client = x402ClientSync()
register_exact_evm_client(client, EthAccountSigner(Account.from_key(os.environ["EVM_KEY"])))
reader = x402HTTPClientSync(client)
session = wrapRequestsWithPayment(requests.Session(), client)
session.trust_env = False

for line in sys.stdin:
    asked = json.loads(line)
    body = asked.get("body")
    answer = session.post(asked["url"], headers=asked.get("headers"), data=body and body.encode(), timeout=60)
    receipt = None
    if "PAYMENT-RESPONSE" in answer.headers:
        receipt = reader.get_payment_settle_response(answer.headers.get).model_dump(by_alias=True, mode="json")
    headers = {name.lower(): value for name, value in answer.headers.items()}
    print(json.dumps({"status": answer.status_code, "headers": headers, "text": answer.text, "receipt": receipt}), flush=True)
