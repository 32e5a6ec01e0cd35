"""The frames of the pages: what stands around the content, and how it is styled."""

STYLE = {
    "centred": "body{font:16px system-ui;display:grid;place-items:center;min-height:100vh;background:#f4f5f7}main{background:#fff;padding:2rem;border-radius:8px}",
    "nav": "body{font:15px/1.5 sans-serif;margin:0}nav{display:flex;gap:1rem;padding:1rem;border-bottom:1px solid #ddd}main{max-width:60rem;margin:2rem auto}",
    "table": "table{margin:4em auto;font:12px Verdana}td{padding:6px}",
    "plain": "body{font-family:Georgia,serif;margin:2em}",
}


def head(title, style, lang="en"):
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n"
    )


def centred(title, body, lang="en"):
    return head(title, STYLE["centred"], lang) + f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>"


def with_nav(title, body, lang="en"):
    name = title.split("–")[0].split(" - ")[0].strip()
    links = "".join(f'<a href="#">{word}</a>' for word in ("Home", "Products", "Help", "Contact"))
    return head(title, STYLE["nav"], lang) + (
        f"<body>\n<nav><strong>{name}</strong>{links}</nav>\n<main>\n{body}\n</main>\n<footer>© 2026 {name}. All rights reserved.</footer>\n</body>\n</html>"
    )


def table_layout(title, body, lang="en"):
    return head(title, STYLE["table"], lang) + f"<body>\n<table><tr><td>{body}</td></tr></table>\n</body>\n</html>"


def plain(title, body, lang="en"):
    return head(title, STYLE["plain"], lang) + f"<body>\n{body}\n</body>\n</html>"
