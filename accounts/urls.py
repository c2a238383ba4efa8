from django.urls import path
from rest_framework_simplejwt.views import TokenObtainPairView

from accounts.views import RefreshView, SignupView

urlpatterns = [
    path("signup/", SignupView.as_view(), name="signup"),
    path("token/", TokenObtainPairView.as_view(), name="token"),
    path("token/refresh/", RefreshView.as_view(), name="token-refresh"),
]
