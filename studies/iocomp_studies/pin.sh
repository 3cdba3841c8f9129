#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pin.sh <cpu>,<cpu>,... <program> <argument>...: started once per rank, runs the program on that rank's core.
# Launchers bind in many ways and fall back silently; this works with all of them. With - the rank stays where it is.
# Where STUDY_SEATS names a directory, each rank writes there on which host and CPUs it really is.
rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-${SLURM_PROCID:-0}}}}
cpus=$1
shift
if [ "$cpus" != - ]; then
  cpu=$(echo "$cpus" | cut -d , -f $((rank + 1)))
  if [ -z "${STUDY_SEATS:-}" ]; then
    exec taskset -c "$cpu" "$@"
  fi
  taskset -cp "$cpu" $$ >/dev/null || exit 1
fi
if [ -n "${STUDY_SEATS:-}" ]; then
  # The kernel names the CPUs; where they are emulated taskset sees what programs see.
  echo "$(uname -n) $(taskset -cp $$ | sed 's/.*: //')" >"$STUDY_SEATS/seat.$rank"
fi
exec "$@"
