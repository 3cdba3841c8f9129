#!/bin/sh
# pin.sh <cpu>,<cpu>,... <program> <argument>...: started once per rank, runs the program on that rank's core.
# Launchers bind in many ways and fall back silently; this works with all of them.
rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-0}}}
cpu=$(echo "$1" | cut -d , -f $((rank + 1)))
shift
exec taskset -c "$cpu" "$@"
