"""Things to look at: dashboards, landing pages, portfolios, games, drawings, component galleries."""

from layouts import centred, plain, with_nav


def dashboards():
    names = ["Operations", "Sales", "Fleet", "Uptime", "Energy", "Marketing: Facebook and Instagram ads", "Twitter sentiment", "GitHub activity", "AWS cost", "Payments (Stripe, PayPal)",
             "Inventory", "Helpdesk", "Weather", "Twitch streams"]
    for number, name in enumerate(names, 1):
        cards = "".join(f"<div class=card><h3>{label}</h3><b>{(number * 37 * i) % 900}</b></div>" for i, label in enumerate(["Today", "Week", "Month", "Errors"], 1))
        script = f"<script>const data=[{','.join(str((i * number * 7) % 50) for i in range(24))}];fetch('/api/metrics?range=24h').then(r=>r.json()).then(draw).catch(()=>draw(data));function draw(d){{}}</script>"
        yield f"dashboard-{number:02}", with_nav(f"{name} dashboard", f"<h1>{name}</h1><div class=grid>{cards}</div><canvas></canvas>{script}")


def landings():
    firms = [("Fernway", "plans hikes"), ("Tidepool", "keeps aquariums healthy"), ("Quillbox", "stores notes"), ("Lumen & Co", "rents studio light"), ("Marrow", "makes soup"), ("Pixelpost", "prints photographs"),
             ("Ohmly", "watches meters"), ("Carta Verde", "insures bicycles"), ("Brightbank (a concept)", "imagines a kinder bank"), ("Hopcast", "hosts podcasts"), ("Sidestep", "blocks phishing mail"), ("Mailden", "runs your own mail server")]
    for number, (name, does) in enumerate(firms, 1):
        social = "".join(f'<a href="https://{host}/{name.split()[0].lower()}" aria-label="{label}">{label}</a>' for host, label in
                         [("facebook.com", "Facebook"), ("twitter.com", "Twitter"), ("instagram.com", "Instagram"), ("linkedin.com/company", "LinkedIn")])
        form = ['<form action="https://formspree.io/f/invalid" method="post"><input type="email" name="email" placeholder="Email address"><button>Subscribe</button></form>',
                '<form action="contact.php" method="post"><input name="name" placeholder="Your name"><input name="email" placeholder="Email"><textarea name="message"></textarea><button>Send</button></form>',
                '<form action="https://acorn.us3.list-manage.com/subscribe/post"><input type=email name=EMAIL><button>Join</button></form>'][number % 3]
        yield f"landing-{number:02}", with_nav(f"{name} – {does}", f"<h1>{name} {does}</h1><p>Loved by people who would rather do something else. <a href=signin.html>Sign in</a></p>{form}"
                                               f"<p>As seen on YouTube, Reddit and Spotify.</p><img alt='Get it on Google Play' src=play.png><div>{social}</div>")


def portfolios():
    for number, (person, work) in enumerate([("Ada Moreau", "Redesign of the Spotify login flow"), ("Ben Okafor", "A Netflix clone in React"), ("Chloe Tan", "PayPal checkout case study"),
                                             ("Dmitri Ionescu", "Airbnb search, faster"), ("Esra Kaya", "Amazon reviews, summarised"), ("Finn Dahl", "Wireframes for a bank app")], 1):
        yield f"portfolio-{number:02}", with_nav(f"{person} – portfolio", f"<h1>{person}</h1><article><h2>{work}</h2><p>What I did, for whom, and what I would do differently today.</p><img alt='screen of {work}' src=a.png></article>"
                                                 "<p>Write to me: <a href='mailto:me@acorn.test'>mail</a></p>")


def games():
    yield "game-01-memory", plain("Memory", "<div id=b></div><script>const s='ABCDABCD'.split('');b.innerHTML=s.map((c,i)=>`<button data-i=${i}>?</button>`).join('')</script>")
    yield "game-02-password-puzzle", plain("The password game", "<p>Make a password that satisfies every rule.</p><input type=text placeholder='Your password'><ol><li>five letters</li><li>a month</li></ol>")
    yield "game-03-steam-sale", plain("Steam sale calculator", "<h1>Steam sale calculator</h1><input type=number placeholder='Price'><input type=number placeholder='Discount'><output></output>")
    yield "game-04-minecraft-map", plain("Minecraft seed map", "<h1>Minecraft seed map</h1><label>Seed <input name=seed></label><canvas></canvas>")


def drawings():
    for number in range(1, 5):
        boxes = "".join(f'<rect x="{20 * i}" y="{(i * number * 17) % 90}" width="16" height="{20 + i * 3}"/><text x="{20 * i}" y="120">{i}</text>' for i in range(1, 12))
        yield f"drawing-{number:02}", {f"chart{number}.svg": f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 260 130"><title>Chart {number}</title>{boxes}</svg>',
                                       "index.html": plain(f"Chart {number}", f"<img alt='Chart {number}' src='chart{number}.svg'>")}


def galleries():
    parts = {
        "inputs": "<input type=text placeholder=Text><input type=email placeholder=Email><input type=password placeholder=Password><input type=tel placeholder=Phone><input type=number placeholder=Number><input type=search>",
        "otp": "".join("<input maxlength=1 inputmode=numeric>" for _ in range(6)) + "<p>One-time code input component</p>",
        "card": "<div class=card>•••• 4242</div><input placeholder='Card number'><input placeholder='MM/YY'><input placeholder='CVC'>",
        "modals": "<dialog><h2>Session expired</h2><p>Please sign in again.</p><button>OK</button></dialog>",
        "alerts": "<div class=alert>Your account has been suspended</div><div class=alert>Payment declined</div><div class=alert>Security alert</div>",
        "social": "<button>Continue with Google</button><button>Continue with Apple</button><button>Continue with Facebook</button><button>Continue with GitHub</button>",
        "avatars": "<img alt='Ada' src=a.png><img alt='Ben' src=b.png>",
        "icons": "".join(f"<i title={n}></i><span>{n}</span>" for n in ["facebook", "google", "paypal", "visa", "mastercard", "amazon", "apple", "microsoft", "github"]),
        "wizard": "<fieldset><legend>Account</legend><input placeholder=Email><input type=password placeholder=Password></fieldset><fieldset><legend>Billing</legend><input placeholder='Card number'><input placeholder='CVC'></fieldset>",
        "tables": "<table><tr><th>User</th><th>Password age</th></tr><tr><td>ada</td><td>12 days</td></tr></table>",
    }
    for number, (name, part) in enumerate(parts.items(), 1):
        yield f"gallery-{number:02}-{name}", with_nav(f"{name.capitalize()} – component library", f"<h1>{name.capitalize()}</h1><div class=example>{part}</div><pre>&lt;x-{name}&gt;&lt;/x-{name}&gt;</pre>")


def apps():
    yield "app-01-pomodoro", centred("Pomodoro", "<time>25:00</time><button>Start</button><script>new Audio('ding.mp3')</script>")
    yield "app-02-copy-snippet", centred("Install", "<h1>Install the tool</h1><pre>npm install -g acorn</pre><button onclick=\"navigator.clipboard.writeText('npm install -g acorn')\">Copy</button><p>Then open a terminal and paste the command.</p>")
    yield "app-03-powershell-cheatsheet", with_nav("PowerShell cheat sheet", "<h1>PowerShell</h1><p>Open PowerShell with Win + X.</p><pre>powershell -File a.ps1</pre><script>document.querySelectorAll('pre').forEach(p=>p.onclick=()=>navigator.clipboard.writeText(p.textContent))</script>")
    yield "app-04-wifi-qr", centred("Wi-Fi QR code maker", "<label>Network name <input name=ssid></label><label>Wi-Fi password <input name=wifikey></label><canvas></canvas><p>The code is drawn in your browser.</p>")
    yield "app-05-device-setup", centred("ESP32 setup", "<h1>Device setup</h1><form method=post><label>SSID <input name=ssid></label><label>Wi-Fi password <input name=pass type=password></label><button>Save</button></form><p>Firmware version 1.4</p>")
    yield "app-06-todo", centred("Todo", "<ul id=l></ul><input placeholder='What next?'><script>l.innerHTML=(JSON.parse(localStorage.t||'[]')).map(t=>`<li>${t}</li>`).join('')</script>")
    yield "app-07-base64", centred("Base64 tool", "<textarea placeholder='Text or base64'></textarea><script>document.querySelector('textarea').oninput=e=>{try{out.textContent=atob(e.target.value)}catch{}}</script><output id=out></output>")
    yield "app-08-qr-menu", centred("Menu", "<h1>Scan the QR code to see the menu</h1><img alt='QR code' src=qr.png>")
    yield "app-09-redirect", '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html"><title>Moved</title><a href="docs/index.html">Moved</a>'
    yield "app-10-embed", plain("Recording", '<iframe src="https://www.youtube.com/embed/invalid" width=800 height=450></iframe>')


def pages():
    made = []
    for part in (dashboards, landings, portfolios, games, drawings, galleries, apps):
        made.extend(part())
    return made
