/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_symbol.h - the value of an exported variable of a shared object, without loading it
 *
 * A plugin says which Slurm it was built for in plugin_version; loading it to ask would need the
 * daemon that it belongs to. Any thread.
 */
#ifndef OSP_ELF_SYMBOL_H
#define OSP_ELF_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#define OSP_ELF_BYTES_MAX ((size_t)64 * 1024 * 1024)

/*
 * The bytes of the variable `name` in `data`, a whole shared object of this machine's class and
 * byte order, and how many there are; NULL if there is no such variable, it has no bytes in the
 * file, or the file is none or broken.
 */
const void *osp_elf_symbol(const void *data, size_t data_bytes, const char *name,
			   size_t *symbol_bytes);

/* plugin_version of one of Slurm's plugins, 0xMMmmuu; 0 if it has none. */
uint32_t osp_plugin_version(const void *data, size_t data_bytes);

#endif
