#!/bin/sh
# Runs the exporter with the Node.js beside it. Symbolic links to this file work.
folder=$(dirname "$(readlink -f "$0")")
# For the commands that the program shows as examples.
APPLIANCE_EXPORTER_COMMAND=$0
if [ "$(command -v "${0##*/}")" = "$0" ]; then APPLIANCE_EXPORTER_COMMAND=${0##*/}; fi
export APPLIANCE_EXPORTER_COMMAND
exec "$folder/node/node" "$folder/bin/appliance-exporter.cjs" "$@"
