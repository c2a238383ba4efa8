from django.conf import settings
from django.urls import path

from feed import people_views, views

EDGES = {
    "friends": [
        path("me/friends/<id:friend_id>/", people_views.FriendView.as_view(), name="friend"),
    ],
    "follows": [
        path("me/following/<id:author_id>/", people_views.FollowedView.as_view(), name="followed"),
        path("me/followers/<id:reader_id>/", people_views.FollowerView.as_view(), name="follower"),
    ],
}
urlpatterns = [
    path("feed/", views.FeedView.as_view(), name="feed"),
    path("posts/", views.PostsView.as_view(), name="posts"),
    path("posts/<id:post_id>/", views.PostView.as_view(), name="post"),
    *EDGES[settings.FEED_EDGES],
    path("me/blocks/<id:other_id>/", people_views.BlockView.as_view(), name="block"),
    path("people/<id:author_id>/posts/", views.PersonPostsView.as_view(), name="person-posts"),
]
