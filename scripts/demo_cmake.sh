#!/bin/sh
# Stands in for cmake when Cargo builds libjpeg-turbo for scripts/demo.sh. Of all that libjpeg-turbo builds and installs, half of
# which are programs, vidrec links one library.
set -eu
[ "$1" = --build ] || exec cmake "$@"
cmake --build "$2" --target turbojpeg-static
mkdir -p "$2/../lib"
cp "$2/libturbojpeg.a" "$2/../lib/"
