from django.conf import settings
from django.urls import path

from accounts import views

EDGES = {
    "friends": [
        path("me/friends/", views.FriendsView.as_view(), name="friends"),
        path("me/friend-requests/", views.FriendRequestsView.as_view(), name="friend-requests"),
    ],
    "follows": [
        path("me/followers/", views.FollowersView.as_view(), name="followers"),
        path("me/following/", views.FollowingView.as_view(), name="following"),
        path("me/follow-requests/", views.FriendRequestsView.as_view(), name="follow-requests"),
        path("me/private/", views.PrivateView.as_view(), name="private"),
    ],
}
urlpatterns = [
    path("signup/", views.SignupView.as_view(), name="signup"),
    *EDGES[settings.FEED_EDGES],
    path("me/blocks/", views.BlocksView.as_view(), name="blocks"),
    path("me/password/", views.PasswordView.as_view(), name="password"),
    path("token/", views.LogInView.as_view(), name="token"),
    path("token/refresh/", views.RefreshView.as_view(), name="token-refresh"),
    path("token/logout/", views.LogOutView.as_view(), name="token-logout"),
]
