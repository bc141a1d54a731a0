#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks the package that build.sh made: no error of lintian, valid desktop entry and metainfo, completions that their
# shells can read (those that are installed).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
packages=(build/deb/*.deb)
[ -f "${packages[0]}" ] || { echo "error: there is no package; run packaging/debian/build.sh" >&2; exit 3; }
tree=$(mktemp -d)
trap 'rm -r "$tree"' EXIT
dpkg-deb -x "${packages[0]}" "$tree"
lintian --fail-on error "${packages[0]}"
desktop-file-validate "$tree/usr/share/applications/quantscope.desktop"
appstreamcli validate --no-net "$tree/usr/share/metainfo/quantscope.metainfo.xml"
for program in quantscope-cli quantscope; do
    bash -n "$tree/usr/share/bash-completion/completions/$program"
    ! command -v zsh > /dev/null || zsh -n "$tree/usr/share/zsh/vendor-completions/_$program"
    ! command -v fish > /dev/null || fish -n "$tree/usr/share/fish/vendor_completions.d/$program.fish"
done
"$tree/usr/bin/quantscope-cli" lesson list > /dev/null # finds what was installed
echo "${packages[0]}: no errors"
