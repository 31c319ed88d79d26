/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf_symbol.c - reads an exported variable of a shared object without loading it */
#include "lib/env/elf_symbol.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_ORDER ELFDATA2LSB
#else
#define OUR_ORDER ELFDATA2MSB
#endif
#define OUR_CLASS (__ELF_NATIVE_CLASS == 64 ? ELFCLASS64 : ELFCLASS32)

struct object {
	const unsigned char *data;
	size_t bytes;
	ElfW(Ehdr) header;
};

/* Copies `count` bytes at `offset`; returns false if the file has fewer. */
static bool copy(const struct object *object, uint64_t offset, void *to, size_t count)
{
	if (offset > object->bytes || object->bytes - offset < count)
		return false;
	memcpy(to, object->data + offset, count);
	return true;
}

static bool open_object(const void *data, size_t data_bytes, struct object *object)
{
	const ElfW(Ehdr) *header = &object->header;

	*object = (struct object){.data = data, .bytes = data_bytes};
	return copy(object, 0, &object->header, sizeof(object->header)) &&
	       memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == OUR_CLASS && header->e_ident[EI_DATA] == OUR_ORDER &&
	       header->e_phentsize == sizeof(ElfW(Phdr)) &&
	       header->e_shentsize == sizeof(ElfW(Shdr));
}

static bool section(const struct object *object, uint32_t index, ElfW(Shdr) * found)
{
	return index < object->header.e_shnum &&
	       copy(object, object->header.e_shoff + (uint64_t)index * sizeof(*found), found,
		    sizeof(*found));
}

static bool is_name(const struct object *object, const ElfW(Shdr) * strings, uint32_t at,
		    const char *name)
{
	size_t count = strlen(name) + 1;

	return at <= strings->sh_size && strings->sh_size - at >= count &&
	       strings->sh_offset <= object->bytes &&
	       object->bytes - strings->sh_offset >= strings->sh_size &&
	       memcmp(object->data + strings->sh_offset + at, name, count) == 0;
}

/* Finds the variable in the table of exported symbols. */
static bool find_symbol(const struct object *object, const char *name, ElfW(Sym) * symbol)
{
	ElfW(Shdr) symbols, strings;

	for (uint32_t i = 0; section(object, i, &symbols); i++) {
		if (symbols.sh_type != SHT_DYNSYM || !section(object, symbols.sh_link, &strings))
			continue;
		for (uint64_t at = 0; at + sizeof(*symbol) <= symbols.sh_size;
		     at += sizeof(*symbol)) {
			if (!copy(object, symbols.sh_offset + at, symbol, sizeof(*symbol)))
				return false;
			if (symbol->st_shndx != SHN_UNDEF &&
			    is_name(object, &strings, symbol->st_name, name))
				return true;
		}
	}
	return false;
}

const void *osp_elf_symbol(const void *data, size_t data_bytes, const char *name,
			   size_t *symbol_bytes)
{
	struct object object;
	ElfW(Phdr) segment;
	ElfW(Sym) symbol;

	if (!open_object(data, data_bytes, &object) || !find_symbol(&object, name, &symbol))
		return NULL;
	for (uint32_t i = 0; i < object.header.e_phnum; i++) {
		uint64_t offset;

		if (!copy(&object, object.header.e_phoff + (uint64_t)i * sizeof(segment), &segment,
			  sizeof(segment)))
			return NULL;
		if (segment.p_type != PT_LOAD || symbol.st_value < segment.p_vaddr ||
		    symbol.st_value - segment.p_vaddr >= segment.p_filesz)
			continue;
		offset = symbol.st_value - segment.p_vaddr;
		if (segment.p_filesz - offset < symbol.st_size || segment.p_offset > data_bytes ||
		    data_bytes - segment.p_offset < offset ||
		    data_bytes - segment.p_offset - offset < symbol.st_size)
			return NULL;
		*symbol_bytes = symbol.st_size;
		return object.data + segment.p_offset + offset;
	}
	return NULL;
}

uint32_t osp_plugin_version(const void *data, size_t data_bytes)
{
	size_t bytes = 0;
	const void *value = osp_elf_symbol(data, data_bytes, "plugin_version", &bytes);
	uint32_t version = 0;

	if (value && bytes == sizeof(version))
		memcpy(&version, value, sizeof(version));
	return version;
}
