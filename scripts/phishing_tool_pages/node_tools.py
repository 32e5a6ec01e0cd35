"""Tools of the JavaScript world: coverage, documentation, slides, differences, bundles, mail templates."""

import json
import shutil

from workshop import Tool

ACCOUNTS = """/**
 * Whether a password is long enough.
 * @param {string} password what the user typed
 * @returns {boolean}
 */
export function longEnough(password) {
  if (password.length < 8) return false
  return true
}

/** Signs in. @param {string} email @param {string} password */
export async function signIn(email, password) {
  return fetch('/session', { method: 'POST', body: JSON.stringify({ email, password }) })
}
"""
CHECK = "import { longEnough } from './accounts.mjs'\nif (!longEnough('correct horse')) process.exit(1)\n"
API = {
    "openapi": "3.0.0",
    "info": {"title": "Shop API", "version": "1.0.0", "description": "Sign in with **e-mail and password**; pay by card."},
    "paths": {"/session": {"post": {"summary": "Sign in", "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"email": {"type": "string"}, "password": {"type": "string", "format": "password"}}}}}}, "responses": {"200": {"description": "signed in"}}}}},
    "components": {"securitySchemes": {"login": {"type": "http", "scheme": "basic"}}},
}
MAILS = {
    "welcome": "Welcome to Fernleaf|Please confirm your e-mail address.|Confirm",
    "reset": "Reset your password|Somebody asked to reset the password of your account.|Choose a new password",
    "invoice": "Your invoice|We charged 12.00 EUR to your card ending in 4242.|View invoice",
    "parcel": "Your parcel is on its way|It will arrive tomorrow. Track your delivery below.|Track parcel",
    "code": "Your sign-in code|Enter 123 456 to sign in. It is valid for ten minutes.|Open the app",
}
SLIDES = "---\nmarp: true\ntitle: Shop\n---\n\n# Signing in\n\nPassword, then a one-time code\n\n---\n\n# Paying\n\nCards, PayPal, Apple Pay\n"


def files(shop):
    folder = shop.sources / "js"
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text('{"name": "shop", "version": "1.0.0", "type": "module"}\n')
    (folder / "accounts.mjs").write_text(ACCOUNTS)
    (folder / "accounts.js").write_text(ACCOUNTS)
    (folder / "accounts.ts").write_text(ACCOUNTS.replace("(password)", "(password: string): boolean").replace("email, password)", "email: string, password: string)", 1))
    (folder / "check.mjs").write_text(CHECK)
    (folder / "api.json").write_text(json.dumps(API))
    return folder


def c8(shop, out):
    shop.run("c8", "--reporter=html", f"--reports-dir={out}", "node", "check.mjs", cwd=files(shop))


def typedoc(shop, out):
    folder = files(shop)
    (folder / "tsconfig.json").write_text('{"compilerOptions": {"target": "es2022", "module": "es2022", "lib": ["es2022", "dom"], "strict": true}, "files": ["accounts.ts"]}\n')
    shop.run("typedoc", "--out", out, "--skipErrorChecking", "accounts.ts", cwd=folder)


def jsdoc(shop, out):
    shop.run("jsdoc", "-d", out, "accounts.js", cwd=files(shop))


def diff2html(shop, out):
    folder = files(shop)
    (folder / "new.js").write_text(ACCOUNTS.replace("8", "12"))
    diff = shop.run("git", "diff", "--no-index", "accounts.js", "new.js", cwd=folder, allow=(0, 1))
    (folder / "a.diff").write_text(diff)
    for style in ("line", "side"):
        shop.run("diff2html", "-s", style, "-i", "file", "-F", out / f"{style}.html", "--", folder / "a.diff", cwd=folder)


def eslint(shop, out):
    folder = files(shop)
    (folder / ".eslintrc.json").write_text('{"root": true, "parserOptions": {"ecmaVersion": 2022, "sourceType": "module"}, "rules": {"semi": "error", "no-undef": "error"}}\n')
    shop.run("eslint", "-f", "html", "-o", out / "eslint.html", "accounts.js", cwd=folder, allow=(0, 1))


def marp(shop, out):
    folder = files(shop)
    (folder / "slides.md").write_text(SLIDES)
    for theme in ("default", "gaia", "uncover"):
        shop.run("marp", "--no-stdin", "--theme", theme, "-o", out / f"{theme}.html", folder / "slides.md", cwd=folder)


def mjml(shop, out):
    for name, text in MAILS.items():
        title, body, button = text.split("|")
        source = shop.sources / f"{name}.mjml"
        source.write_text(f"<mjml><mj-head><mj-title>{title}</mj-title></mj-head><mj-body><mj-section><mj-column><mj-text font-size='24px'>{title}</mj-text><mj-text>{body}</mj-text><mj-button href='https://fernleaf.example/{name}'>{button}</mj-button></mj-column></mj-section></mj-body></mjml>")
        shop.run("mjml", source, "-o", out / f"{name}.html")


def mocha(shop, out):
    folder = files(shop)
    (folder / "spec.cjs").write_text("describe('sign-in', () => { it('refuses a wrong password', () => {}); it('fails', () => { throw new Error('invalid password') }) })\n")
    shop.run("mocha", "--reporter", "mochawesome", "--reporter-options", f"reportDir={out},reportFilename=mocha,inline=true", "spec.cjs", cwd=folder, allow=(0, 1))


def playwright(shop, out):
    folder = shop.node / "playwright-shop"
    folder.mkdir(exist_ok=True)
    (folder / "shop.spec.js").write_text("const { test, expect } = require('@playwright/test')\ntest('sign in with password', () => {})\ntest('pay by card', () => { expect(1).toBe(2) })\n")
    shop.run("playwright", "test", "--reporter=html", cwd=folder, allow=(0, 1), env={"PLAYWRIGHT_HTML_REPORT": str(out), "PLAYWRIGHT_HTML_OPEN": "never"})


def eleventy(shop, out):
    source = shop.sources / "eleventy"
    shutil.copytree(shop.sources / "docs", source, dirs_exist_ok=True)
    (source / "login.html").write_text("---\ntitle: Sign in\n---\n<!doctype html><title>Fernleaf: sign in</title><form onsubmit=\"return false\"><label>E-mail <input type=email></label><label>Password <input type=password></label><button>Sign in</button></form>\n")
    shop.run("eleventy", "--input=.", f"--output={out}", cwd=source)


def vitepress(shop, out):
    source = shop.node / "vitepress-docs"
    shutil.copytree(shop.sources / "docs", source, dirs_exist_ok=True)
    shop.run("vitepress", "build", source, "--outDir", out, cwd=shop.node)


def visualizer(shop, out):
    folder = files(shop)
    config = folder / "rollup.config.mjs"
    plugin = shop.node / "node_modules" / "rollup-plugin-visualizer" / "dist" / "plugin" / "index.js"
    kinds = ("treemap", "sunburst", "network")
    plugins = ", ".join(f"visualizer({{ filename: {str(out / (kind + '.html'))!r}, template: {kind!r} }})" for kind in kinds)
    config.write_text(f"import {{ visualizer }} from {str(plugin)!r}\nexport default {{ input: 'check.mjs', output: {{ dir: 'bundle' }}, plugins: [{plugins}] }}\n")
    shop.run("rollup", "-c", config, cwd=folder)


def redoc(shop, out):
    shop.run("redocly", "build-docs", "api.json", "-o", out / "redoc.html", cwd=files(shop), env={"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"})


TOOLS = [
    Tool("c8-istanbul", c8, npm=("c8@10.1.2",)),
    Tool("typedoc", typedoc, npm=("typedoc@0.26.11", "typescript@5.6.3")),
    Tool("jsdoc", jsdoc, npm=("jsdoc@4.0.4",)),
    Tool("diff2html", diff2html, npm=("diff2html-cli@5.2.15",)),
    Tool("eslint-html", eslint, npm=("eslint@8.57.1",)),
    Tool("marp", marp, npm=("@marp-team/marp-cli@4.0.3",)),
    Tool("mjml", mjml, npm=("mjml@4.15.3",)),
    Tool("mochawesome", mocha, npm=("mocha@10.8.2", "mochawesome@7.1.3")),
    Tool("playwright", playwright, npm=("@playwright/test@1.49.0",)),
    Tool("eleventy", eleventy, npm=("@11ty/eleventy@3.0.0",)),
    Tool("vitepress", vitepress, npm=("vitepress@1.5.0",)),
    Tool("rollup-plugin-visualizer", visualizer, npm=("rollup@4.28.0", "rollup-plugin-visualizer@5.12.0")),
    Tool("redoc", redoc, npm=("@redocly/cli@1.25.15",)),
]
