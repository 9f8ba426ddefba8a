#!/usr/bin/env bash
# Installs the Debian packages that `npm run test:all` needs. It changes nothing if they are installed.
# Run it as root, or as a user who may use sudo.
set -euo pipefail

packages=(
  binutils xz-utils              # packages (npm run package, readelf)
  buildah mmdebstrap             # image, and a root file system for packages
  chromium                       # browser tests
  curl                           # npm run lab:failover
  iproute2 util-linux            # network namespaces, prlimit
  keepalived nginx               # end-to-end lab
  lintian                        # Debian package
  prometheus                     # with promtool
  prometheus-alertmanager        # with amtool
  prometheus-blackbox-exporter   # service discovery
  prometheus-pushgateway         # npm run bench
  systemd                        # systemd-analyze
)
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

missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done

if [ "${#missing[@]}" -eq 0 ]; then
  echo "All test tools are installed."
  exit 0
fi

echo "Installing Debian packages: ${missing[*]}"
as_root apt-get update --quiet
as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "${missing[@]}"

# A service that was installed before this script ran is left alone.
for service in "${services[@]}"; do
  if [[ " ${missing[*]} " == *" $service "* ]]; then
    echo "Stopping the service $service"
    as_root service "$service" stop || true
  fi
done
