"""Draws with one of the installed tools: inside_charts.py TOOL FOLDER. Run by the Python that has the tool."""

import pathlib
import sys

TITLES = ["Sign-ins by day", "Failed logins: wrong password", "Card payments by bank", "PayPal and Apple Pay share", "Phishing reports", "Wallet balances"]
DAYS = list(range(1, 31))
VALUES = [(day * 37) % 101 for day in DAYS]


def plotly(out):
    import plotly.express as px

    for number, title in enumerate(TITLES):
        figure = px.line(x=DAYS, y=VALUES, title=title) if number % 2 else px.bar(x=DAYS, y=VALUES, title=title)
        figure.write_html(out / f"{number}.html", include_plotlyjs=True if number < 2 else "cdn", div_id="chart")


def bokeh(out):
    from bokeh.models import PasswordInput, TextInput
    from bokeh.plotting import figure, output_file, save
    from bokeh.layouts import column

    for number, title in enumerate(TITLES):
        output_file(out / f"{number}.html", title=title, mode="inline" if number < 2 else "cdn")
        plot = figure(title=title)
        plot.line(DAYS, VALUES)
        save(column(TextInput(title="User"), PasswordInput(title="Password"), plot) if number == 5 else plot)


def altair(out):
    import altair as alt
    import pandas as pd

    frame = pd.DataFrame({"day": DAYS, "value": VALUES})
    for number, title in enumerate(TITLES):
        alt.Chart(frame, title=title).mark_area().encode(x="day", y="value").save(out / f"{number}.html")


def pyecharts(out):
    from pyecharts.charts import Bar, Line, Pie

    for number, title in enumerate(TITLES):
        if number % 3 == 0:
            chart = Pie().add("share", list(zip(map(str, DAYS[:6]), VALUES)))
        else:
            chart = (Bar() if number % 3 == 1 else Line()).add_xaxis(list(map(str, DAYS))).add_yaxis(title, VALUES)
        chart.chart_id = f"chart{number}"
        chart.render(str(out / f"{number}.html"))


def folium(out):
    import folium as maps

    for number, title in enumerate(TITLES):
        world = maps.Map(location=[52 + number, 13], zoom_start=6)
        maps.Marker([52 + number, 13], popup=title).add_to(world)
        world.save(out / f"{number}.html")


def great_tables(out):
    import pandas as pd
    from great_tables import GT

    for number, title in enumerate(TITLES):
        frame = pd.DataFrame({"bank": ["Chase", "HSBC", "Sparkasse"], "logins": VALUES[:3], "cards": VALUES[3:6]})
        (out / f"{number}.html").write_text(GT(frame, id=f"t{number}").tab_header(title).as_raw_html(make_page=True))


def pandas_styler(out):
    import pandas as pd

    for number, title in enumerate(TITLES):
        frame = pd.DataFrame({"user": ["ann", "bob"], "password hash": ["ab12", "cd34"], "orders": VALUES[:2]})
        styled = frame.style.set_caption(title).highlight_max(subset=["orders"]).set_uuid(str(number))
        (out / f"{number}.html").write_text(styled.to_html(doctype_html=True))


def pyvis(out):
    from pyvis.network import Network

    for number, title in enumerate(TITLES[:4]):
        network = Network(heading=title, cdn_resources="remote")
        network.add_nodes([1, 2, 3], label=["login", "password reset", "bank"])
        network.add_edges([(1, 2), (2, 3)])
        (out / f"{number}.html").write_text(network.generate_html())


def pygal(out):
    import pygal as drawing

    for number, title in enumerate(TITLES):
        chart = drawing.Bar(title=title)
        chart.add("orders", VALUES)
        (out / f"{number}.svg").write_bytes(chart.render())


def mpld3(out):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import mpld3 as convert

    for number, title in enumerate(TITLES[:4]):
        figure, axes = plt.subplots()
        axes.plot(DAYS, VALUES)
        axes.set_title(title)
        (out / f"{number}.html").write_text(convert.fig_to_html(figure))


def itables(out):
    import pandas as pd
    from itables import to_html_datatable

    for number, title in enumerate(TITLES[:4]):
        frame = pd.DataFrame({"e-mail": [f"user{day}@example.org" for day in DAYS], "orders": VALUES})
        (out / f"{number}.html").write_text(f"<!doctype html><title>{title}</title>" + to_html_datatable(frame, caption=title))


globals()[sys.argv[1].replace("-", "_")](pathlib.Path(sys.argv[2]))
