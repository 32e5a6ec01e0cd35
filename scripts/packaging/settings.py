"""Prints the settings file that packages install: every default as a comment, and the data folder of the service.

    settings.py config/dropleaf.default.toml
"""

import re
import sys

HEAD = """\
# Settings of the dropleaf service. Every line that begins with `#name =` shows a default: remove the # to change it.
# Check the file with `dropleaf-admin config check`, then `systemctl restart dropleaf`.
# The environment (DROPLEAF_LIMITS__KEY_PER_MINUTE=600) overrides this file.
"""
SET = {"data_dir": '"/var/lib/dropleaf"'}


def main(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    _introduction, body = text.split("\n\n", 1)
    print(HEAD)
    missing = dict(SET)
    table = ""
    for line in body.splitlines():
        if header := re.fullmatch(r"\[(.+)\]", line):
            table = header.group(1) + "."
        if setting := re.match(r"([a-z0-9_]+) = ", line):
            value = missing.pop(table + setting.group(1), None)
            line = f"#{line}" if value is None else f"{setting.group(1)} = {value}"
        elif not (header or line == "" or line.startswith("#")):
            sys.exit(f"settings.py: cannot make a comment of this line: {line}")
        print(line)
    if missing:
        sys.exit(f"settings.py: no such settings: {', '.join(missing)}")


main(sys.argv[1])
