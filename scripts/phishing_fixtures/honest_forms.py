"""Sign-in, registration and settings screens that go nowhere, surveys and other forms."""

from layouts import centred, plain, table_layout, with_nav

SOCIAL = [
    "<p>or</p><button type=button>Sign in with Google</button><button type=button>Sign in with GitHub</button>",
    "<div class=or>or continue with</div><a href='#'><img alt='Google' src=g.svg></a><a href='#'><img alt='Apple' src=a.svg></a><a href='#'><img alt='Facebook' src=f.svg></a>",
    "<button type=button><img alt='Google logo' src='https://www.gstatic.com/images/branding/product/1x/gsa_512dp.png'> Continue with Google</button>",
    "<p>Or sign in with your company's SSO</p>",
    "",
]
ACTIONS = ["", ' action="#"', ' action="dashboard.html"', ' onsubmit="return false"', ' action="/login" method="post"', ' action="http://localhost:3000/login" method="post"']
FIRMS = ["Acorn", "Bluebird Analytics", "Corvid CRM", "Dovetail", "Ember Studio", "Foxglove", "Granite HR", "Heron Health", "Inkwell", "Juniper Jobs", "Kestrel", "Lantern LMS",
         "Meridian Bank (demo)", "Nimbus Drive", "Otter Mail", "Plover Pay", "Quartz Admin", "Rook Security", "Sparrow Social", "Tern Travel", "Umber Insurance", "Vireo Video", "Wren Wallet", "Yarrow"]


def logins():
    for number, firm in enumerate(FIRMS, 1):
        action, social = ACTIONS[number % len(ACTIONS)], SOCIAL[number % len(SOCIAL)]
        layout = [centred, with_nav, plain, table_layout][number % 4]
        script = ["", "<script>document.querySelector('form').addEventListener('submit',e=>{e.preventDefault();location='app.html'})</script>",
                  "<script>async function go(e){e.preventDefault();const r=await fetch('/api/login',{method:'POST',body:new FormData(e.target)});localStorage.token=(await r.json()).token}</script>",
                  "<script type=module>import{createClient}from'https://esm.sh/@supabase/supabase-js';const s=createClient('https://xyz.supabase.co','anon');s.auth.signInWithPassword({email,password})</script>"][number % 4]
        hint = ["<p>Demo: ada / lovelace</p>", "<p>Welcome back! Sign in to continue.</p>", "<p>New here? <a href=register.html>Create an account</a></p>", "<p>Don't have an account? <a href='#'>Sign up</a></p>"][number % 4]
        yield f"login-{number:02}", layout(f"Sign in – {firm}", f"<h1>Log in to your {firm} account</h1><form{action}><label>Email <input type=email name=email></label>"
                                           f"<label>Password <input type=password name=password></label><label><input type=checkbox> Remember me</label><button>Sign in</button></form>{hint}"
                                           f"<a href='#'>Forgot password?</a>{social}{script}")


def others():
    yield "login-31-lock-screen", centred("Locked", "<h2>Ada Moreau</h2><form><input type=password placeholder='Enter your password to return'><button>Unlock</button></form>")
    yield "login-32-french", centred("Connexion – Gland", "<h1>Connexion</h1><form><input placeholder=Identifiant><input type=password placeholder='Mot de passe'><button>Se connecter</button></form>", "fr")
    yield "login-33-german", centred("Anmelden – Eichel", "<h1>Anmelden</h1><form><input placeholder=Benutzername><input type=password placeholder=Passwort><button>Anmelden</button></form><p>oder mit Google anmelden</p>", "de")
    yield "login-34-spanish-panel", with_nav("Panel de operaciones", "<h1>Inicia sesión para ver el panel</h1><form><input placeholder=Usuario autocomplete=username><input type=password placeholder=Contraseña></form><script>fetch('data.json')</script>", "es")
    yield "login-35-wrong-password-state", centred("Sign in – error state", "<p class=error>Incorrect password. Please try again.</p><form><input type=email value='ada@acorn.test'><input type=password><button>Sign in</button></form>")
    yield "login-36-magic-link", centred("Sign in – Acorn", "<form><input type=email placeholder='you@company.test'><button>Send me a sign-in link</button></form>")
    yield "login-37-w3-example", plain("Login form example", "<form action='/action_page.php' method=post><label>Username</label><input name=uname><label>Password</label><input type=password name=psw><button>Login</button></form>")
    yield "login-38-admin-gate", centred("Staff notes", "<p>Enter the password to read the notes.</p><input type=password id=p><script>p.onchange=()=>{if(p.value.length>3)document.body.innerHTML='<h1>Notes</h1><p>Nothing secret.</p>'}</script>")
    yield "login-39-react-app", {"index.html": plain("Corvid", "<div id=root></div><script type=module src=assets/app.js></script>"),
                                 "assets/app.js": "import{jsx}from'./r.js';export const Login=()=>jsx('form',{children:[jsx('input',{type:'email'}),jsx('input',{type:'password',placeholder:'Password'}),jsx('button',{children:'Log in with Google'})]});fetch('/api/session')"}
    yield "login-40-disabled-mock", centred("Microsoft sign-in, annotated", "<h1>Anatomy of a sign-in page</h1><input disabled placeholder='Email, phone, or Skype'><input type=password disabled><p>1: the field takes three kinds of names.</p>")
    yield "login-41-vault", centred("Open the vault", "<h2>Vault</h2><p>Decrypts in the browser.</p><input type=password placeholder=Passphrase><script>crypto.subtle.importKey</script>")
    yield "login-42-two-factor-demo", centred("Two-factor screen", "<p>Enter the 6-digit code from your app (demo: 123456).</p>" + "<input maxlength=1>" * 6)
    for number, extra in enumerate(["<label>GitHub username <input name=github></label>", "<label>LinkedIn profile <input name=linkedin></label><label>Twitter handle <input name=tw></label>",
                                    "<label>Telegram username <input name=tg></label><label>Date of birth <input type=date name=dob></label>", "<label>Discord ID <input name=discord></label>",
                                    "<label>PayPal email for payouts <input name=payout></label>", "<label>Steam ID <input name=steam></label>"], 1):
        yield f"register-{number:02}", centred("Create your account – Juniper Jobs", f"<h1>Create an account</h1><form><label>Name <input name=name></label><label>Email <input type=email></label>{extra}"
                                               "<label>Password <input type=password autocomplete=new-password></label><label>Repeat password <input type=password></label><button>Create account</button></form>")
    for number, linked in enumerate([["Google", "Slack", "GitHub", "Dropbox"], ["Facebook", "Twitter", "Google", "LinkedIn", "Microsoft"], ["Stripe", "PayPal", "Shopify", "QuickBooks"], ["Spotify", "Discord", "Twitch", "YouTube"]], 1):
        rows = "".join(f"<li>{name} account <button>{'Connect' if i % 2 else 'Disconnect'}</button></li>" for i, name in enumerate(linked))
        yield f"settings-{number:02}", with_nav("Settings – Corvid CRM", f"<h1>Settings</h1><h2>Connected accounts</h2><ul>{rows}</ul><h2>Change password</h2><form><input type=password placeholder='Current password'>"
                                                "<input type=password placeholder='New password'><button>Update</button></form>")


def surveys():
    for number, (name, questions) in enumerate([
        ("Lunch survey", ["What do you eat?", "Where?", "With whom?"]), ("Event sign-up", ["Name", "Email", "Dietary needs"]), ("Bug report", ["Version", "What happened?", "What did you expect?"]),
        ("Visa application checklist", ["Passport number", "Date of birth", "Travel dates"]), ("Tax calculator", ["Income", "Deductions", "Tax identification number (optional)"]),
        ("Medical history", ["Date of birth", "Allergies", "Doctor"]), ("Insurance quote", ["Vehicle", "Mileage", "Driver's license number"]), ("Parcel tracking mock-up", ["Tracking number", "Postcode", "Email"]),
        ("RSVP", ["Name", "Guests", "Song"]), ("Bank transfer form (prototype)", ["IBAN", "Amount", "Reference"])], 1):
        fields = "".join(f"<label>{q} <input name=q{i}></label>" for i, q in enumerate(questions))
        action = ["", " action='https://formspree.io/f/invalid' method=post", " action='thanks.html'"][number % 3] if number not in (4, 5, 7, 10) else ""
        yield f"form-{number:02}", centred(name, f"<h1>{name}</h1><form{action}>{fields}<button>Send</button></form>")


def pages():
    return list(logins()) + list(others()) + list(surveys())
