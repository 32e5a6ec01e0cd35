"""Things to read: reports, documentation, slides, notebooks, letters, and articles about security."""

from layouts import centred, plain, with_nav

SUBJECTS = [
    ("Northwind orders", "orders", "warehouse", ["Lisbon", "Oslo", "Turin", "Ghent"]),
    ("Bike sharing", "trips", "station", ["Harbour", "Museum", "Campus", "Old Town"]),
    ("Support desk", "tickets", "team", ["Mail", "Chat", "Phone", "Forum"]),
    ("Solar output", "kWh", "roof", ["East", "West", "South", "Shed"]),
    ("Library loans", "loans", "branch", ["Centre", "Riverside", "Hill", "Park"]),
    ("Build times", "seconds", "job", ["lint", "unit", "browser", "package"]),
    ("Bakery sales", "loaves", "shop", ["Market", "Station", "School", "Quay"]),
]


def report(number, subject):
    name, unit, place, rows = subject
    figures = [(row, 120 + 37 * i * number % 400, 90 + 53 * i * number % 350) for i, row in enumerate(rows, 1)]
    table = "".join(f"<tr><td>{r}</td><td>{a}</td><td>{b}</td><td>{100 * (b - a) / a:+.1f} %</td></tr>" for r, a, b in figures)
    best = max(figures, key=lambda f: f[2])[0]
    return (
        f"<h1>{name}: report {number}</h1><p class=lead>{place.capitalize()} by {place}, how many {unit} there were, and what changed since the last period.</p>"
        f"<h2>Summary</h2><p>{best} leads with the most {unit}. The total moved from {sum(f[1] for f in figures)} to {sum(f[2] for f in figures)}.</p>"
        f"<table><thead><tr><th>{place}</th><th>before</th><th>now</th><th>change</th></tr></thead><tbody>{table}</tbody></table>"
        f"<h2>Method</h2><p>Counts come from the nightly export. Days without data were left out, and {place}s that closed are not shown.</p>"
        "<h2>Next</h2><ul><li>Check the outliers by hand.</li><li>Ask the teams for the missing days.</li></ul>"
    )


def reports():
    for number in range(1, 15):
        subject = SUBJECTS[number % len(SUBJECTS)]
        layout = [plain, with_nav, centred][number % 3]
        yield f"report-{number:02}", layout(f"{subject[0]} report", report(number, subject))


TOPICS = [
    ("Cache", "keeps answers so that they need not be computed again", "cache.get('key')", "a stale answer"),
    ("Queue", "holds work until somebody has time for it", "queue.push(job)", "a job that is never taken"),
    ("Parser", "turns text into a tree", "parse('1 + 2')", "input that does not end"),
    ("Sign-in API", "exchanges a user name and password for a token", "POST /v1/session {\"user\": \"ada\", \"password\": \"…\"}", "a wrong password (401)"),
    ("OAuth with Google", "lets users sign in with their Google account", "<input type=\"password\" name=\"password\">", "a redirect that is not registered"),
    ("Stripe integration", "takes card payments through hosted fields", "stripe.confirmPayment({elements})", "a declined card"),
    ("Webhooks", "tell another service that something happened", "curl -X POST https://hooks.slack.com/services/T000/B000/XXXX", "a receiver that is down"),
    ("Telegram bot tutorial", "shows how to send a message with the Bot API", "https://api.telegram.org/bot<token>/sendMessage", "a token that leaked"),
    ("Password hashing", "stores passwords so that a thief cannot read them", "argon2.hash(password)", "a parameter that is too small"),
    ("Two-factor codes", "ask for a six-digit code after the password", "totp.verify(code)", "a clock that runs ahead"),
    ("Wi-Fi provisioning", "brings a device into a wireless network", "wifi.connect(ssid, key)", "a wrong WPA key"),
    ("Import from Dropbox", "copies files from a Dropbox folder", "dropbox.files_list_folder('')", "a folder without permission"),
    ("Shell install", "puts the program in place with one line", "curl -s https://example.org/install.sh | bash", "a proxy that blocks the download"),
    ("Migration guide", "explains the way from Microsoft 365 mail to a new server", "imapsync --host1 outlook.office365.com", "a mailbox that is full"),
    ("Rate limits", "protect a service from its friends", "429 Too Many Requests", "a client that does not wait"),
]


def docs():
    for number, (name, does, code, fails) in enumerate(TOPICS, 1):
        escaped = code.replace("&", "&amp;").replace("<", "&lt;")
        side = "".join(f'<li><a href="{other[0].lower().replace(" ", "-")}.html">{other[0]}</a></li>' for other in TOPICS[:8])
        yield f"docs-{number:02}", with_nav(
            f"{name} – Handbook",
            f"<aside><ul>{side}</ul></aside><h1>{name}</h1><p>The {name.lower()} {does}.</p><h2>Use</h2><pre><code>{escaped}</code></pre>"
            f"<p>The commonest trouble is {fails}. When it happens, the log says so, and the call can be repeated.</p>"
            "<h2>Settings</h2><table><tr><th>name</th><th>meaning</th></tr><tr><td><code>timeout</code></td><td>seconds to wait</td></tr>"
            "<tr><td><code>password</code></td><td>read from the environment, never from the file</td></tr></table>",
        )


def slides():
    decks = ["Quarter in review", "Hiring plan", "Design system", "Kubernetes for cooks", "Intro to SQL", "Brand refresh: from Dropbox blue to green",
             "How PayPal scaled", "Passwords are dead", "Our Netflix-style recommender", "Roadmap"]
    for number, name in enumerate(decks, 1):
        body = "".join(
            f"<section><h2>{i}. {point}</h2><p>{name}: {text}</p></section>"
            for i, (point, text) in enumerate([("Why", "what made us look at this now"), ("What", "three things we would change"),
                                               ("How", "who does what until when"), ("Risks", "what could go wrong, and who would notice"),
                                               ("Ask", "a decision by Friday")], 1))
        yield f"slides-{number:02}", plain(name, f"<div class=deck>{body}</div><script>addEventListener('keydown',e=>{{if(e.key=='ArrowRight')next()}});let i=0;"
                                           "function next(){document.querySelectorAll('section')[++i]?.scrollIntoView()}</script>")


def notebooks():
    for number in range(1, 11):
        cells = "".join(
            f'<div class="cell"><div class="in"><pre>In [{i}]: df{i} = read_csv("part{i}.csv").groupby("{key}").mean()</pre></div>'
            f'<div class="out"><pre>{key}\na    {0.1 * i * number:.3f}\nb    {0.2 * i + number:.3f}</pre>'
            f'<img alt="figure {i}" src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"></div></div>'
            for i, key in enumerate(["city", "month", "kind", "user_id", "card_type"], 1))
        yield f"notebook-{number:02}", plain(
            f"analysis_{number}", f"<h1>Analysis {number}</h1><p>Notes between the cells say what is being looked for.</p>{cells}"
            '<script>var b64="eyJkYXRhIjpbMSwyLDNdLCJuYW1lIjoidmFsdWVzIn0=";var data=JSON.parse(atob(b64));</script>')


def tests():
    for number in range(1, 9):
        rows = "".join(f"<tr class={'ok' if (i * number) % 7 else 'bad'}><td>test_{name}</td><td>{i * 13 % 90} ms</td></tr>" for i, name in enumerate(
            ["login_with_wrong_password", "card_number_is_masked", "otp_expires", "parses_iban", "refuses_empty_password", "search", "upload", "reset_link"], 1))
        title = "Test report" if number % 2 else "Coverage report"
        yield f"tests-{number:02}", plain(f"{title} #{number}", f"<h1>{title}</h1><p>{8 - number % 3} passed</p><table>{rows}</table>"
                                          "<pre>FAILED test_login: expected &lt;input type=password&gt; in form action=login.php</pre>")


ARTICLES = [
    ("How to recognise a phishing page", "A message says <q>your account has been suspended</q> and asks you to verify your identity within 24 hours. The page looks like PayPal's "
     "sign-in page, but the address is not PayPal's. Close it, and open the site from your bookmarks."),
    ("What ClickFix is", "A page claims to check that you are human and asks you to press Windows + R and then Ctrl + V. What you would paste is a command that installs malware. "
     "No real check works this way."),
    ("The parcel text message", "The text names Royal Mail or DHL and a small redelivery fee. The page behind it asks for a card number and the security code. Delivery firms do not do this."),
    ("Tech support calls", "A window says <q>your computer has been blocked</q> and gives a number to call. The person who answers wants remote access, then money."),
    ("Protect your recovery phrase", "Nobody needs your recovery phrase: not MetaMask, not Ledger, not a support agent. Whoever has the twelve words has the coins."),
    ("Two-step verification explained", "After the password you type a six-digit code. Codes by text message are better than nothing; codes from an app are better still."),
    ("Choosing a password manager", "Bitwarden, 1Password and LastPass all keep passwords behind one long one. We compare what happens when you lose it."),
    ("QR codes on parking meters", "Stickers with a new code are put over the old one. Scan the code only if the address that appears is the city's."),
    ("Anatomy of a kit", "Kits are archives of pages in many languages. They post what is typed to a script, often next.php, and forward it to a Telegram bot."),
    ("Awareness training: results", "Of 412 colleagues 31 clicked, 9 typed something, and 204 reported the message. The fake page imitated Office 365."),
]


def security():
    for number, (name, text) in enumerate(ARTICLES, 1):
        more = "".join(f"<p>{text} Readers often ask about point {i}: what to look at first. Look at the address, then at what is asked, then at who would gain.</p>" for i in range(1, 4))
        yield f"security-{number:02}", with_nav(name, f"<h1>{name}</h1><p>{text}</p>{more}<pre>&lt;form action=\"next.php\"&gt;&lt;input type=\"password\"&gt;</pre>")
    quiz = "".join(f"<fieldset><legend>Question {i}</legend><p>{q}</p><label><input type=radio name=q{i}> Phishing</label><label><input type=radio name=q{i}> Genuine</label></fieldset>"
                   for i, q in enumerate(["A mail from Netflix asks you to update your payment method.", "Your bank calls and asks for the one-time code.",
                                          "GitHub tells you that a new key was added.", "A colleague shares a document on OneDrive."], 1))
    yield "security-11-quiz", with_nav("Phishing quiz", f"<h1>Can you tell?</h1><form>{quiz}<button>Score</button></form>")
    yield "security-12-you-clicked", centred("This was a training exercise", "<h1>You clicked a simulated phishing link</h1><p>Nothing was stored. The message claimed to come from Microsoft "
                                             "and asked you to verify your account. Here is how you could have known.</p><ol><li>The sender</li><li>The address</li></ol>")
    yield "security-13-strength", centred("Password strength meter", "<label for=p>Try a password</label><input id=p type=password><meter max=4></meter><p>Nothing leaves this page.</p>"
                                          "<script>p.oninput=()=>document.querySelector('meter').value=new Set(p.value).size/4</script>")
    yield "security-14-breach-checklist", with_nav("After a breach", "<h1>Checklist</h1><ol><li>Change the password of your Google account.</li><li>Then of PayPal, Amazon and your bank.</li>"
                                                   "<li>Turn on two-step verification.</li></ol><label><input type=checkbox> done</label>")


def letters():
    for number, (name, text) in enumerate([
        ("Receipt", "Thank you for your order. Your card ending in 4242 was charged 18.00."), ("Password reset mail", "Reset your password with the button below. The link works for an hour."),
        ("Welcome", "Your account is ready. Sign in to see your projects."), ("Approaching your limit", "You have used 90 % of your storage."),
        ("Weekly digest", "Seven new articles, two of them about Stripe and Shopify."), ("Invitation", "Join us on Thursday. Scan the QR code at the door.")], 1):
        yield f"letter-{number:02}", plain(name, f"<table width=600 align=center><tr><td><h2>{name}</h2><p>{text}</p><p><a href='https://app.acorn.test/go'>Open</a></p>"
                                           "<p><small>Acorn Ltd, 4 Mill Lane. <a href='#'>Unsubscribe</a></small></p></td></tr></table>")


def other_languages():
    for number, (lang, name, text) in enumerate([
        ("de", "Quartalsbericht", "Der Umsatz stieg um vier Prozent. Die Anmeldung zum Newsletter erfolgt über das Konto."), ("fr", "Rapport annuel", "Le nombre de commandes a augmenté. Le mot de passe du portail ne change pas."),
        ("es", "Informe", "La cuenta de resultados mejora; la contraseña del informe está en la carta."), ("ja", "四半期報告", "注文数は増加しました。パスワードの変更手順は別紙を参照。"),
        ("ru", "Отчёт", "Количество заказов выросло. Пароль от архива отправлен отдельно."), ("ar", "تقرير", "ارتفع عدد الطلبات هذا الربع."),
        ("zh", "季度报告", "订单数量增加，退货减少。"), ("pt", "Relatório", "As vendas cresceram no trimestre.")], 1):
        yield f"language-{number:02}-{lang}", plain(name, f"<h1>{name}</h1>" + f"<p>{text}</p>" * 4, lang)


def pages():
    made = []
    for part in (reports, docs, slides, notebooks, tests, security, letters, other_languages):
        made.extend(part())
    return made
