#!/bin/sh
# Runs the exporter with the Node.js beside it. Symbolic links to this file work.
folder=$(dirname "$(readlink -f "$0")")
exec "$folder/node/node" "$folder/bin/appliance-exporter.cjs" "$@"
