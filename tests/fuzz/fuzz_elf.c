/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A shared object: the value found lies inside the file. */
#include "tests/fuzz/fuzz.h"

#include "lib/base/elf_symbol.h"

FUZZER(elf)
{
	size_t bytes = 0;
	const uint8_t *value = osp_elf_symbol(data, size, "plugin_version", &bytes);

	fuzz_check(!value || (value >= data && bytes <= size && value + bytes <= data + size));
	(void)osp_plugin_version(data, size);
	return 0;
}
