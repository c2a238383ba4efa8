# Make the images that compose.yaml and the Dockerfile name from Debian's packages (sourced by
# inside.sh). Grafana is in no Debian release.
# shellcheck shell=sh
STAND_INS=tests/containers
SAVED=$FOLDER/images.tar

# A minimal system that reaches packages as this machine does.
make_debian() { # RELEASE
    root=$engine/root
    debootstrap --variant=minbase --include=ca-certificates "$1" "$root" "$mirror" \
        >>"$FOLDER/images.log" 2>&1 || give_up "debootstrap failed; see $FOLDER/images.log"
    apt-config dump Acquire >"$root/etc/apt/apt.conf.d/machine"
    echo 'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb"; };' >"$root/etc/apt/apt.conf.d/small"
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n' >"$root/etc/pip.conf"
    [ -z "${PIP_INDEX_URL:-}" ] || echo "index-url = $PIP_INDEX_URL" >>"$root/etc/pip.conf"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # a package starts nothing
    chmod +x "$root/usr/sbin/policy-rc.d"
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
    tar --create --directory "$root" . | docker import - "debian:$1-slim" >/dev/null
    rm -rf "$root"
}

make_image() { # TARGET NAME
    DOCKER_BUILDKIT=1 docker build --quiet --target "$1" --tag "$2" $STAND_INS >>"$FOLDER/images.log" 2>&1 ||
        give_up "the image $2 failed; see $FOLDER/images.log"
}

image_of() { # IMAGE, as compose.yaml names it, with its version
    sed -n "s#^ *image: \($1:.*\)#\1#p" compose/compose.yaml
}

python=$(sed -n 's/^FROM \(python:[^ ]*\)$/\1/p' compose/Dockerfile)
images="debian:bookworm-slim $python" # the former for the laboratory's own image
for name in mariadb postgres redis rabbitmq haproxy prom/prometheus; do
    images="$images $(image_of $name)"
done

recipe="$STAND_INS/Dockerfile $STAND_INS/images.sh $STAND_INS/mariadb $STAND_INS/postgres"
# shellcheck disable=SC2086
if [ -z "$(find $recipe -newer "$SAVED" 2>&1)" ]; then
    docker load --quiet --input "$SAVED" >/dev/null
else
    : >"$FOLDER/images.log"
    make_debian bookworm
    make_image python "$python"
    for name in mariadb postgres redis rabbitmq haproxy prom/prometheus; do
        make_image "${name#*/}" "$(image_of $name)"
    done
    # shellcheck disable=SC2086
    docker save --output "$SAVED" $images
fi
