/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_rights.h - a gate's child gives up root's rights
 *
 * What measures the network reads bytes that other hosts sent, and may load libraries of others: it
 * does so as "nobody", before the first of them. One thread.
 */
#ifndef OSP_GATE_RIGHTS_H
#define OSP_GATE_RIGHTS_H

#define GATE_NOBODY_ID 65534 /* "nobody", by number: no name service in a gate */

/* Closes, in a child that ends with its parent (PR_SET_PDEATHSIG), every file from 3 on but two
 * (-1: none), becomes nobody for good, without groups and without a way back, and ends by a signal
 * after `most_s` seconds, or still with its parent. Ends the process where that cannot be had. */
void gate_give_up_rights(int keep, int keep_too, unsigned int most_s);

#endif
