/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_symbol.h - reads an exported variable of a shared object without loading it
 *
 * plugin_version says which Slurm a plugin was built for; to load the plugin and ask would need the
 * daemon that it belongs to. For two variables libelf would be one more library to depend on; this
 * reader bounds every offset, and a fuzzer holds it to that (fuzz_elf). Any thread.
 */
#ifndef OSP_ELF_SYMBOL_H
#define OSP_ELF_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#define OSP_ELF_BYTES_MAX ((size_t)64 * 1024 * 1024)

/*
 * Returns the bytes of the variable `name` in `data`, a whole shared object of this machine's class
 * and byte order, and their number. Returns NULL if there is no such variable, it has no bytes in
 * the file, or the file is broken or no shared object.
 */
const void *osp_elf_symbol(const void *data, size_t data_bytes, const char *name,
			   size_t *symbol_bytes);

/* Returns plugin_version of one of Slurm's plugins, 0xMMmmuu; 0 if it has none. */
uint32_t osp_plugin_version(const void *data, size_t data_bytes);

#endif
