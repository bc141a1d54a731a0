# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by ./run and ./check from the top folder. prepare [TARGET ...]: installs what is missing, configures
# build/release and builds these targets, or everything.

# Prints the packages of scripts/packages.txt that dpkg does not know as installed.
missing_packages() {
    local wanted
    command -v dpkg-query >/dev/null || return 0 # not Debian: CMake says what it does not find
    wanted=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' scripts/packages.txt)
    # shellcheck disable=SC2086
    dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' $wanted 2>/dev/null |
        awk -v wanted="$wanted" '
            $2 ~ /^.i/ { have[$1] = 1 }
            END { n = split(wanted, list, /[[:space:]]+/); for (i = 1; i <= n; ++i) if (!(list[i] in have)) print list[i] }'
}

install_packages() {
    local missing as_root=()
    missing=$(missing_packages | tr '\n' ' ')
    if [ -z "$missing" ]; then
        return 0
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "error: these packages are missing: $missing; run as root: apt-get install $missing" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "Installing $missing"
    local get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 -qq)
    "${get[@]}" update </dev/null || echo "warning: apt-get update failed; trying with the package lists there are" >&2
    # shellcheck disable=SC2086
    "${get[@]}" install -y --no-install-recommends $missing </dev/null >build/apt.log 2>&1 || {
        tail -n 20 build/apt.log >&2
        echo "error: the packages could not be installed; the whole log is in build/apt.log" >&2
        return 1
    }
}

# ./run and ./check share one build, so that the second of them finds done what both need.
build_release() {
    cmake --preset release >build/configure.log 2>&1 || {
        cat build/configure.log >&2
        echo "error: configuring failed" >&2
        return 1
    }
    if [ ! -x build/release/bin/quantscope ]; then
        echo "Building build/release; the first time takes minutes, later ones seconds."
    fi
    if [ $# -gt 0 ]; then
        cmake --build build/release --target "$@"
    else
        cmake --build build/release
    fi
}

prepare() {
    mkdir -p build
    install_packages && build_release "$@"
}
