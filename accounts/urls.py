from django.urls import path
from rest_framework_simplejwt.views import TokenObtainPairView

from accounts.views import FriendsView, RefreshView, SignupView

urlpatterns = [
    path("signup/", SignupView.as_view(), name="signup"),
    path("me/friends/", FriendsView.as_view(), name="friends"),
    path("token/", TokenObtainPairView.as_view(), name="token"),
    path("token/refresh/", RefreshView.as_view(), name="token-refresh"),
]
