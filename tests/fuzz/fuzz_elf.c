/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_elf.c - a shared object: the value found lies inside the file
 *
 * Parser: lib/env/elf_symbol.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/env/elf_symbol.h"

FUZZER(elf)
{
	size_t bytes = 0;
	const uint8_t *value = osp_elf_symbol(data, size, "plugin_version", &bytes);

	fuzz_check(!value || (value >= data && bytes <= size && value + bytes <= data + size));
	(void)osp_plugin_version(data, size);
	return 0;
}
