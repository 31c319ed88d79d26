#!/bin/bash
echo "$SLURM_JOB_NODELIST" >>-qec
sleep 600
