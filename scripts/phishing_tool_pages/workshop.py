"""Where the tools are installed and run. Nothing outside the folder is touched, and no tool is given a network address."""

import dataclasses
import os
import pathlib
import subprocess
import sys
import typing

# What one command may take; a tool that needs longer is passed over.
LONGEST = 240


@dataclasses.dataclass
class Tool:
    name: str
    make: typing.Callable
    pip: tuple = ()
    npm: tuple = ()


class Workshop:
    def __init__(self, root):
        self.root = root
        self.tools = root / "tools"
        self.sources = root / "sources"
        self.pages = root / "pages"
        for folder in (self.tools, self.sources, self.pages):
            folder.mkdir(parents=True, exist_ok=True)
        self.node = self.tools / "node"
        self.bin = self.tools / "python" / "bin"
        self.inside = pathlib.Path(__file__).parent

    def run(self, *command, cwd=None, allow=(0,), env=None):
        """Runs a command quietly; its output is shown only if it fails. `allow` lists exit codes that are no failure:
        testers and linters end so when they find what they look for."""
        path = f"{self.bin}:{self.node / 'node_modules' / '.bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "1700000000", "NO_COLOR": "1", "CI": "1", **(env or {})}
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd or self.sources,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LONGEST,
            check=False,
        )
        if done.returncode not in allow:
            raise subprocess.CalledProcessError(done.returncode, command, output=done.stdout)
        return done.stdout.decode("utf-8", "replace")

    def python(self, *arguments, **options):
        return self.run(self.bin / "python", *arguments, **options)

    def install(self, tool):
        if tool.pip:
            if not self.bin.exists():
                self.run(sys.executable, "-m", "venv", self.tools / "python")
            self.python("-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", *tool.pip)
        if tool.npm:
            self.node.mkdir(exist_ok=True)
            manifest = self.node / "package.json"
            if not manifest.exists():
                manifest.write_text('{"private": true}\n')
            # No package may run anything while it is installed.
            self.run("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", *tool.npm, cwd=self.node)

    def unpack(self, package, out):
        """The files of one npm package as they are, without what it depends on."""
        packs = self.tools / "packs"
        packs.mkdir(exist_ok=True)
        before = set(packs.iterdir())
        self.run("npm", "pack", "--silent", "--pack-destination", packs, package, cwd=packs)
        for archive in set(packs.iterdir()) - before:
            self.run("tar", "-xzf", archive, "-C", out, "--strip-components=1")
            archive.unlink()
