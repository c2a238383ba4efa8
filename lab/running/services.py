from pkgutil import resolve_name

from launch.service import Service
from launch.variants import Variant


def service_for(variant: Variant) -> type[Service]:
    """Return the class that runs a variant."""
    found: type[Service] = resolve_name(variant.service)
    return found
