"""Reports: tests, coverage, linters, licences, profiles."""

import shutil

from workshop import Tool

PYTEST = "pytest==8.3.4"


def pytest_html(shop, out):
    shop.python("-m", "pytest", "tests", f"--html={out / 'report.html'}", "--self-contained-html", allow=(0, 1))
    shop.python("-m", "pytest", "tests", f"--html={out / 'linked.html'}", allow=(0, 1))


def coverage(shop, out):
    shop.python("-m", "coverage", "run", "--branch", "--source=shop", "-m", "pytest", "tests", allow=(0, 1))
    shop.python("-m", "coverage", "html", "-d", out)


def junit2html(shop, out):
    shop.python("-m", "pytest", "tests", f"--junitxml={out / 'junit.xml'}", allow=(0, 1))
    shop.run("junit2html", out / "junit.xml", out / "junit.html")
    shop.run("junit2html", "--report-matrix", out / "matrix.html", out / "junit.xml", out / "junit.xml")


ROBOT = """*** Test Cases ***
Sign In With A Wrong Password
    [Documentation]    The page says that the password is incorrect.
    Should Be Equal    wrong password    wrong password
Pay By Card
    Log    card number 4242 4242 4242 4242, CVV 123
    Should Be True    ${1} > 2
"""


def robot(shop, out):
    suite = shop.sources / "shop.robot"
    suite.write_text(ROBOT)
    shop.python("-m", "robot", "--outputdir", out, suite, allow=(0, 1))
    for library in ("BuiltIn", "Collections", "String", "OperatingSystem", "XML", "Dialogs", "DateTime", "Process", "Telnet", "Screenshot"):
        shop.python("-m", "robot.libdoc", library, out / f"{library}.html")
    shop.python("-m", "robot.testdoc", suite, out / "testdoc.html")


def bandit(shop, out):
    shop.run("bandit", "-r", "shop", "tests", "-f", "html", "-o", out / "bandit.html", allow=(0, 1))


def flake8(shop, out):
    (shop.sources / "shop" / "untidy.py").write_text("import os\npassword = 'x';y=1\ndef login( a ):\n  return a==None\n")
    shop.python("-m", "flake8", "--format=html", f"--htmldir={out}", "shop", "tests", allow=(0, 1))


def licences(shop, out):
    text = shop.run("pip-licenses", "--format=html", "--with-urls", "--with-description")
    (out / "licences.html").write_text(f"<!doctype html><title>Licences</title>{text}")


def mypy(shop, out):
    shop.python("-m", "mypy", "--html-report", out, "shop", allow=(0, 1))


def pyinstrument(shop, out):
    for number, code in enumerate(("sum(i * i for i in range(600_000))", "sorted(str(i) for i in range(300_000))")):
        shop.run("pyinstrument", "-r", "html", "-o", out / f"profile-{number}.html", "-c", code)


def lizard(shop, out):
    shop.run("lizard", "-H", "-o", out / "complexity.html", "shop", "tests")


def notebooks(template):
    def make(shop, out):
        shutil.copytree(shop.sources / "notebooks", out / "in")
        for path in sorted((out / "in").glob("*.ipynb")):
            how = ["--to", "slides"] if template == "slides" else ["--to", "html", "--template", template]
            shop.run("jupyter", "nbconvert", "--execute", *how, "--output-dir", out, path)
        shutil.rmtree(out / "in")

    return make


NBCONVERT = ("nbconvert==7.16.4", "mistune==3.0.2", "ipykernel==6.29.5", "matplotlib==3.9.3", "pandas==2.2.3", "jinja2==3.1.4")

TOOLS = [
    Tool("pytest-html", pytest_html, pip=(PYTEST, "pytest-html==4.1.1")),
    Tool("coverage", coverage, pip=(PYTEST, "coverage==7.6.9")),
    Tool("junit2html", junit2html, pip=(PYTEST, "junit2html==31.0.2")),
    Tool("robotframework", robot, pip=("robotframework==7.1.1",)),
    Tool("bandit", bandit, pip=("bandit==1.8.0",)),
    Tool("flake8-html", flake8, pip=("flake8-html==0.4.3", "flake8==7.1.1")),
    Tool("mypy", mypy, pip=("mypy==1.13.0", "lxml==5.3.0")),
    Tool("pyinstrument", pyinstrument, pip=("pyinstrument==5.0.0",)),
    Tool("lizard", lizard, pip=("lizard==1.17.13", "jinja2==3.1.4")),
    *(Tool(f"nbconvert-{name}", notebooks(name), pip=NBCONVERT) for name in ("lab", "classic", "basic", "slides")),
    Tool("pip-licenses", licences, pip=("pip-licenses==5.0.0",)),
]
