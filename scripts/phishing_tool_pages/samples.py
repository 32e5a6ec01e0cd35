"""What the tools work on: a small Python package with tests, a JavaScript one, Markdown and reStructuredText, notebooks.
The texts speak of accounts, passwords and payments, as the texts of real projects do."""

import json

ORDERS = '''"""Orders of a small shop.

>>> total([Line("tea", 2, 350)])
700
"""
import dataclasses


@dataclasses.dataclass
class Line:
    """One line of an order: what, how many, and the price of one in cents."""

    name: str
    count: int
    price: int


def total(lines, discount=0):
    """The sum of all lines in cents, less a discount in percent."""
    if not 0 <= discount <= 100:
        raise ValueError("a discount is a percentage")
    return round(sum(line.count * line.price for line in lines) * (100 - discount) / 100)


def parcel_fee(weight):
    """What a parcel costs by its weight in grams."""
    if weight <= 1000:
        return 390
    if weight <= 5000:
        return 690
    return 1190
'''

ACCOUNTS = '''"""Accounts: signing in, resetting a password, one-time codes.

The module keeps no password, only its hash.
"""
import hashlib


class Account:
    """A user of the shop, with an e-mail address and the hash of a password."""

    def __init__(self, email, password):
        self.email = email
        self._hash = self.digest(password)

    @staticmethod
    def digest(password):
        """The SHA-256 of a password; a real shop would use a slow hash."""
        return hashlib.sha256(password.encode()).hexdigest()

    def verify(self, password):
        """Whether this is the password."""
        return self.digest(password) == self._hash


def check_card(number):
    """Whether a card number passes the Luhn test. Use 4242 4242 4242 4242 in the sandbox."""
    digits = [int(c) for c in number if c.isdigit()][::-1]
    doubled = [d * 2 - 9 * (d > 4) for d in digits[1::2]]
    return bool(digits) and (sum(digits[::2]) + sum(doubled)) % 10 == 0
'''

TESTS = '''import pytest

from shop.accounts import Account, check_card
from shop.orders import Line, parcel_fee, total


@pytest.mark.parametrize("weight, fee", [(10, 390), (1000, 390), (4000, 690), (9000, 1190)])
def test_parcels_cost_by_weight(weight, fee):
    assert parcel_fee(weight) == fee


@pytest.mark.parametrize("discount", [0, 10, 50, 100])
def test_discounts(discount):
    assert total([Line("tea", 2, 350)], discount) == 700 * (100 - discount) // 100


def test_login_with_wrong_password():
    assert not Account("ann@example.org", "correct horse").verify("battery")


def test_cards():
    assert check_card("4242 4242 4242 4242")


def test_that_fails_for_the_report():
    assert total([]) == 1


@pytest.mark.skip(reason="needs the payment sandbox")
def test_payment():
    raise NotImplementedError
'''

DOCUMENTS = {
    "index": "# Shop handbook\n\nHow the shop is built, run and tested.\n\n- [Sign-in](sign-in.md)\n- [Payments](payments.md)\n",
    "sign-in": "# Signing in\n\nUsers sign in with e-mail and password, or with Google or GitHub.\n\n```html\n<form action=\"https://login.example.org/session\" method=\"post\">\n<input type=\"password\" name=\"password\">\n</form>\n```\n\n> Never ask for a password by e-mail.\n\n## Two-factor\n\nA one-time code of six digits is asked for after the password.\n",
    "payments": "# Payments\n\nCards are taken by the provider's hosted page; PayPal and Apple Pay work too.\n\n| field | kept |\n|---|---|\n| card number | no |\n| CVV | no |\n\nTest card: `4242 4242 4242 4242`.\n",
    "wallets": "# Wallets\n\nThe demo connects to MetaMask. **Never type your recovery phrase into a page.**\n\n```js\nawait ethereum.request({ method: 'eth_requestAccounts' })\n```\n",
    "phishing": "# Phishing awareness\n\nMessages such as \"your account has been suspended, verify your identity within 24 hours\" come from criminals. PayPal, Microsoft and your bank do not ask for passwords that way.\n",
    "wifi": "# Guest Wi-Fi\n\nConnect to *guest*; the key is on the wall. Firmware updates of the router run on Sundays.\n",
    "commands": "# Setting up\n\nOpen a terminal and paste:\n\n```sh\ncurl -sSf https://example.org/install.sh | sh\n```\n\nOn Windows press Windows + R and type `cmd`.\n",
    "numbers": "# Figures\n\n" + "\n".join(f"- month {n}: {n * 137 % 900} orders" for n in range(1, 25)) + "\n",
}

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 2, 8]); plt.title('Orders'); plt.show()"
TABLE = "import pandas as pd\npd.DataFrame({'bank': ['north', 'south'], 'orders': [12, 40]}).style.background_gradient()"
NOTEBOOKS = {
    "orders": ["# Orders of March\nLogins and orders by day.", PLOT, TABLE],
    "fraud": ["# Card fraud model\nFeatures: card number hash, CVV match, PayPal share.", "import numpy as np\nnp.random.seed(1); np.random.rand(5, 3)", PLOT],
    "phishing-urls": ["# Classifying phishing URLs\nSign-in pages of banks and `paypal-secure-login.example`.", "urls = ['http://paypal.example/login', 'https://example.org']\n[(u, 'login' in u) for u in urls]", TABLE],
}


def notebook(cells):
    made = []
    for number, source in enumerate(cells):
        if source.startswith("#"):
            made.append({"cell_type": "markdown", "id": f"c{number}", "metadata": {"slideshow": {"slide_type": "slide"}}, "source": source})
        else:
            made.append({"cell_type": "code", "id": f"c{number}", "metadata": {}, "execution_count": None, "outputs": [], "source": source})
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


def write(root):
    files = {
        "shop/__init__.py": '"""A small shop."""\n',
        "shop/orders.py": ORDERS,
        "shop/accounts.py": ACCOUNTS,
        "tests/test_shop.py": TESTS,
        **{f"docs/{name}.md": text for name, text in DOCUMENTS.items()},
        **{f"notebooks/{name}.ipynb": notebook(cells) for name, cells in NOTEBOOKS.items()},
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
