"""Rewrites an archive of one image (docker-archive) without what differs from build to build: the name and ID of the container
that buildah used.

    normalize_image.py ARCHIVE OUTPUT
"""

import hashlib
import io
import json
import sys
import tarfile


def main(source, target):
    with tarfile.open(source) as archive:
        (manifest,) = json.load(archive.extractfile("manifest.json"))
        config = json.load(archive.extractfile(manifest["Config"]))
        for name in ("container", "container_config"):
            config.pop(name, None)
        config["config"].pop("Hostname", None)
        text = json.dumps(config, sort_keys=True, separators=(",", ":")).encode()
        manifest["Config"] = hashlib.sha256(text).hexdigest() + ".json"
        with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as out:
            for layer in manifest["Layers"]:
                member = archive.getmember(layer)
                add(out, layer, archive.extractfile(member), member.size)
            add(out, manifest["Config"], io.BytesIO(text), len(text))
            index = json.dumps([manifest], sort_keys=True).encode()
            add(out, "manifest.json", io.BytesIO(index), len(index))


def add(archive, name, content, size):
    """As a file of root at time 0; what matters is inside the layers."""
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    archive.addfile(member, content)


main(*sys.argv[1:])
