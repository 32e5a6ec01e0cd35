"""Starts one service of a compose file as a process: with a root of its own (an overlay of this machine's, read-only where the
file says so), its volumes, secrets, user, capabilities and network addresses. Stands in for a container engine, because the
images cannot be had here; this machine's programs take their place.
"""

import os
import pathlib
import shutil
import subprocess
import time

from compose_file import ROOT, networks_of

TOOLS = ROOT / ".test/venv/bin"

# What the start script of the image `postgres` does with the variables in the file.
START_POSTGRES = r"""
set -e
data=/var/lib/postgresql/data
chown postgres $data /var/run/postgresql
as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
if [ ! -s $data/PG_VERSION ]; then
  as_postgres initdb -D $data -U "$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" -A scram-sha-256 -E UTF8 --locale=C.UTF-8 -N
  echo "host all all all scram-sha-256" >>$data/pg_hba.conf
  echo "CREATE DATABASE $POSTGRES_DB" | as_postgres postgres --single -D $data postgres
fi
exec setpriv --reuid=postgres --regid=postgres --clear-groups postgres -D $data -c listen_addresses='*' \
  -c unix_socket_directories=/var/run/postgresql
"""


def run(*command, **more):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **more)


class Service:
    def __init__(self, name, spec, compose, folder, binary):
        self.name, self.spec = name, spec
        self.folder = folder / name
        self.root = self.folder / "root"
        self.log = self.folder / "log"
        self.addresses = {}
        self.process = None
        self._make_root(compose, folder, binary)

    def _make_root(self, compose, folder, binary):
        upper, work = self.folder / "upper", self.folder / "work"
        for each in (upper / "usr/bin", work, self.root):
            each.mkdir(parents=True)
        shutil.copy(binary, upper / "usr/bin/dropleaf")
        shutil.copy(TOOLS / "caddy", upper / "usr/bin/caddy")
        shutil.copy(TOOLS / "weed", upper / "usr/bin/weed")
        run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir=/,upperdir={upper},workdir={work}", self.root)
        for source, target, _ in self._mounts(compose, folder):
            inside = self.root / target.lstrip("/")
            if source.is_dir():
                inside.mkdir(parents=True, exist_ok=True)
            else:
                inside.parent.mkdir(parents=True, exist_ok=True)
                inside.touch()
        if self.spec.get("read_only"):
            run("mount", "-o", "remount,ro", self.root)
        run("mount", "-t", "proc", "proc", self.root / "proc")
        self._make_devices()
        for source, target, is_writable in self._mounts(compose, folder):
            inside = self.root / target.lstrip("/")
            run("mount", "--bind", source, inside)
            if not is_writable:
                run("mount", "-o", "remount,ro,bind", inside)
        for target in self.spec.get("tmpfs", []):
            inside = (self.root / target.lstrip("/")).resolve()
            inside = inside if inside.is_relative_to(self.root) else self.root / inside.relative_to("/")
            run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", inside)

    def _make_devices(self):
        """The devices of a container, one by one: never the machine's own folder."""
        devices = self.root / "dev"
        run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", devices)
        (devices / "shm").mkdir(mode=0o1777)
        (devices / "shm").chmod(0o1777)
        for name in ("null", "zero", "full", "random", "urandom"):
            (devices / name).touch()
            run("mount", "--bind", f"/dev/{name}", devices / name)
        (devices / "fd").symlink_to("/proc/self/fd")

    def _mounts(self, compose, folder):
        """Source, target, and whether it can be written. /run is a folder of its own, and /etc/hosts names the other services."""
        private_run = self.folder / "run"
        for each in ("secrets", "postgresql"):
            (private_run / each).mkdir(parents=True, exist_ok=True)
        for secret in self.spec.get("secrets", []):
            shutil.copy2(folder / "deploy" / compose["secrets"][secret]["file"], private_run / "secrets" / secret)
        (self.folder / "hosts").touch()
        yield private_run, "/run", True
        yield self.folder / "hosts", "/etc/hosts", False
        for volume in self.spec.get("volumes", []):
            source, target, *mode = volume.split(":")
            if source.startswith("./"):
                path = folder / "deploy" / source
            else:
                path = folder / "volumes" / source
                if not path.exists():
                    path.mkdir(parents=True)
                    # As the image's own folder: it belongs to the user that the file names.
                    owner = [int(part) for part in self.spec.get("user", "0:0").split(":")]
                    os.chown(path, *owner)
            yield path, target, mode != ["ro"]

    def connect(self, compose, bridges):
        """A network namespace with an address on each of the service's networks."""
        run("ip", "netns", "add", self.name)
        run("ip", "-n", self.name, "link", "set", "lo", "up")
        for network, options in networks_of(self.spec).items():
            bridge = bridges[network]
            address = (options or {}).get("ipv4_address") or bridge.next_address()
            outer, inner = f"v{len(bridge.links)}{bridge.name}", f"e{bridge.name}"
            bridge.links.append(outer)
            run("ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", self.name)
            run("ip", "link", "set", outer, "master", bridge.name, "up")
            run("ip", "-n", self.name, "address", "add", f"{address}/24", "dev", inner)
            run("ip", "-n", self.name, "link", "set", inner, "up")
            self.addresses[network] = address

    def _inside(self, command):
        """The command line that runs a command as the container engine would."""
        kept = "".join(f",+{name.lower()}" for name in self.spec.get("cap_add", []))
        dropped = f"-all{kept}" if self.spec.get("cap_drop") == ["ALL"] else "+all"
        limits = ["--no-new-privs", f"--bounding-set={dropped}", "--inh-caps=-all"]
        if user := self.spec.get("user"):
            uid, gid = user.split(":")
            limits += [f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
        path = ":".join([*map(str, pathlib.Path("/usr/lib/postgresql").glob("*/bin")), "/usr/local/bin:/usr/bin:/bin:/usr/sbin"])
        environment = [f"{name}={value}" for name, value in self.spec.get("environment", {}).items()]
        return ["nsenter", f"--net=/run/netns/{self.name}", "chroot", self.root, "env", "-i", f"PATH={path}", *environment,
                "setpriv", *limits, "--", *command]  # fmt: skip

    def start(self):
        command = [*self.spec.get("entrypoint", []), *self.spec.get("command", [])]
        if "/postgres:" in self.spec["image"]:
            command = ["/bin/sh", "-c", START_POSTGRES]
        line = [str(part) for part in self._inside(command)]
        self.process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=self.log.open("a"), stderr=subprocess.STDOUT)

    def execute(self, *command):
        """As `docker compose exec`."""
        return subprocess.run([str(part) for part in self._inside(command)], capture_output=True, text=True, check=False)

    def wait_until_healthy(self, seconds=120):
        test = self.spec["healthcheck"]["test"]
        command = test[1:] if test[0] == "CMD" else ["/bin/sh", "-c", test[1]]
        deadline = time.monotonic() + seconds
        while True:
            if self.process.poll() is not None:
                self.fail(f"{self.name} ended with {self.process.returncode}")
            result = self.execute(*command)
            if result.returncode == 0:
                return
            if time.monotonic() > deadline:
                self.fail(f"{self.name} did not become healthy: {result.stdout}{result.stderr}")
            time.sleep(0.2)

    def wait_until_completed(self, seconds=120):
        if self.process.wait(timeout=seconds) != 0:
            self.fail(f"{self.name} ended with {self.process.returncode}")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=30)

    def fail(self, message):
        raise SystemExit(f"{message}\n{self.log.read_text(errors='replace')[-4000:]}")
