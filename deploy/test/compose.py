"""Checks deploy/compose.yaml, or starts its services as processes and publishes a page through Caddy:

    compose.py check
    compose.py run BINARY         (as root; everything happens in namespaces of its own)
"""

import ipaddress
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from compose_file import ROOT, load, networks_of, problems, read_env
from compose_process import Service, run

API, PAGES, EMAIL = "api.dropleaf.test", "pages.dropleaf.test", "operator@dropleaf.test"
FILES = ("compose.yaml", "Caddyfile", "compose-setup")
# Above `storage.inline_bytes` even when compressed, so that it goes to the bucket. The same in every run.
LARGE = f"<!doctype html><title>Large</title><pre>{random.Random(21).randbytes(200_000).hex(' ', 16)}</pre>"


class Bridge:
    def __init__(self, name, subnet):
        self.name, self.links = name, []
        self.hosts = ipaddress.ip_network(subnet).hosts()
        # The gateway, and Caddy's fixed address.
        self.gateway = next(self.hosts)
        next(self.hosts)
        run("ip", "link", "add", name, "type", "bridge")
        run("ip", "link", "set", name, "up")

    def next_address(self):
        return str(next(self.hosts))


def passed(text):
    print(f"pass: {text}", flush=True)


def expect(condition, text, details=""):
    if not condition:
        raise SystemExit(f"FAIL: {text}\n{details}")
    passed(text)


def as_operator(*command):
    """As an ordinary user whose files are private, also where the tests run as root."""
    user = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups") if os.geteuid() == 0 else ()
    return run(*user, "sh", "-c", 'umask 077; exec "$@"', "sh", *command)


def set_up(folder):
    """A copy of deploy/ of an ordinary user, with secrets and names as operators create them."""
    deploy = folder / "deploy"
    deploy.mkdir()
    for name in FILES:
        shutil.copy2(ROOT / "deploy" / name, deploy)
    (deploy / "Caddyfile").chmod(0o600)
    if os.geteuid() == 0:
        folder.chmod(0o755)
        for path in (deploy, *deploy.iterdir()):
            shutil.chown(path, "nobody", "nogroup")
    as_operator(deploy / "compose-setup", "old.dropleaf.test", PAGES, EMAIL)
    before = (deploy / "secrets/dropleaf.toml").read_text()
    with (deploy / ".env").open("a") as env:
        env.write("DROPLEAF_IMAGE=localhost/dropleaf:9.9.9\n")
    as_operator(deploy / "compose-setup", API, PAGES, EMAIL)
    expect((deploy / "secrets/dropleaf.toml").read_text() == before, "compose-setup keeps existing secrets")
    expected = {"API_HOST": API, "PAGES_HOST": PAGES, "OPERATOR_EMAIL": EMAIL, "DROPLEAF_IMAGE": "localhost/dropleaf:9.9.9"}
    lines = (deploy / ".env").read_text()
    expect(read_env(deploy / ".env") == expected and lines.count("\n") == 4, "and other lines of .env, and changes its own", lines)
    expect(oct((deploy / "secrets").stat().st_mode)[-3:] == "700", "only the owner can open secrets/")
    return deploy


def make_wildcard(folder, certs):
    """Copied as install.md says, from a key that only its owner can read."""
    own = folder / "own"
    own.mkdir()
    if os.geteuid() == 0:
        shutil.chown(own, "nobody", "nogroup")
    as_operator("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-keyout", own / "privkey.pem", "-out", own / "fullchain.pem", "-subj", f"/CN=*.{PAGES}",
        "-addext", f"subjectAltName=DNS:*.{PAGES}")  # fmt: skip
    as_operator("install", "-m", "644", own / "fullchain.pem", own / "privkey.pem", certs)
    documented = "install -m 644 /path/to/fullchain.pem /path/to/privkey.pem secrets/certs/"
    expect(documented in (ROOT / "docs/install.md").read_text(), "install.md says how to copy the certificate")


def in_order(services):
    """Each service after those it depends on."""
    done = []
    while len(done) < len(services):
        ready = [it for it in services.values() if it not in done and all(services[n] in done for n in it.spec.get("depends_on", {}))]
        if not ready:
            raise SystemExit("the services depend on each other in a circle")
        done += ready
    return done


def check():
    with tempfile.TemporaryDirectory() as name:
        deploy = set_up(pathlib.Path(name))
        # Without the image that set_up names.
        compose = load(read_env(deploy / ".env") | {"DROPLEAF_IMAGE": ""})
    found = list(problems(compose))
    expect(not found, "compose.yaml: versions, read-only roots, capabilities, secrets, volumes, networks, health checks", "\n".join(found))
    version = next(line.split('"')[1] for line in (ROOT / "Cargo.toml").read_text().splitlines() if line.startswith("version = "))
    images = {it["image"] for it in compose["services"].values() if "/dropleaf:" in it["image"]}
    expect(images == {f"localhost/dropleaf:{version}"}, "compose.yaml names the image of this version", str(images))
    try:
        load({})
    except KeyError as error:
        expect("compose-setup" in str(error), "without .env the file says what to run")
    else:
        raise SystemExit("FAIL: compose.yaml loads without .env")


def start_services(compose, folder, binary):
    bridges = {}
    for number, (name, network) in enumerate(compose["networks"].items()):
        config = (network or {}).get("ipam", {}).get("config", [{}])
        bridges[name] = Bridge(f"br{number}", config[0].get("subnet", f"172.31.{number}.0/24"))
    services = {name: Service(name, spec, compose, folder, binary) for name, spec in compose["services"].items()}
    for service in services.values():
        service.connect(compose, bridges)
    for service in services.values():
        lines = ["127.0.0.1 localhost"]
        for other in services.values():
            for network in set(service.addresses) & set(other.addresses):
                aliases = (networks_of(other.spec)[network] or {}).get("aliases", [])
                lines.append(" ".join([other.addresses[network], other.name, *aliases]))
        (service.folder / "hosts").write_text("\n".join(lines) + "\n")
    for service in in_order(services):
        service.start()
        if "healthcheck" in service.spec:
            service.wait_until_healthy()
            passed(f"{service.name} is healthy")
        else:
            service.wait_until_completed()
            passed(f"{service.name} completed")
    return services


class Visitor:
    """curl in the namespace of the network that Caddy is reached on."""

    def __init__(self, caddy, roots):
        self.caddy, self.roots = caddy, roots

    def curl(self, url, *options):
        scheme, _, host, *_ = url.split("/")
        if scheme == "https:":
            options += ("--resolve", f"{host}:443:{self.caddy.addresses['front']}")
        line = ["nsenter", f"--net=/run/netns/{self.caddy.name}", "curl", "-sS", "--max-time", "30", "--cacert", self.roots,
                *options, url]  # fmt: skip
        result = subprocess.run([str(part) for part in line], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            self.caddy.fail(f"FAIL: {url}: {result.stderr}")
        return result.stdout


def publish_and_view(services, folder):
    caddy, nodes = services["caddy"], [services["node-a"], services["node-b"]]
    for node in nodes:
        waited = node.execute("/usr/bin/dropleaf", "healthcheck", "--wait", "60")
        expect(waited.returncode == 0, f"{node.name} is ready", waited.stderr)
    made = services["node-a"].execute("/usr/bin/dropleaf", "account", "key", EMAIL)
    key = made.stdout.strip()
    expect(key.startswith("stk_live_"), "`docker compose exec node-a /usr/bin/dropleaf account key` prints a key", made.stderr)
    roots = folder / "roots.pem"
    local = folder / "volumes/caddy-data/caddy/pki/authorities/local/root.crt"
    roots.write_text(local.read_text() + (folder / "deploy/secrets/certs/fullchain.pem").read_text())
    visitor = Visitor(caddy, roots)

    page = folder / "large.html"
    page.write_text(LARGE)
    answer = visitor.curl(f"https://{API}/sites", "-H", f"Authorization: Bearer {key}", "-F", f"file=@{page}", "-F", "slug=orchard")
    site = json.loads(answer)
    expect("id" in site, "a page of 400 KB is published through Caddy with TLS", answer)
    shown = visitor.curl(f"https://orchard.{PAGES}/")
    expect(shown == LARGE, "the page is shown at its own host, with the wildcard certificate", shown[:500])
    for node in nodes:
        url = f"http://{node.addresses['front']}:8080/p/{site['unlisted_token']}/"
        shown = visitor.curl(url, "-H", f"Host: {PAGES}")
        expect(shown == LARGE, f"{node.name} shows the same page", shown[:500])
    secrets = (folder / "deploy/secrets/s3.json").read_text()
    credentials = json.loads(secrets)["identities"][0]["credentials"][0]
    line = ["nsenter", "--net=/run/netns/node-a", "curl", "-sS", "--max-time", "10", "--aws-sigv4", "aws:amz:us-east-1:s3",
            "-u", f"{credentials['accessKey']}:{credentials['secretKey']}",
            f"http://{services['s3'].addresses['data']}:8333/dropleaf?list-type=2"]  # fmt: skip
    listed = run(*line).stdout
    expect("<Key>" in listed, "its body is in the bucket", listed)
    backup = nodes[0].execute("/usr/bin/dropleaf", "backup", "/var/lib/dropleaf/backup")
    is_complete = (folder / "volumes/node-a/backup/manifest.json").exists()
    expect(is_complete, "`docker compose exec node-a /usr/bin/dropleaf backup` writes a backup to the volume", backup.stderr)
    nodes[0].stop()
    shown = visitor.curl(f"https://orchard.{PAGES}/")
    expect(shown == LARGE, "with node-a stopped, Caddy serves the page from node-b", shown[:500])
    for name, service in services.items():
        mounted = service.execute("grep", "^overlay / overlay ro,", "/proc/mounts")
        if mounted.returncode != 0:
            raise SystemExit(f"FAIL: {name} can write to its root: {service.execute('cat', '/proc/mounts').stdout}")
    passed("no service can write to its root")


def start_and_publish(binary, folder):
    """In namespaces of its own, which end with this process: so do all services and mounts, whatever happens."""
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    deploy = set_up(folder)
    make_wildcard(folder, deploy / "secrets/certs")
    # Certificates from Caddy's own authority: nothing here can be reached from Let's Encrypt.
    variables = read_env(deploy / ".env") | {"CADDY_GLOBAL_OPTIONS": "local_certs"}
    compose = load(variables, deploy / "compose.yaml")
    publish_and_view(start_services(compose, folder, binary), folder)


def run_in_namespaces(binary):
    # Removed outside of the namespaces, where nothing is mounted below it.
    with tempfile.TemporaryDirectory(prefix="dropleaf-compose-") as folder:
        os.chmod(folder, 0o755)
        line = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
                sys.executable, __file__, "inside", pathlib.Path(binary).resolve(), folder]  # fmt: skip
        return subprocess.run([str(part) for part in line], check=False).returncode


def main():
    match sys.argv[1:]:
        case ["check"]:
            check()
        case ["run", binary]:
            sys.exit(run_in_namespaces(binary))
        case ["inside", binary, folder] if os.getppid() == 0:
            start_and_publish(binary, pathlib.Path(folder))
        case _:
            sys.exit(__doc__)


main()
