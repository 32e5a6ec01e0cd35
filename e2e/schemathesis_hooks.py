"""Makes two generated uploads of three acceptable, so that answers to success are checked as well as refusals."""

import random

import schemathesis

FLAGS = ("agentation", "burn_after_read", "csp_strict", "e2e")
OTHERS = ("email_gate_domain", "expires_in_hours", "password", "slug")
rng = random.Random(1)


@schemathesis.hook
def map_body(context, body):
    if not isinstance(body, dict) or "file" not in body or rng.random() < 1 / 3:
        return body
    kept = {name: value for name, value in body.items() if name not in FLAGS + OTHERS}
    kept["file"] = "<title>generated</title><p>%d</p>" % rng.randrange(10**9)
    for name in FLAGS:
        if name in body and name != "e2e":
            kept[name] = rng.choice(["true", "false"])
    if "expires_in_hours" in body:
        kept["expires_in_hours"] = str(rng.randrange(1, 1000))
    if "slug" in body:
        kept["slug"] = "generated-%d" % rng.randrange(10**9)
    return kept
