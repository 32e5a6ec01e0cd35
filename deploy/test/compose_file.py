"""Reads deploy/compose.yaml as `docker compose` does, and checks what a reviewer would look for."""

import pathlib
import re
import subprocess

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "deploy/compose.yaml"
VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


def interpolated(text, variables):
    """`${NAME}`, `${NAME:-default}` and `${NAME:?message}`."""

    def value(match):
        name, kind, rest = match.groups()
        if found := variables.get(name):
            return found
        if kind == "-":
            return rest
        raise KeyError(f"{name} is not set: {rest or 'no default'}")

    return VARIABLE.sub(value, text)


def load(variables, path=FILE):
    return yaml.safe_load(interpolated(path.read_text(encoding="utf-8"), variables))


def read_env(path):
    """An .env file of plain NAME=VALUE lines."""
    return dict(line.split("=", 1) for line in path.read_text(encoding="utf-8").splitlines() if line)


def networks_of(service):
    """The service's networks with their options."""
    networks = service["networks"]
    return networks if isinstance(networks, dict) else {name: {} for name in networks}


def problems(compose):
    """What is wrong with the file, as sentences."""
    for name, service in compose["services"].items():
        yield from (f"{name}: {text}" for text in service_problems(name, service, compose))
    for name in compose["volumes"]:
        if not any(volume.startswith(f"{name}:") for it in compose["services"].values() for volume in it.get("volumes", [])):
            yield f"volume {name} is not used"
    for name, secret in compose["secrets"].items():
        ignored = subprocess.run(["git", "-C", ROOT, "check-ignore", "-q", ROOT / "deploy" / secret["file"]], check=False)
        if ignored.returncode != 0:
            yield f"secret {name} is in a file that Git would take"


def service_problems(name, service, compose):
    if not re.search(r":[0-9][\w.-]*$", service["image"]):
        yield "the image has no version"
    if service.get("read_only") is not True:
        yield "the root is not read-only"
    if service.get("cap_drop") != ["ALL"] or "no-new-privileges:true" not in service.get("security_opt", []):
        yield "capabilities or new privileges are not dropped"
    if "privileged" in service or "network_mode" in service or "pid" in service:
        yield "it shares the machine's namespaces"
    is_one_shot = any(
        needs.get(name, {}).get("condition") == "service_completed_successfully"
        for needs in (it.get("depends_on", {}) for it in compose["services"].values())
    )
    if not is_one_shot and "healthcheck" not in service:
        yield "it has no health check"
    for variable in service.get("environment", {}):
        if re.search(r"PASSWORD|SECRET|TOKEN|_KEY", variable) and not variable.endswith("_FILE"):
            yield f"{variable} puts a secret into the environment"
    for secret in service.get("secrets", []):
        if secret not in compose["secrets"]:
            yield f"there is no secret {secret}"
    for needed, how in service.get("depends_on", {}).items():
        if needed not in compose["services"]:
            yield f"there is no service {needed}"
        elif how["condition"] == "service_healthy" and "healthcheck" not in compose["services"][needed]:
            yield f"{needed} has no health check to wait for"
    for volume in service.get("volumes", []):
        source = volume.split(":")[0]
        if not source.startswith("./") and source not in compose["volumes"]:
            yield f"there is no volume {source}"
    for network in networks_of(service):
        if network not in compose["networks"]:
            yield f"there is no network {network}"
    if set(networks_of(service)) == {"data"} and service.get("ports"):
        yield "it is on the internal network and publishes ports"
