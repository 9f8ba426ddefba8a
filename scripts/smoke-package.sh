#!/usr/bin/env bash
# This script packs the project, installs the package into an empty folder, prints its version, and runs the demo until /metrics shows a
# MASTER.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
demo_pid=
cleanup() {
  if [ -n "$demo_pid" ]; then kill "$demo_pid" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap cleanup EXIT

npm pack --silent --pack-destination "$folder" "$root" >/dev/null
cd "$folder"
npm init --yes >/dev/null
npm install --no-audit --no-fund ./appliance-exporter-*.tgz >/dev/null

exporter=node_modules/.bin/appliance-exporter
"$exporter" --version

"$exporter" demo --web.listen-address=127.0.0.1:0 >demo.txt 2>demo-log.txt &
demo_pid=$!

seen=
for _ in $(seq 1 150); do
  url=$(grep -oE 'http://127\.0\.0\.1:[0-9]+/metrics' demo.txt | head -n 1 || true)
  if [ -n "$url" ] && node -e 'fetch(process.argv[1]).then((r) => r.text()).then((t) => process.exit(/^vrrp_is_master\{.*\} 1$/m.test(t) ? 0 : 1), () => process.exit(1))' "$url"; then
    seen=yes
    break
  fi
  kill -0 "$demo_pid" || break
  sleep 0.2
done
if [ -z "$seen" ]; then
  echo "the demo shows no MASTER:"
  cat demo.txt demo-log.txt
  exit 1
fi

kill -INT "$demo_pid"
wait "$demo_pid"
demo_pid=
echo "the packed package works: $url showed a MASTER, Ctrl-C ended the demo with exit code 0"
