"""Checkouts, storefronts, invoices and coins: pages with cards and wallets that take nothing."""

from layouts import centred, plain, with_nav

LOGOS = "".join(f'<img alt="{name}" src="{name.lower()}.svg">' for name in ("Visa", "Mastercard", "American Express", "PayPal"))
CARD = "<label>Card number <input autocomplete=cc-number></label><label>Expiry date <input placeholder='MM/YY'></label><label>CVC <input name=cvc></label>"


def checkouts():
    goods = ["Linen shirt", "Walnut desk", "Coffee subscription", "Concert ticket", "Field guide", "Trail shoes", "Lamp", "E-book"]
    for number, name in enumerate(goods, 1):
        account = "<h2>Create an account (optional)</h2><input type=email placeholder=Email><input type=password placeholder=Password>" if number % 2 else ""
        end = ["<button type=button>Pay now</button>", "<button>Place order</button><script>document.querySelector('form').onsubmit=()=>{alert('Thank you');return false}</script>",
               "<div id=paypal-button></div><script src='https://www.paypal.com/sdk/js?client-id=test'></script>"][number % 3]
        yield f"payment-{number:02}", with_nav(f"Checkout – {name}", f"<h1>Checkout</h1><p>1 × {name}</p><form>{CARD}{account}{end}</form><p>We accept {LOGOS}</p><p>Or pay with PayPal, Apple Pay or Klarna.</p>")


def providers():
    yield "payment-11-stripe-elements", centred("Stripe sample: accept a payment", "<form id=f><div id=payment-element></div><button>Pay</button></form><script src='https://js.stripe.com/v3/'></script><script>const s=Stripe('pk_test_x');"
                                                "fetch('/create-payment-intent',{method:'POST'})</script>")
    yield "payment-12-paypal-card-fields", centred("PayPal JS SDK Advanced Integration", "<div id=card-number></div><label>Card Number</label><label>Expiration Date</label><label>CVV</label><input id=card-holder-name placeholder='card holder name'>"
                                                   "<script src='https://www.paypal.com/sdk/js?components=card-fields'></script>")
    yield "payment-13-square", centred("Square Web Payments Quickstart", "<div id=card-container></div><button>Pay $1.00</button><script src='https://sandbox.web.squarecdn.com/v1/square.js'></script>")
    yield "payment-14-test-cards", with_nav("Test cards", "<h1>Test cards</h1><table><tr><th>Number</th><th>CVC</th></tr><tr><td>4242 4242 4242 4242</td><td>any</td></tr></table>" + CARD)
    yield "payment-15-card-animation", centred("Card – a nicer way to show credit cards", "<div class=jp-card></div><form><input type=tel name=number placeholder='Card number'><input name=name placeholder='Full name'><input type=tel name=expiry placeholder='MM/YY'><input type=number name=cvc placeholder=CVC></form>")
    yield "payment-16-sepa", centred("SEPA debit sample", "<form><label>Name <input name=name></label><label>IBAN <input name=iban></label><button>Pay</button></form><script src='https://js.stripe.com/v3/'></script>")
    yield "payment-17-donate", with_nav("Donate – Fernway Trust", "<h1>Donate</h1><a href='https://www.paypal.com/donate?hosted_button_id=x'><img alt='Donate with PayPal' src='https://www.paypalobjects.com/en_US/i/btn/btn_donate_LG.gif'></a>")
    yield "payment-18-bank-app-concept", with_nav("Meridian – online banking concept", "<h1>Good morning</h1><p>Balance 1,204.20</p><ul><li>Transfers</li><li>Cards</li></ul><p>A design exercise; Meridian is invented.</p><input placeholder='Search transactions'>")
    yield "payment-19-bank-login-concept", centred("Meridian Bank prototype", "<h1>Online banking</h1><p>Prototype for user tests. Nothing is sent.</p><form onsubmit='return false'><input placeholder='Customer number'><input type=password placeholder=PIN><button>Log in</button></form>")
    yield "payment-20-3ds-flow", with_nav("3-D Secure flow", "<h1>How 3-D Secure works</h1><ol><li>Card number</li><li>The bank asks for a one-time code</li><li>Done</li></ol><svg></svg>")
    for number, client in enumerate(["Acorn Ltd", "Heron Health", "City of Ghent", "Otter Mail"], 1):
        yield f"invoice-{number:02}", plain(f"Invoice {2026000 + number}", f"<h1>Invoice {2026000 + number}</h1><p>To {client}</p><table><tr><td>Design</td><td>12 h</td><td>960.00</td></tr><tr><td>Total</td><td></td><td>960.00</td></tr></table>"
                                            "<p>IBAN DE00 0000 0000 0000 0000 00. Please pay within 14 days. PayPal is welcome too.</p>")


def storefronts():
    for number, (name, kind) in enumerate([("Marrow", "soup"), ("Pixelpost", "prints"), ("Trailhead", "boots"), ("Glasshouse", "plants"), ("Papermill", "notebooks"), ("Hive", "honey"), ("Loom", "blankets"), ("Anvil", "knives")], 1):
        items = "".join(f"<li><img alt='{kind} {i}' src={i}.jpg><b>{kind.capitalize()} no. {i}</b> {7 * i + number}.00 <button>Add</button></li>" for i in range(1, 7))
        yield f"store-{number:02}", with_nav(f"{name} – {kind}", f"<h1>{kind.capitalize()}</h1><ul>{items}</ul><dialog><h2>Sign in</h2><form method=dialog><input type=email placeholder=Email><input type=password placeholder=Password><button>Sign in</button></form></dialog>"
                                             f"<footer>{LOGOS} <a href='https://www.instagram.com/{name.lower()}'>Instagram</a></footer>")


def coins():
    yield "crypto-01-portfolio", with_nav("Coin portfolio", "<h1>Portfolio</h1><table><tr><td>BTC</td><td>0.2</td></tr></table><script>fetch('https://api.coingecko.com/api/v3/ping')</script>")
    yield "crypto-02-connect-wallet", with_nav("Dapp starter", "<h1>Dapp starter</h1><button id=c>Connect wallet</button><p>Works with MetaMask and WalletConnect.</p><script>c.onclick=()=>ethereum.request({method:'eth_requestAccounts'})</script>")
    yield "crypto-03-mnemonic-converter", with_nav("Mnemonic code converter", "<h1>Mnemonic code converter</h1><p>Works offline: save this page and open it without a network. Nothing is sent.</p><textarea id=phrase placeholder='BIP39 mnemonic'></textarea><input type=text placeholder='BIP39 passphrase'><select><option>BTC</option><option>ETH</option></select><table></table>")
    yield "crypto-04-gas-tracker", with_nav("Gas tracker", "<h1>Gas</h1><p>21 gwei</p><p>Prices from Coinbase and Binance.</p>")
    yield "crypto-05-nft-gallery", with_nav("NFT gallery", "<h1>Gallery</h1><img alt='Ape 1' src=1.png><button>Buy on OpenSea</button>")
    yield "crypto-06-erc20-tutorial", with_nav("ERC-20 approvals explained", "<h1>What approve() does</h1><p>An allowance lets a contract spend your tokens. Airdrop scams ask for unlimited ones.</p>" + "<p>Read what you sign: the spender, the amount, the chain, and whether you can take it back. Wallets show these four things, and a page that hurries you past them does not mean well.</p>" * 30 +
                                               "<pre>token.approve(spender, MaxUint256)</pre><script>const MaxUint256=2n**256n-1n</script>")
    yield "crypto-07-staking-mock", with_nav("Staking dashboard mock-up", "<h1>Staking</h1><p>Rewards 0.42</p><button>Claim rewards</button><script>function claim(){toast('mock')}</script>")
    yield "crypto-08-paper-wallet", centred("Paper wallet template", "<p>Print, then write the recovery phrase by hand. Never type it into a page.</p><ol>" + "<li>________</li>" * 12 + "</ol>")
    yield "crypto-09-exchange-ui", with_nav("Exchange UI kit", "<h1>BTC/EUR</h1><form><input placeholder=Amount><input placeholder=Price><button>Buy</button></form><form><input type=email placeholder=Email><input type=password placeholder=Password><button>Log in</button></form>")
    yield "crypto-10-explorer", with_nav("Block explorer", "<h1>Block 19,000,000</h1><table><tr><td>0xffffffffffffffffffffffffffffffffffffffff</td></tr></table>")
    yield "crypto-11-seed-backup-guide", with_nav("Back up a Ledger", "<h1>Back up your Ledger</h1><p>Write the 24 words on paper. Ledger will never ask for them.</p>")
    yield "crypto-12-tip-jar", centred("Tip jar", "<h1>Buy me a coffee</h1><p>0x0000000000000000000000000000000000000000</p><button onclick=\"navigator.clipboard.writeText('0x0')\">Copy address</button>")


def pages():
    made = []
    for part in (checkouts, providers, storefronts, coins):
        made.extend(part())
    return made
