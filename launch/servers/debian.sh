# Packages of another Debian release, without installing them: for scripts that define give_up.
# shellcheck shell=sh
KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

check_system() {
    for tool in apt-get dpkg-deb; do
        command -v $tool >/dev/null || give_up "$tool is missing; this needs Debian"
    done
    # shellcheck source=/dev/null
    . /etc/os-release
    [ "$ID" = debian ] || give_up "this needs Debian; this system is $PRETTY_NAME"
    [ -r "$KEYS" ] || give_up "$KEYS is missing: apt-get install debian-archive-keyring"
}

# Print where this system takes Debian's packages from.
mirror() {
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(CREATED_BY) $(COMPONENT) $(RELEASE) $(REPO_URI)' |
        awk -v suites=" ${VERSION_CODENAME:-} stable testing unstable sid " \
            '$1 == "Packages" && $2 == "main" && index(suites, " " $3 " ") { print $4; exit }'
}

# Apt as on this system (its proxies, its logins), but with a suite, lists and a status of its own.
configure_apt() { # FOLDER MIRROR SUITE
    mkdir -p "$1/lists/partial" "$1/archives/partial" "$1/apt.conf.d" "$1/preferences.d"
    : >"$1/status" # nothing is installed, so that every library comes too
    echo "deb [signed-by=$KEYS target=Packages] $2 $3 main" >"$1/sources.list"
    {
        apt-config dump Acquire
        echo "Dir::Etc \"$1\"; Dir::Etc::netrc \"/etc/apt/auth.conf\";"
        echo "Dir::Etc::netrcparts \"/etc/apt/auth.conf.d\"; Dir::Cache \"$1\";"
        echo "Dir::State \"$1\"; Dir::State::status \"$1/status\"; Debug::NoLocking \"true\";"
        echo "APT::Sandbox::User \"$(id -un)\"; APT::Update::Error-Mode \"any\";"
    } >"$1/apt.conf"
    export APT_CONFIG="$1/apt.conf"
}
