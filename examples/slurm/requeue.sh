#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A job that starts itself again until its program has done all:   sbatch requeue.sh ./heat 100000
#SBATCH --nodes=4 --ntasks-per-node=64 --exclusive
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=USR1@600       # to all ranks, 10 minutes before the end

export IOCOMP_STOP_SIGNALS=SIGUSR1
srun "$@"
status=$?
if [ "$status" -eq 3 ]; then    # it stopped in time, and there is more to do
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
