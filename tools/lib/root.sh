# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
root_folder() { die "not yet"; }
