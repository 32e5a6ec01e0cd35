#!/usr/bin/env python3
"""Encrypts FILE and publishes it; prints the link with its key. Needs `pip install cryptography`.

[DROPLEAF_URL=http://localhost:8080] [DROPLEAF_KEY=stk_live_…] [PASSPHRASE=…] python3 send_encrypted.py FILE
"""
import base64, gzip, hashlib, json, os, struct, sys, urllib.request
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

passphrase = os.environ.get("PASSPHRASE", "")
secret, salt, iv = os.urandom(32), os.urandom(16), os.urandom(12)
iterations = 600_000 if passphrase else 0
aad = b"E2E1" + bytes([1 if passphrase else 0, 1, 0, 0]) + struct.pack(">I", iterations) + salt + iv  # flag 1: gzip
key = hashlib.pbkdf2_hmac("sha256", passphrase.encode() + secret, salt, iterations) if passphrase else secret
with open(sys.argv[1], "rb") as file:
    payload = aad + AESGCM(key).encrypt(iv, gzip.compress(file.read()), aad)

edge = os.urandom(16).hex()
part = f'--{edge}\r\nContent-Disposition: form-data; name="{{}}"\r\n\r\n'
body = (part.format("e2e") + "true\r\n" + part.format('file"; filename="page.e2e')).encode() + payload + f"\r\n--{edge}--\r\n".encode()
headers = {"Content-Type": f"multipart/form-data; boundary={edge}"}
if "DROPLEAF_KEY" in os.environ:
    headers["Authorization"] = "Bearer " + os.environ["DROPLEAF_KEY"]
url = os.environ.get("DROPLEAF_URL", "http://localhost:8080") + "/sites"
with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
    print(json.load(answer)["url"] + "#k=" + base64.urlsafe_b64encode(secret).rstrip(b"=").decode())
