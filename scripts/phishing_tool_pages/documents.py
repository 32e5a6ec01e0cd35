"""Documentation, blogs and slides."""

import shutil

from workshop import Tool

THEMES = ("alabaster", "classic", "nature", "haiku", "pyramid", "agogo", "bizstyle", "scrolls", "sphinxdoc", "traditional")
MORE_THEMES = {"sphinx_rtd_theme": "sphinx-rtd-theme==3.0.2", "furo": "furo==2024.8.6", "pydata_sphinx_theme": "pydata-sphinx-theme==0.16.0", "sphinx_book_theme": "sphinx-book-theme==1.1.3"}


def sphinx(themes):
    def make(shop, out):
        source = shop.sources / "sphinx"
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir()
        pages = sorted(path.stem for path in (shop.sources / "docs").glob("*.md") if path.stem != "index")
        for name in pages:
            text = (shop.sources / "docs" / f"{name}.md").read_text()
            title, _, rest = text.partition("\n")
            title = title.lstrip("# ")
            lines = rest.replace("```", "\n").replace("## ", "").splitlines()
            (source / f"{name}.rst").write_text(f"{title}\n{'=' * len(title)}\n\n" + "\n".join(f"| {line}" if line else "" for line in lines) + "\n")
        (source / "api.rst").write_text("API\n===\n\n.. automodule:: shop.accounts\n   :members:\n\n.. automodule:: shop.orders\n   :members:\n")
        tree = "\n".join(f"   {name}" for name in ["api", *pages])
        (source / "index.rst").write_text(f"Shop handbook\n=============\n\n.. toctree::\n\n{tree}\n")
        (source / "conf.py").write_text("import sys\nsys.path.insert(0, '..')\nproject = 'Shop'\nextensions = ['sphinx.ext.autodoc', 'sphinx.ext.viewcode']\n")
        for theme in themes:
            shop.python("-m", "sphinx", "-q", "-D", f"html_theme={theme}", source, out / theme, "-d", shop.tools / "doctrees")

    return make


def mkdocs(*themes):
    def make(shop, out):
        for theme in themes:
            config = shop.sources / f"mkdocs-{theme}.yml"
            config.write_text(f"site_name: Shop handbook\ntheme: {theme}\ndocs_dir: docs\nplugins: [search]\nuse_directory_urls: false\n")
            shop.python("-m", "mkdocs", "-q", "build", "-f", config, "-d", out / theme)

    return make


def pdoc(shop, out):
    shop.python("-m", "pdoc", "-o", out, "shop", "json", "http", "email", "logging")


def pdoc3(shop, out):
    shop.run("pdoc3", "--html", "-o", out, "shop", "getpass", "hashlib", "statistics")


def pelican(shop, out):
    content = shop.sources / "blog"
    content.mkdir(exist_ok=True)
    for number, path in enumerate(sorted((shop.sources / "docs").glob("*.md"))):
        title, _, rest = path.read_text().partition("\n")
        (content / path.name).write_text(f"Title: {title.lstrip('# ')}\nDate: 2024-01-{number + 1:02}\nCategory: notes\nTags: shop\n\n{rest}")
    config = shop.sources / "pelicanconf.py"
    config.write_text("SITENAME = 'Shop notes'\nAUTHOR = 'Ann'\nTIMEZONE = 'UTC'\nFEED_ALL_ATOM = None\nCATEGORY_FEED_ATOM = None\n")
    for theme in ("notmyidea", "simple"):
        shop.run("pelican", content, "-o", out / theme, "-s", config, "-t", theme)


def pandoc(shop, out):
    program = shop.python("-c", "import pypandoc; print(pypandoc.get_pandoc_path())").strip()
    for form in ("html5", "revealjs", "slidy", "slideous", "s5", "dzslides"):
        for path in sorted((shop.sources / "docs").glob("*.md")):
            shop.run(program, "-s", "-t", form, "-o", out / f"{path.stem}-{form}.html", path)


def darkslide(shop, out):
    for path in sorted((shop.sources / "docs").glob("*.md")):
        shop.run("darkslide", "-i", "-d", out / f"{path.stem}.html", path)


def docutils(shop, out):
    text = "Signing in\n==========\n\nThe password is asked for once.\n\n.. code:: html\n\n   <input type=password>\n"
    source = shop.sources / "page.rst"
    source.write_text(text)
    for writer in ("html4", "html5", "s5"):
        shop.run("docutils", f"--writer={writer}", source, out / f"{writer}.html")


def rustdoc(shop, out):
    source = shop.sources / "shop.rs"
    source.write_text("//! A small shop.\n\n/// A user who signs in with a password.\npub struct Account { pub email: String }\n\nimpl Account {\n    /// Whether this is the password.\n    #[must_use]\n    pub fn verify(&self, password: &str) -> bool { password.len() > 8 }\n}\n\n/// A card to pay with.\npub enum Card { Visa, Mastercard }\n\n/// The sum of an order.\npub fn total(prices: &[u32]) -> u32 { prices.iter().sum() }\n")
    shop.run("rustdoc", "--crate-name", "shop", "-o", out, source)


TOOLS = [
    Tool("sphinx", sphinx(THEMES), pip=("sphinx==8.1.3",)),
    *(Tool(theme.replace("_", "-"), sphinx((theme,)), pip=("sphinx==8.1.3", package)) for theme, package in MORE_THEMES.items()),
    Tool("mkdocs", mkdocs("mkdocs", "readthedocs"), pip=("mkdocs==1.6.1",)),
    Tool("mkdocs-material", mkdocs("material"), pip=("mkdocs-material==9.5.48",)),
    Tool("mkdocs-bootswatch", mkdocs("cerulean", "darkly", "flatly", "journal", "lumen"), pip=("mkdocs==1.6.1", "mkdocs-bootswatch==1.1")),
    Tool("pdoc", pdoc, pip=("pdoc==15.0.0",)),
    Tool("pdoc3", pdoc3, pip=("pdoc3==0.11.5",)),
    Tool("pelican", pelican, pip=("pelican[markdown]==4.10.2",)),
    Tool("pandoc", pandoc, pip=("pypandoc_binary==1.14",)),
    Tool("darkslide", darkslide, pip=("darkslide==6.0.0",)),
    Tool("docutils", docutils, pip=("docutils==0.21.2",)),
    Tool("rustdoc", rustdoc),
]
