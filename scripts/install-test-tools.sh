#!/usr/bin/env bash
# This script installs the Debian packages that `npm run test:all` needs, unpacks some from newer suites of Debian
# (docs/reference/compatibility.md), and makes a root file system of Debian 12. It changes nothing if all of these are there. Run it as root, or as a
# user who may use sudo.
set -euo pipefail

packages=(
  binutils xz-utils              # packages (npm run package, readelf)
  buildah mmdebstrap             # image, and a root file system for packages
  chromium-headless-shell        # browser tests
  curl                           # npm run lab:failover
  gnutls-bin openssl             # old devices
  iproute2 util-linux            # network namespaces, prlimit
  keepalived nginx               # end-to-end lab
  lintian                        # Debian package
  libc6-arm64-cross libstdc++6-arm64-cross qemu-user   # packages for arm64
  prometheus                     # with promtool
  prometheus-alertmanager        # with amtool
  prometheus-blackbox-exporter   # service discovery
  prometheus-pushgateway         # npm run bench
  systemd                        # systemd-analyze
)
# To get newer versions of a suite, remove its folder. test/support/tool.ts also names the suites and the paths in the cache.
suites=(trixie forky)
unpacked=(prometheus promtool prometheus-alertmanager keepalived)
cache=/var/cache/appliance-exporter-test-tools
root_tar=$cache/bookworm.tar
# The tests start these themselves, so the services that come with the packages are not needed.
services=(keepalived nginx prometheus prometheus-alertmanager prometheus-blackbox-exporter prometheus-pushgateway)

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

is_installed() {
  [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

if ! command -v apt-get >/dev/null; then
  echo "This script needs Debian or Ubuntu. On other systems, install: ${packages[*]}" >&2
  exit 1
fi

# This function unpacks packages of a suite and the libraries that they need, without installing them.
unpack() {
  local suite=$1 folder=$cache/$1 root=$cache/$1/root loader libraries
  echo "Unpacking Debian packages of $suite: ${unpacked[*]}"
  as_root rm -rf "$folder"
  as_root mkdir -p "$folder/new"
  # The mirror may be a snapshot.
  if ! as_root mmdebstrap --quiet --aptopt='Acquire::Check-Valid-Until "false"' --variant=extract \
    --include="${unpacked[*]}" "$suite" "$root"; then
    echo "Debian's suite $suite cannot be unpacked, and nothing is tested with its versions." >&2
    exit 1
  fi
  as_root ln -s "$root"/usr/bin/{prometheus,promtool,prometheus-alertmanager,amtool} "$folder/new"
  # keepalived prints this file, and does not run without it.
  as_root cp "$root/etc/keepalived/keepalived.config-opts" /etc/keepalived
  # keepalived needs the libraries of its suite, which their own loader finds. The process has the name of the link.
  loader=$(find "$root" -type f -name 'ld-linux*.so.*')
  libraries=$(find "$root" -name '*.so.*' -printf '%h\n' | sort --unique | paste --serial --delimiters=:)
  as_root ln -s "$loader" "$root/keepalived"
  printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' "$root/keepalived" "$libraries" "$root/usr/sbin/keepalived" |
    as_root tee "$folder/new/keepalived" >/dev/null
  as_root chmod 755 "$folder/new/keepalived"
  as_root mv "$folder/new" "$folder/bin"
}

# This function makes the Debian 12 in which packages are installed.
make_root() {
  echo "Making a root file system of Debian 12"
  as_root mkdir -p "$cache"
  as_root mmdebstrap --quiet --variant=minbase --include=ca-certificates,keepalived,systemd --format=tar \
    bookworm "$root_tar.new"
  as_root mv "$root_tar.new" "$root_tar"
}

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done

if [ "${#missing[@]}" -gt 0 ]; then
  echo "Installing Debian packages: ${missing[*]}"
  as_root apt-get update --quiet
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"
fi

# A service that was installed before this script ran is left alone.
for service in "${services[@]}"; do
  if [[ " ${missing[*]} " == *" $service "* ]]; then
    echo "Stopping the service $service"
    as_root service "$service" stop || true
  fi
done

for suite in "${suites[@]}"; do
  if [ ! -d "$cache/$suite/bin" ]; then unpack "$suite"; fi
done
if [ ! -f "$root_tar" ]; then make_root; fi
echo "All test tools are installed."
