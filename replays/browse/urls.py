"""The endpoints of the listing and of likes, before those of the service."""

from django.urls import path

from config.urls import *  # noqa: F403
from config.urls import urlpatterns
from replays.browse.app import views

OWN = [
    path("v1/posts/", views.PostsView.as_view(), name="posts"),
    path("v1/posts/<id:post_id>/", views.PostView.as_view(), name="post"),
    path("v1/posts/<id:post_id>/like/", views.LikeView.as_view(), name="like"),
]
urlpatterns = [*OWN, *urlpatterns]
