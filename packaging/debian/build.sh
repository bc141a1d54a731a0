#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes build/deb/quantscope_*.deb out of the built programs: with icons in all sizes, desktop entry, AppStream metainfo,
# types of files, manual pages and completions, which the programs themselves tell. Needs Debian's dpkg-dev and
# librsvg2-bin. Two builds are equal where SOURCE_DATE_EPOCH is (default: the time of the last commit).
#
#   packaging/debian/build.sh [BUILD]      BUILD: folder that the programs were built in (default: build/release)
#
# Who builds is its maintainer: DEBFULLNAME and DEBEMAIL, else the author of the last commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "${1:-build/release}")
export QS_DEB_OUT=$PWD/build/deb QS_DEB_ROOT=$PWD/build/deb-root/usr
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1577836800)}
share=$QS_DEB_ROOT/share

for program in quantscope-cli quantscope; do
    [ -x "$build/bin/$program" ] || { echo "error: $build/bin/$program is missing; build it first: ./run or ./check" >&2; exit 3; }
done
for tool in cpack dpkg-shlibdeps rsvg-convert python3; do
    command -v $tool > /dev/null || { echo "error: $tool is missing; install cmake, dpkg-dev, librsvg2-bin and python3" >&2; exit 3; }
done

icons() {
    for size in 16 22 24 32 48 64 128 256 512; do
        local folder=$share/icons/hicolor/${size}x$size/apps
        mkdir -p "$folder"
        rsvg-convert -w $size -h $size resources/icons/quantscope.svg -o "$folder/quantscope.png"
    done
}

# Made of the help of the very programs that are packed.
manual_pages() {
    mkdir -p "$share/man/man1"
    for program in quantscope-cli quantscope; do
        QT_QPA_PLATFORM=offscreen python3 packaging/debian/man_page.py "$build/bin/$program" | gzip -9n > "$share/man/man1/$program.1.gz"
    done
}

completions() {
    local cli=$build/bin/quantscope-cli
    mkdir -p "$share"/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
    "$cli" completion bash > "$share/bash-completion/completions/quantscope-cli"
    "$cli" completion zsh > "$share/zsh/vendor-completions/_quantscope-cli"
    "$cli" completion fish > "$share/fish/vendor_completions.d/quantscope-cli.fish"
    "$build/bin/quantscope" --completion bash > "$share/bash-completion/completions/quantscope"
    "$build/bin/quantscope" --completion zsh > "$share/zsh/vendor-completions/_quantscope"
    "$build/bin/quantscope" --completion fish > "$share/fish/vendor_completions.d/quantscope.fish"
}

documents() {
    local docs=$share/doc/quantscope
    mkdir -p "$docs" "$share/metainfo"
    cp packaging/debian/copyright "$docs/copyright"
    printf 'quantscope (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' "$QS_DEB_VERSION" \
        "$QS_DEB_MAINTAINER" "$(date -Ru -d "@$SOURCE_DATE_EPOCH")" | gzip -9n > "$docs/changelog.gz"
    cp CHANGELOG.md "$docs/"
    gzip -9n "$docs/CHANGELOG.md"
    cp resources/desktop/quantscope.metainfo.xml "$share/metainfo/"
}

QS_DEB_VERSION=$("$build/bin/quantscope-cli" --version | cut -d' ' -f2)
if [ -n "${DEBEMAIL:-}" ]; then
    QS_DEB_MAINTAINER="${DEBFULLNAME:-Quantscope} <$DEBEMAIL>"
else
    QS_DEB_MAINTAINER=$(git log -1 --format='%an <%ae>')
fi
export QS_DEB_VERSION QS_DEB_MAINTAINER
umask 022
rm -rf build/deb-root "$QS_DEB_OUT"
cmake --install "$build" --prefix "$QS_DEB_ROOT" --strip > /dev/null
icons
manual_pages
completions
documents
find build/deb-root -type f -not -path '*/bin/*' -exec chmod 644 {} +
find build/deb-root -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
cpack --config packaging/debian/cpack.cmake > build/deb-cpack.log || { cat build/deb-cpack.log >&2; exit 3; }
rm -rf "$QS_DEB_OUT/_CPack_Packages"
ls -l "$QS_DEB_OUT"/*.deb
