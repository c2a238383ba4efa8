from django.urls import path

from accounts import views

urlpatterns = [
    path("signup/", views.SignupView.as_view(), name="signup"),
    path("me/friends/", views.FriendsView.as_view(), name="friends"),
    path("me/friend-requests/", views.FriendRequestsView.as_view(), name="friend-requests"),
    path("me/blocks/", views.BlocksView.as_view(), name="blocks"),
    path("me/password/", views.PasswordView.as_view(), name="password"),
    path("token/", views.LogInView.as_view(), name="token"),
    path("token/refresh/", views.RefreshView.as_view(), name="token-refresh"),
    path("token/logout/", views.LogOutView.as_view(), name="token-logout"),
]
