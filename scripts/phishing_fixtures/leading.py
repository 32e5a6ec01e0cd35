"""Pages that only lead elsewhere or carry a file to be saved, and honest pages that do nearly the same. The files are no
programs: they have the first bytes of one and nothing that runs."""

import base64
import hashlib

from layouts import centred, plain, with_nav

HEADER = bytes.fromhex("4d5a90000300000004000000ffff0000b800000000000000400000000000000000000000000000000000000000000000000000000000000000000000") \
    + bytes([0x40, 0, 0, 0]) + b"PE\0\0" + bytes(400)
PROGRAM = base64.b64encode(HEADER).decode()
ARCHIVE = base64.b64encode(b"PK\x03\x04\x14\0\0\0\x08\0" + bytes(16) + bytes([10, 0, 0, 0]) + b"invoice.js" + bytes(range(200))).decode()
SHEET = base64.b64encode(b"PK\x03\x04\x14\0\0\0\x08\0" + bytes(16) + bytes([19, 0, 0, 0]) + b"[Content_Types].xml" + bytes(range(200))).decode()
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg=="
SAVE = "var a=document.createElement('a');a.href=URL.createObjectURL(b);a.download={name};document.body.append(a);a.click()"


def saved(name, data):
    return f"<script>var d=atob('{data}'),u=new Uint8Array(d.length);for(var i=0;i<d.length;i++)u[i]=d.charCodeAt(i);var b=new Blob([u]);" \
        + SAVE.format(name=f"'{name}'") + "</script>"


def harvest():
    away = "https://landing.collect.invalid/x?id=7"
    yield "redirect-01-meta", f'<!doctype html><title>Loading</title><meta http-equiv="refresh" content="0; url={away}">'
    yield "redirect-02-meta-without-url", f"<!doctype html><title>Please wait</title><meta http-equiv=refresh content='1;{away}'><p>Loading…</p>"
    yield "redirect-03-script", f"<!doctype html><title>Document</title><script>window.location.href = '{away}'</script>"
    yield "redirect-04-replace", centred("One moment", f"<p>Checking your browser</p><script>setTimeout(function(){{location.replace('{away}')}},300)</script>")
    yield "redirect-05-packed", f"<!doctype html><title></title><script>location = atob('{base64.b64encode(away.encode()).decode()}')</script>"
    yield "redirect-06-references", '<!doctype html><meta http-equiv="&#114efresh" content="0&#59url=https&colon;//landing.collect.invalid/">'
    yield "redirect-07-in-a-file", {"index.html": "<!doctype html><title>x</title><script src=go.js></script>", "go.js": f'top.location.assign("{away}");'}
    packed = base64.b64encode(away.encode()).decode()
    yield "redirect-08-variable", f"<!doctype html><title>Loading</title><script>var to = '{away}'; setTimeout(function () {{ window.location.href = to }}, 500)</script>"
    yield "redirect-09-packed-variable", f"<!doctype html><title>Loading</title><script>const k='{packed}';location.replace(atob(k))</script>"
    yield "redirect-10-numbers", "<!doctype html><title>Loading</title><script>location.href=String.fromCharCode(" + ",".join(str(ord(c)) for c in away) + ")</script>"
    yield "smuggle-01-program", centred("Invoice", "<p>Your document is being downloaded.</p>" + saved("invoice.bin", PROGRAM))
    yield "smuggle-02-archive", centred("Shared file", "<p>Your file is ready. Password: 1234</p>" + saved("documents.zip", ARCHIVE))
    yield "smuggle-03-link", centred("Update", f'<p>Install the update to go on.</p><a download="update.bin" href="data:application/octet-stream;base64,{PROGRAM}">Install</a>')
    yield "smuggle-04-numbers", centred("Viewer", "<p>Preparing</p><script>var b=new Blob([new Uint8Array([" + ",".join(map(str, HEADER[:200])) + "])]);" + SAVE.format(name="'viewer'") + "</script>")
    yield "smuggle-05-name", centred("Report", "<p>Opening the report.</p><script>fetch('part.txt').then(r=>r.blob()).then(b=>{" + SAVE.format(name="'report.pdf.hta'") + "})</script>")
    yield "smuggle-06-pieces", centred("Fax", "<p>New fax</p><script>var d=atob('" + "'+'".join(PROGRAM[i:i + 40] for i in range(0, len(PROGRAM), 40))
                                       + "');var b=new Blob([d]);" + SAVE.format(name="'fax'") + "</script>")

    yield "smuggle-07-spaces", centred("Invoice", "<p>Your document is being downloaded.</p>" + saved("invoice.bin", PROGRAM[:2] + " " + PROGRAM[2:]))
    yield "smuggle-08-address", centred("Invoice", f"<p>Your document is being downloaded.</p><script>location.href='data:application/octet-stream;base64,{PROGRAM}'</script>")


WEATHER = """const root=document.getElementById('root');
function open(u){window.location.assign(u)}
fetch("https://api.open-meteo.com/v1/forecast?latitude=52.5&longitude=13.4&daily=temperature_2m_max").then(r=>r.json()).then(f=>{
for(const [i,day] of f.daily.time.entries()){const p=document.createElement('p');p.textContent=day+': '+f.daily.temperature_2m_max[i];p.onclick=()=>open('#'+day);root.append(p)}});"""
MINIFIED = 'const e=document.getElementById("root"),n="https://api.open-meteo.com/v1/forecast?latitude=52.5";function o(u){window.location.assign(u)}' \
    'function l(t){location.href=t,fetch("https://api.open-meteo.com/v1/seen")}fetch(n).then(t=>t.json()).then(t=>{e.textContent=t.daily.time[0];e.onclick=()=>o("#day")});'
EXPORT = "b.onclick=()=>{const a=document.createElement('a');a.href=URL.createObjectURL(new Blob([rows.join('\\n')],{type:'text/csv'}));a.download='rows.csv';a.click()}"


def hashes(count, algorithm):
    """Hashes of files, the first of which happens to begin like a program."""
    texts = [hashlib.new(algorithm, str(n).encode()).hexdigest() for n in range(count)]
    return ["4d5a" + texts[0][4:], "5a4d" + texts[1][4:], *texts[2:]]


def honest():
    yield "leads-01-within", {"index.html": '<!doctype html><title>Report</title><meta http-equiv="refresh" content="0; url=en/index.html">', "en/index.html": plain("Report", "<h1>Report</h1><p>All is well.</p>")}
    yield "leads-02-within-by-script", {"index.html": "<!doctype html><title>Report</title><script>location.replace(navigator.language.startsWith('de')?'de.html':'en.html')</script>",
                                        "en.html": plain("Report", "<p>All is well.</p>"), "de.html": plain("Bericht", "<p>Alles in Ordnung.</p>", "de")}
    yield "leads-03-moved", '<!doctype html><title>We have moved</title><meta http-equiv="refresh" content="5; url=https://docs.fernway.example/">' \
        '<h1>The documentation has moved</h1><p>It is now at <a href="https://docs.fernway.example/">docs.fernway.example</a>. Please update your bookmarks.</p>'
    yield "leads-04-button", centred("Links", "<h1>Ada Moreau</h1><button onclick=\"location.href='https://github.com/adamoreau'\">GitHub</button>"
                                     "<button onclick=\"window.location='https://fernway.example'\">Fernway</button>")
    yield "leads-05-button-by-script", centred("Fernway", "<h1>Fernway</h1><button id=go>Visit</button><script>go.onclick=()=>{location.href='https://fernway.example/'}</script>")
    yield "leads-06-reload", centred("Board", '<meta http-equiv="refresh" content="60"><h1>Departures</h1><table><tr><td>Line 4<td>12:04</table>')
    yield "leads-07-hash", plain("Slides", "<section id=s1><h1>Orchard</h1></section><script>if(!location.hash)location.hash='s1';onkeydown=e=>{location.href='#s2'}</script>")
    yield "leads-08-app", f"<!doctype html><title>Weather</title><div id=root></div><script>{WEATHER}</script>"
    yield "leads-09-app-bundle", {"index.html": "<!doctype html><title>Weather</title><div id=root></div><script type=module src=assets/index.js></script>", "assets/index.js": MINIFIED}
    yield "saves-01-csv", with_nav("Sales", "<h1>Sales</h1><table><tr><td>May<td>12</table><button id=b>Export as CSV</button><script>b.onclick=()=>{const a=document.createElement('a');"
                                   "a.href=URL.createObjectURL(new Blob(['month,sales\\nMay,12\\n'],{type:'text/csv'}));a.download='sales.csv';a.click()}</script>")
    yield "saves-02-picture", centred("Badge", f'<h1>Your badge</h1><img alt=badge src="data:image/png;base64,{PICTURE}"><a download="badge.png" href="data:image/png;base64,{PICTURE}">Save</a>')
    yield "saves-03-sheet", centred("Timesheet", f'<h1>Timesheet for May</h1><p>Four weeks, 152 hours.</p><a download="may.xlsx" href="data:application/octet-stream;base64,{SHEET}">Download as a spreadsheet</a>')
    yield "saves-04-json", plain("Editor", "<textarea id=t>{}</textarea><button id=b>Save</button><script>b.onclick=()=>{let a=document.createElement('a');a.download='scene.json';"
                                 "a.href='data:application/json,'+encodeURIComponent(t.value);a.click()}</script>")
    yield "saves-05-bytes", plain("Tone", "<h1>Tone</h1><p>A short sine wave, made in the page and saved as a file.</p><button id=b>Save</button><script>const h=new Uint8Array([82,73,70,70,36,0,0,0,87,65,86,69,102,109,116,32,16,0,0,0]);"
                                  "b.onclick=()=>{const a=document.createElement('a');a.href=URL.createObjectURL(new Blob([h]));a.download='tone.wav';a.click()}</script>")
    yield "saves-06-picture-of-drawing", plain("Chart", "<canvas id=c></canvas><p>Rainfall by month</p><button id=b>Save picture</button><script>b.onclick=()=>{const a=document.createElement('a');a.download='chart.png';a.href=c.toDataURL();a.click()}</script>")
    for number, (name, rows) in enumerate([
        ("words", ["TV revenue by quarter and region, with forecasts for the next two years and a note on the method"]),
        ("weeks", ["Wk 0/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31"]),
        ("hashes", hashes(40, "sha256") + hashes(10, "sha512")),
    ], 7):
        literals = ",".join(f"'{row}'" for row in rows)
        yield f"saves-{number:02}-{name}", plain("Export", f"<h1>Export</h1><button id=b>Save as CSV</button><script>const rows=[{literals}];{EXPORT}</script>")
