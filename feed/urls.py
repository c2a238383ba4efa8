from django.urls import path

from feed import people_views, views

urlpatterns = [
    path("feed/", views.FeedView.as_view(), name="feed"),
    path("posts/", views.PostsView.as_view(), name="posts"),
    path("posts/<id:post_id>/", views.PostView.as_view(), name="post"),
    path("me/friends/<id:friend_id>/", people_views.FriendView.as_view(), name="friend"),
    path("me/blocks/<id:other_id>/", people_views.BlockView.as_view(), name="block"),
    path("people/<id:author_id>/posts/", views.PersonPostsView.as_view(), name="person-posts"),
]
