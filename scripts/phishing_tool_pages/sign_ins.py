"""Sign-in pages of open-source software, rendered with its own templates: nothing of them is sent anywhere but to the
site that shows them."""

from workshop import Tool

DJANGO = "django==5.1.4"


def rendered(name):
    return lambda shop, out: shop.python(shop.inside / "inside_django.py", name, out, cwd=out)


TOOLS = [
    Tool("django-admin", rendered("admin"), pip=(DJANGO,)),
    Tool("django-allauth", rendered("allauth"), pip=(DJANGO, "django-allauth==65.3.0")),
    Tool("django-jazzmin", rendered("jazzmin"), pip=(DJANGO, "django-jazzmin==3.0.1")),
    Tool("django-unfold", rendered("unfold"), pip=(DJANGO, "django-unfold==0.42.0")),
    Tool("wagtail", rendered("wagtail"), pip=(DJANGO, "wagtail==6.3.1")),
]
