"""The service of each kind of variant."""

from lab.author.service import AuthorService
from lab.author.variants import AuthorVariant
from lab.targets.service import AdapterService, TargetService
from lab.targets.variants import AdapterVariant, TargetVariant
from launch.service import Service
from launch.variants import Variant

SERVICES: dict[type[Variant], type[Service]] = {
    AuthorVariant: AuthorService,
    TargetVariant: TargetService,
    AdapterVariant: AdapterService,
}


def service_for(variant: Variant) -> type[Service]:
    return SERVICES.get(type(variant), Service)
