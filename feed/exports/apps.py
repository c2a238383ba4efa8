from django.apps import AppConfig


class ExportsConfig(AppConfig):
    name = "feed.exports"
    label = "exports"
