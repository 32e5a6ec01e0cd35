"""Renders the pages of a Django application: inside_django.py APPLICATION FOLDER. Run by the Python that has it."""

import pathlib
import sys

import django
from django.conf import settings

name, out = sys.argv[1], pathlib.Path(sys.argv[2])

BASE = ["django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.messages", "django.contrib.staticfiles"]
APPS = {
    "admin": BASE,
    "jazzmin": ["jazzmin", *BASE],
    "unfold": ["unfold", *BASE],
    "allauth": [*BASE, "allauth", "allauth.account"],
    "wagtail": ["wagtail.contrib.forms", "wagtail.users", "wagtail.admin", "wagtail.images", "wagtail.documents", "wagtail.search", "wagtail", "modelcluster", "taggit", *BASE],
}
ADMIN = ["", "login/", "auth/user/", "auth/user/add/", "auth/group/", "password_change/"]
PATHS = {
    "admin": [f"/admin/{path}" for path in ADMIN],
    "jazzmin": [f"/admin/{path}" for path in ADMIN],
    "unfold": [f"/admin/{path}" for path in ADMIN],
    "allauth": [f"/accounts/{path}/" for path in ("login", "signup", "password/reset", "password/reset/done", "confirm-email", "inactive", "logout", "email", "password/change")],
    "wagtail": [f"/cms/{path}" for path in ("", "login/", "password_reset/", "account/", "users/", "images/", "documents/", "reports/locked/")],
}
MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware", "django.contrib.messages.middleware.MessageMiddleware"]
if name == "allauth":
    MIDDLEWARE.append("allauth.account.middleware.AccountMiddleware")

settings.configure(
    DEBUG=True,
    SECRET_KEY="only for rendering",
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    INSTALLED_APPS=APPS[name],
    MIDDLEWARE=MIDDLEWARE,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {"context_processors": ["django.template.context_processors.request", "django.contrib.auth.context_processors.auth", "django.contrib.messages.context_processors.messages"]}}],
    STATIC_URL="/static/",
    STATIC_ROOT=str(out / "static"),
    WAGTAIL_SITE_NAME="Fernleaf",
    WAGTAILADMIN_BASE_URL="http://localhost",
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.contrib import admin  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import include, path  # noqa: E402

urlpatterns = [path("admin/", admin.site.urls)]
if name == "allauth":
    urlpatterns.append(path("accounts/", include("allauth.urls")))
if name == "wagtail":
    urlpatterns.append(path("cms/", include("wagtail.admin.urls")))

call_command("migrate", verbosity=0)
from django.contrib.auth import get_user_model  # noqa: E402

user = get_user_model().objects.create_superuser("ann", "ann@example.org", "correct horse")
for signed_in in (False, True):
    client = Client()
    if signed_in:
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    for address in PATHS[name]:
        answer = client.get(address, follow=True)
        if answer.status_code == 200:
            label = address.strip("/").replace("/", "-")
            (out / f"{label}{'-signed-in' if signed_in else ''}.html").write_bytes(answer.content)
