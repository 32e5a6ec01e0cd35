"""Dashboards, charts, maps and tables; each is drawn by inside_charts.py with the installed tool."""

from workshop import Tool

PANDAS = "pandas==2.2.3"
PACKAGES = {
    "plotly": ("plotly==5.24.1", PANDAS),
    "bokeh": ("bokeh==3.6.2",),
    "altair": ("altair==5.5.0", PANDAS),
    "pyecharts": ("pyecharts==2.0.7",),
    "folium": ("folium==0.19.2",),
    "great-tables": ("great_tables==0.15.0", PANDAS),
    "pandas-styler": (PANDAS, "jinja2==3.1.4", "matplotlib==3.9.3"),
    "pyvis": ("pyvis==0.3.2",),
    "pygal": ("pygal==3.0.5",),
    "mpld3": ("mpld3==0.5.10", "matplotlib==3.9.3"),
    "itables": ("itables==2.2.4", PANDAS),
}


def draw(name):
    return lambda shop, out: shop.python(shop.inside / "inside_charts.py", name, out, cwd=out)


TOOLS = [Tool(name, draw(name), pip=packages) for name, packages in PACKAGES.items()]
