"""Prints the licenses of the third-party crates in the binary: a list of crates, then each license text once.

Reads `cargo metadata` and the license files that the crates ship. A crate without such a file gets the text of a crate from
the same repository, or the standard text of its license; a license that has no text here is an error.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILE = re.compile(r"(?i)(un)?licen[sc]e|copying|copyright|notice")
RULE = "=" * 100


def metadata():
    host = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    target = re.search(r"^host: (.+)$", host, re.M).group(1)
    command = ["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={target}"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        sys.exit(f"licenses.py: {found.stderr}")
    return json.loads(found.stdout)


def linked_packages(data):
    """The packages that normal dependencies lead to from the binary, without those of this workspace."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    packages = {package["id"]: package for package in data["packages"]}
    (start,) = (package["id"] for package in data["packages"] if package["name"] == "dropleaf")
    seen, waiting = set(), [start]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for dependency in nodes[current]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    own = set(data["workspace_members"])
    return sorted((packages[one] for one in seen - own), key=lambda it: (it["name"], it["version"]))


def license_files(package):
    """License files of the crate, and of code of others that it bundles in folders of its own."""
    folder = pathlib.Path(package["manifest_path"]).parent
    found = {path for depth in ("*", "*/*") for path in folder.glob(depth) if path.is_file() and FILE.match(path.name)}
    if named := package.get("license_file"):
        found.add((folder / named).resolve())
    source = {".rs", ".c", ".h", ".py", ".toml", ".js", ".html", ".hbs", ".sh", ".json"}
    return sorted(path for path in found if path.suffix.lower() not in source)


def borrowed_text(package, others):
    """For a crate that ships no license file."""
    expression = package["license"] or ""
    for other in others:
        same = other["license"] == expression and other["repository"] == package["repository"]
        # The text of this one names no holder, so that of any crate is the right one.
        if (same or expression == other["license"] == "MPL-2.0") and (files := license_files(other)):
            return files[0].read_text(encoding="utf-8")
    holders = ", ".join(re.sub(r"\s*<.*?>", "", author) for author in package["authors"])
    if re.search(r"\bMIT\b", expression):
        text = (ROOT / "LICENSE-MIT").read_text(encoding="utf-8")
        line = f"Copyright (c) {holders or 'the authors of ' + package['name']}"
        text, count = re.subn(r"(?m)^Copyright.*$", lambda _: line, text, count=1)
        if count != 1:
            sys.exit("licenses.py: LICENSE-MIT has no copyright line")
        return text
    if re.search(r"\bApache-2\.0\b", expression):
        return (ROOT / "LICENSE-APACHE").read_text(encoding="utf-8")
    sys.exit(f"licenses.py: {package['name']} {package['version']} ({expression}) has no license file")


def normalized(text):
    return "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").strip().splitlines())


def main():
    packages = linked_packages(metadata())
    texts = {}
    print("dropleaf contains the work of others, under the licenses below.\n")
    for package in packages:
        name = f"{package['name']} {package['version']}"
        source = f"https://crates.io/crates/{package['name']}/{package['version']}"
        print(f"{name:<44} {package['license'] or 'see its text':<44} {source}")
        files = [path.read_text(encoding="utf-8", errors="replace") for path in license_files(package)]
        for text in {normalized(text) for text in files if text.strip()} or {normalized(borrowed_text(package, packages))}:
            texts.setdefault(text, []).append(name)
    for text, names in sorted(texts.items(), key=lambda it: (it[1], it[0])):
        print(f"\n{RULE}\n{', '.join(names)}\n{RULE}\n\n{text}")


main()
