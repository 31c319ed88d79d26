/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shell_text.c - splits a shell script into commands and words, without running anything */
#include "onespine_config.h"
#include "lib/env/shell_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/room.h"
#include "lib/base/text.h"

#define DELIMITERS_MAX	    8 /* here-documents that begin in one line */
#define DELIMITER_BYTES_MAX 64
#define SEARCHES_MAX	    16 /* searches for a missing end before no more are made */

struct delimiter {
	char word[DELIMITER_BYTES_MAX];
	size_t bytes;
	bool tabs; /* <<-: tabs before it are ignored */
	bool quoted;
};

/* What comes after the body of a here-document that is read. */
struct after_body {
	size_t bytes, next;
	bool drops_tabs;
};

struct scanner {
	const struct osp_shell_reader *reader;
	const char *text;
	size_t bytes;
	size_t at;
	size_t line_start;
	int line;
	/* the current word */
	struct osp_text word;
	bool in_word; /* there is one, though it may be empty: "" */
	bool unexpanded;
	int word_line, word_column;
	size_t word_start;
	bool drop; /* the word belongs to a redirection */
	bool into; /* and names the file that is written */
	/* the command so far; texts are kept as offsets, because they move while they grow */
	struct osp_text texts;
	struct osp_shell_word *words;
	uint32_t count, room;
	/* the line so far */
	struct delimiter delimiters[DELIMITERS_MAX];
	size_t delimiter_count;
	struct osp_text file; /* that the line writes */
	bool runs_shell;      /* a command of it reads a script there */
	bool keeps;	      /* `read` keeps the body in a variable, and that is asked for */
	bool remote;	      /* one runs on another host */
	bool listed;	      /* it has && or || */
	struct after_body after[OSP_SHELL_BODIES_MAX];
	size_t depth;	 /* of bodies in bodies */
	bool drops_tabs; /* the body of a <<- is read: its shell sees no tabs before its lines */
	int searches;	 /* that failed */
	int arithmetics; /* (( that were none */
	bool failed;
};

static bool ended(const struct scanner *s)
{
	return s->at >= s->bytes || s->failed;
}

static char peek(const struct scanner *s, size_t ahead)
{
	return ahead < s->bytes - s->at ? s->text[s->at + ahead] : '\0';
}

static void advance(struct scanner *s, size_t count)
{
	for (; count; count--, s->at++) {
		if (s->text[s->at] == '\n') {
			s->line++;
			s->line_start = s->at + 1;
		}
	}
}

/* --- words ------------------------------------------------------------------------------------ */

static void begin_word(struct scanner *s)
{
	if (s->in_word)
		return;
	s->in_word = true;
	s->unexpanded = false;
	s->word_line = s->line;
	s->word_start = s->at;
	s->word_column = (int)(s->at - s->line_start) + 1;
}

static void take_bytes(struct scanner *s, size_t count)
{
	begin_word(s);
	osp_text_add_bytes(&s->word, s->text + s->at, count);
	advance(s, count);
}

static void add_word(struct scanner *s, const struct osp_shell_word *word)
{
	if (osp_make_room((void **)&s->words, &s->room, s->count, sizeof(*s->words)))
		s->failed = true;
	else
		s->words[s->count++] = *word;
}

int osp_shell_line_feeds(const char *text, size_t bytes)
{
	int count = 0;

	for (size_t i = 0; i < bytes; i++)
		count += text[i] == '\n';
	return count;
}

/* Notes the file that the line writes. */
static void note_file(struct scanner *s, const char *name, size_t bytes)
{
	s->file.length_bytes = 0;
	osp_text_add_bytes(&s->file, name, bytes);
	s->failed |= s->file.failed;
}

static void end_word(struct scanner *s)
{
	struct osp_shell_word word = {.raw = s->text + s->word_start,
				      .raw_bytes = s->at - s->word_start,
				      .line = s->word_line,
				      .column = s->word_column,
				      .unexpanded = s->unexpanded};

	if (!s->in_word)
		return;
	word.whole_lines =
		osp_shell_line_feeds(s->word.data, s->word.length_bytes) == s->line - s->word_line;
	s->in_word = false;
	if (!s->drop) {
		/* an offset for now; end_command() turns it into an address */
		word.text = (const char *)(uintptr_t)s->texts.length_bytes;
		osp_text_add_bytes(&s->texts, s->word.data ? s->word.data : "",
				   s->word.length_bytes);
		osp_text_add_bytes(&s->texts, "", 1);
		add_word(s, &word);
	}
	if (s->drop && s->into)
		note_file(s, s->word.data ? s->word.data : "", s->word.length_bytes);
	s->drop = s->into = false;
	s->word.length_bytes = 0;
	s->failed |= s->word.failed || s->texts.failed;
}

const char *osp_shell_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool osp_shell_is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++) {
		if (!strcmp(word, *words))
			return true;
	}
	return false;
}

static void say(const struct scanner *s, enum osp_shell_mark mark)
{
	if (s->reader->mark && !s->failed)
		s->reader->mark(s->reader->context, mark);
}

bool osp_shell_is_remote(const char *program)
{
	static const char *const remote[] = {"ssh",	     "pdsh", "clush", "pssh",
					     "parallel-ssh", "dsh",  "rsh",   NULL};

	return osp_shell_is_one_of(program, remote);
}

/* Returns whether a shell with these words after its name reads its standard input: not if -c or a
 * file gives it a script. */
static bool reads_input(const struct osp_shell_word *words, size_t count)
{
	static const char *const inputs[] = {"-", "/dev/stdin", NULL};

	for (size_t i = 0; i < count; i++) {
		const char *text = words[i].text;
		bool letters = (*text == '-' || *text == '+') && text[1] && text[1] != '-';

		if (osp_shell_is_one_of(text, inputs) || (letters && strchr(text, 's')))
			return true;
		if ((letters && strchr(text, 'c')) || (*text != '-' && *text != '+'))
			return false;
		i += letters && strchr(text, 'o'); /* pipefail */
	}
	return true;
}

/* Returns whether the command reads a script from its standard input. */
static bool takes_script(const struct osp_shell_word *words, size_t count)
{
	static const char *const shells[] = {"sh", "bash", "dash", "ksh", "zsh", NULL};

	for (size_t i = 0; i < count; i++) {
		const char *name = osp_shell_base_name(words[i].text);

		if (osp_shell_is_one_of(name, shells))
			return reads_input(words + i + 1, count - i - 1);
		if (!strcmp(name, "sbatch"))
			return true;
	}
	return false;
}

static void end_command(struct scanner *s)
{
	end_word(s);
	s->drop = s->into = false;
	if (s->failed || !s->count)
		return;
	for (size_t i = 0; i < s->count; i++) {
		s->words[i].text = s->texts.data + (uintptr_t)s->words[i].text;
		s->keeps |= s->reader->variables && !strcmp(s->words[i].text, "read");
		s->remote |= osp_shell_is_remote(osp_shell_base_name(s->words[i].text));
	}
	if (s->delimiter_count == 1 && takes_script(s->words, s->count)) {
		s->runs_shell = true;
		if (!s->remote)
			say(s, OSP_SHELL_TAKES);
	}
	if (!strcmp(osp_shell_base_name(s->words[0].text), "tee") && s->count > 1)
		note_file(s, s->words[s->count - 1].text, strlen(s->words[s->count - 1].text));
	if (s->reader->command(s->reader->context, s->words, s->count))
		s->failed = true;
	s->count = 0;
	s->texts.length_bytes = 0;
}

/* --- quotes and expansions -------------------------------------------------------------------- */

/* Returns where the quote at `at` closes; 0 if it does not. */
static size_t find_quote(const struct scanner *s, size_t at)
{
	char quote = s->text[at];

	for (at++; at < s->bytes; at++) {
		if (s->text[at] == quote)
			return at;
		if (s->text[at] == '\\' && quote != '\'')
			at++;
	}
	return 0;
}

/* Returns where the bracket at `at` closes, skipping quotes; 0 if it does not. */
static size_t find_bracket(struct scanner *s, size_t at)
{
	char open = s->text[at], close = open == '(' ? ')' : '}';
	size_t depth = 0, end;

	if (s->searches >= SEARCHES_MAX)
		return 0;
	for (; at < s->bytes; at++) {
		char c = s->text[at];

		if (c == '\\') {
			at++;
		} else if (c == '\'' || c == '"') {
			end = find_quote(s, at);
			if (!end)
				break;
			at = end;
		} else if (c == open) {
			depth++;
		} else if (c == close && !--depth) {
			return at;
		}
	}
	s->searches++;
	return 0;
}

/* Takes $X, ${X}, $(...) or $((...)) as written. */
static void take_dollar(struct scanner *s)
{
	char next = peek(s, 1);
	size_t end;

	begin_word(s);
	if (next == '(' || next == '{') {
		end = find_bracket(s, s->at + 1);
		s->unexpanded |= end != 0;
		take_bytes(s, end ? end + 1 - s->at : 1);
		return;
	}
	if (isalnum((unsigned char)next) || next == '_' || (next && strchr("@*#?$!-", next))) {
		s->unexpanded = true;
		take_bytes(s, 2);
		return;
	}
	take_bytes(s, 1);
}

static void take_backquote(struct scanner *s)
{
	size_t end = s->searches < SEARCHES_MAX ? find_quote(s, s->at) : 0;

	begin_word(s);
	s->searches += !end;
	s->unexpanded |= end != 0;
	take_bytes(s, end ? end + 1 - s->at : 1);
}

static void take_single(struct scanner *s)
{
	const char *end = memchr(s->text + s->at + 1, '\'', s->bytes - s->at - 1);

	begin_word(s);
	if (!end) {
		take_bytes(s, 1);
		return;
	}
	advance(s, 1);
	take_bytes(s, (size_t)(end - s->text) - s->at);
	advance(s, 1);
}

/* Takes everything up to the closing quote. If there is none, goes back and takes the quote
 * itself. */
static void take_double(struct scanner *s)
{
	struct scanner before = *s;
	bool closed = false;

	begin_word(s);
	if (s->searches >= SEARCHES_MAX) {
		take_bytes(s, 1);
		return;
	}
	advance(s, 1);
	while (!ended(s) && !closed) {
		char c = peek(s, 0);

		closed = c == '"';
		if (closed)
			advance(s, 1);
		else if (c == '$')
			take_dollar(s);
		else if (c == '`')
			take_backquote(s);
		else if (c == '\\' && peek(s, 1) == '\n')
			advance(s, 2);
		else if (c == '\\' && peek(s, 1) && strchr("\\\"$`", peek(s, 1)))
			advance(s, 1), take_bytes(s, 1);
		else
			take_bytes(s, 1);
	}
	if (closed || s->failed)
		return;
	s->word.length_bytes = before.word.length_bytes;
	s->at = before.at;
	s->line = before.line;
	s->line_start = before.line_start;
	s->searches++;
	take_bytes(s, 1);
}

static void take_backslash(struct scanner *s)
{
	if (peek(s, 1) == '\n') {
		advance(s, 2);
		return;
	}
	begin_word(s);
	advance(s, 1);
	if (!ended(s))
		take_bytes(s, 1);
}

/* --- here-documents and redirections ---------------------------------------------------------- */

/* Takes the word after <<, without its quotes. */
static void take_delimiter(struct scanner *s, bool tabs)
{
	struct delimiter delimiter = {.tabs = tabs};
	char c, quote = '\0';

	while (peek(s, 0) == ' ' || peek(s, 0) == '\t')
		advance(s, 1);
	while ((c = peek(s, 0)) && c != '\n' && (quote || !strchr(" \t;&|<>()", c))) {
		bool opens = !quote && (c == '\'' || c == '"');

		delimiter.quoted |= opens || c == '\\';
		if (opens || c == quote)
			quote = opens ? c : '\0';
		else if (c != '\\' && delimiter.bytes < sizeof(delimiter.word))
			delimiter.word[delimiter.bytes++] = c;
		advance(s, 1);
	}
	if (delimiter.bytes && s->delimiter_count < DELIMITERS_MAX)
		s->delimiters[s->delimiter_count++] = delimiter;
}

static bool all_digits(const struct osp_text *word)
{
	for (size_t i = 0; i < word->length_bytes; i++) {
		if (!isdigit((unsigned char)word->data[i]))
			return false;
	}
	return true;
}

static void take_redirection(struct scanner *s)
{
	/* 2>file: the number is not a word of the command */
	s->drop |= s->in_word && s->word.length_bytes && all_digits(&s->word);
	end_word(s);
	if (peek(s, 0) == '<' && peek(s, 1) == '<' && peek(s, 2) != '<') {
		bool tabs = peek(s, 2) == '-';

		advance(s, tabs ? 3 : 2);
		take_delimiter(s, tabs);
		return;
	}
	s->into = peek(s, 0) == '>';
	while (!ended(s) && strchr("<>&|", peek(s, 0)) && peek(s, 0))
		advance(s, 1);
	s->drop = true;
}

/* Returns the start of the line after the one that is only `delimiter`; 0 if there is none.
 * `before` gets the start of that line. */
static size_t find_delimiter(const struct scanner *s, const struct delimiter *delimiter,
			     size_t *before)
{
	size_t at = s->at;

	while (at < s->bytes) {
		const char *line = s->text + at;
		const char *end = memchr(line, '\n', s->bytes - at);
		size_t length = end ? (size_t)(end - line) : s->bytes - at;
		size_t next = at + length + (end ? 1 : 0);

		for (; delimiter->tabs && length && *line == '\t'; length--)
			line++;
		if (length && line[length - 1] == '\r')
			length--;
		*before = at;
		if (length == delimiter->bytes && !memcmp(line, delimiter->word, length))
			return next;
		at = next;
	}
	return 0;
}

/* Ends what is known of the line. */
static void end_line(struct scanner *s)
{
	s->file.length_bytes = 0;
	s->delimiter_count = 0;
	s->runs_shell = s->keeps = s->remote = s->listed = false;
}

/* Begins to read the body of the line's only here-document as a text of its own. Returns whether it
 * has an end. */
static bool begin_body(struct scanner *s)
{
	struct after_body after = {.bytes = s->bytes, .drops_tabs = s->drops_tabs};
	size_t end = s->at;

	if (s->depth == OSP_SHELL_BODIES_MAX || s->searches >= SEARCHES_MAX)
		return false;
	after.next = find_delimiter(s, &s->delimiters[0], &end);
	s->searches += !after.next;
	if (!after.next)
		return false;
	s->after[s->depth++] = after;
	s->bytes = end;
	s->drops_tabs = s->delimiters[0].tabs;
	if (s->listed)
		say(s, OSP_SHELL_OR);
	say(s, OSP_SHELL_BODY);
	return true;
}

/* Goes on after a body, and what ended it. */
static void end_body(struct scanner *s)
{
	const struct after_body *after = &s->after[--s->depth];

	end_command(s);
	end_line(s);
	say(s, OSP_SHELL_BODY_END);
	s->bytes = after->bytes;
	s->drops_tabs = after->drops_tabs;
	advance(s, after->next - s->at);
}

/* Skips, after the end of a line, the here-documents that it began, but one that is read. */
static void pass_documents(struct scanner *s)
{
	bool reads = s->keeps || (s->runs_shell && !s->remote && begin_body(s));

	for (size_t i = 0; i < s->delimiter_count && !reads; i++) {
		size_t end = s->at;
		size_t next =
			s->searches < SEARCHES_MAX ? find_delimiter(s, &s->delimiters[i], &end) : 0;

		if (next && s->file.length_bytes && s->reader->document && !s->failed) {
			osp_text_add_bytes(&s->file, "", 1);
			if (!s->file.failed)
				s->reader->document(s->reader->context, s->file.data,
						    s->text + s->at, end - s->at, s->line,
						    !s->delimiters[i].quoted);
			s->file.length_bytes = 0;
		}
		if (next)
			advance(s, next - s->at);
		else
			s->searches++;
	}
	end_line(s);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Returns the column of a comment with only blanks before it; 0: other text comes before. */
static int column_after_blanks(const struct scanner *s)
{
	bool tabs = true;

	for (size_t at = s->line_start; at < s->at; at++) {
		if (s->text[at] != ' ' && s->text[at] != '\t')
			return 0;
		tabs &= s->text[at] == '\t';
	}
	return tabs && s->drops_tabs ? 1 : (int)(s->at - s->line_start) + 1;
}

static void take_comment(struct scanner *s)
{
	const char *start = s->text + s->at;
	const char *end = memchr(start, '\n', s->bytes - s->at);
	size_t length = end ? (size_t)(end - start) : s->bytes - s->at;
	int column = s->reader->comment ? column_after_blanks(s) : 0;

	if (column && s->reader->comment(s->reader->context, start, length, s->line, column))
		s->failed = true;
	advance(s, length);
}

/* Returns how many bytes the brackets of NAME() have, if there is a name before; else 0. */
static size_t function_brackets(const struct scanner *s)
{
	const char *name = s->in_word ? s->word.data
			   : s->count ? s->texts.data + (uintptr_t)s->words[s->count - 1].text
				      : NULL;
	size_t length = s->in_word ? s->word.length_bytes : name ? strlen(name) : 0, ahead = 1;

	if (peek(s, 0) != '(' || !length || s->failed || memchr(name, '=', length))
		return 0;
	while (peek(s, ahead) == ' ' || peek(s, ahead) == '\t')
		ahead++;
	return peek(s, ahead) == ')' ? ahead + 1 : 0;
}

/* Takes ((...)), unless the brackets are two subshells. Returns whether it did. */
static bool take_arithmetic(struct scanner *s)
{
	size_t end = 0;

	if (s->in_word || peek(s, 0) != '(' || peek(s, 1) != '(' || s->arithmetics >= SEARCHES_MAX)
		return false;
	end = find_bracket(s, s->at + 1);
	if (!end || end + 1 >= s->bytes || s->text[end + 1] != ')') {
		s->arithmetics++;
		return false;
	}
	end_command(s);
	say(s, OSP_SHELL_ARRAY);
	say(s, OSP_SHELL_ARRAY);
	take_bytes(s, 2);
	end_word(s);
	if (s->at < end)
		take_bytes(s, end - s->at);
	s->unexpanded = true;
	end_command(s);
	say(s, OSP_SHELL_CLOSE);
	say(s, OSP_SHELL_CLOSE);
	advance(s, 2);
	return true;
}

/* Takes ; & | ( ) and those of two characters. */
static void take_separator(struct scanner *s)
{
	static const struct {
		char first, second;
		enum osp_shell_mark mark;
	} marks[] = {{';', ';', OSP_SHELL_CASE_END}, {';', '&', OSP_SHELL_CASE_END},
		     {'&', '&', OSP_SHELL_AND},	     {'|', '|', OSP_SHELL_OR},
		     {'|', '&', OSP_SHELL_PIPE},     {';', '\0', OSP_SHELL_END},
		     {'&', '\0', OSP_SHELL_END},     {'|', '\0', OSP_SHELL_PIPE},
		     {'(', '\0', OSP_SHELL_OPEN},    {')', '\0', OSP_SHELL_CLOSE}};
	char c = peek(s, 0), next = peek(s, 1), before = s->at ? s->text[s->at - 1] : '\0';
	size_t brackets = function_brackets(s), i = 0;
	bool array = c == '(' && (s->in_word || next == '(' || before == '(');

	s->unexpanded |= s->in_word && c == '('; /* A=(a b) */
	if (brackets) {
		s->count -= !s->in_word;
		s->in_word = false;
		s->word.length_bytes = 0;
	}
	while (marks[i].first != c || (marks[i].second && marks[i].second != next))
		i++;
	if ((s->in_word || s->count) &&
	    (marks[i].mark == OSP_SHELL_PIPE || (c == '&' && next != c)))
		say(s, OSP_SHELL_APART);
	end_command(s);
	s->listed |= marks[i].mark == OSP_SHELL_AND || marks[i].mark == OSP_SHELL_OR;
	say(s, brackets ? OSP_SHELL_FUNCTION : array ? OSP_SHELL_ARRAY : marks[i].mark);
	advance(s, brackets ? brackets : marks[i].second ? 2 : 1);
}

static void take_next(struct scanner *s)
{
	char c = peek(s, 0);

	if (c == '\n') {
		end_command(s);
		say(s, OSP_SHELL_END);
		advance(s, 1);
		pass_documents(s);
	} else if (c == ' ' || c == '\t' || c == '\r') {
		end_word(s);
		advance(s, 1);
	} else if (c == '#' && !s->in_word) {
		take_comment(s);
	} else if (c == '\'') {
		take_single(s);
	} else if (c == '"') {
		take_double(s);
	} else if (c == '$') {
		take_dollar(s);
	} else if (c == '`') {
		take_backquote(s);
	} else if (c == '\\') {
		take_backslash(s);
	} else if (c == '<' || c == '>' || (c == '&' && peek(s, 1) == '>')) {
		take_redirection(s);
	} else if (c && strchr(";&|()", c)) {
		if (!take_arithmetic(s))
			take_separator(s);
	} else {
		take_bytes(s, 1);
	}
}

int osp_shell_read(const char *text, size_t text_bytes, const struct osp_shell_reader *reader)
{
	struct scanner s = {.reader = reader, .text = text, .bytes = text_bytes, .line = 1};

	while (!ended(&s) || (s.depth && !s.failed)) {
		if (s.at < s.bytes)
			take_next(&s);
		else
			end_body(&s);
	}
	end_command(&s);
	osp_text_free(&s.word);
	osp_text_free(&s.texts);
	osp_text_free(&s.file);
	free(s.words);
	return s.failed ? -1 : 0;
}

bool osp_shell_is_foreign(const char *text, size_t bytes)
{
	static const char *const others[] = {"python",	"perl", "ruby", "julia",
					     "Rscript", "node", "uv",	NULL};
	const char *end = bytes ? memchr(text, '\n', bytes) : NULL;
	char line[256];
	size_t length = end ? (size_t)(end - text) : bytes;

	if (length < 3 || length >= sizeof(line) || memcmp(text, "#!", 2) != 0)
		return false;
	memcpy(line, text, length);
	line[length] = '\0';
	for (char *at = line + 2, *word; (word = strtok_r(at, " \t\r", &at));) {
		const char *name = osp_shell_base_name(word);

		for (size_t i = 0; others[i]; i++) {
			if (!strncmp(name, others[i], strlen(others[i])))
				return true;
		}
	}
	return false;
}

int osp_shell_dos_line(const char *text, size_t bytes)
{
	const char *found = memmem(text, bytes, "\r\n", 2);

	return found ? 1 + osp_shell_line_feeds(text, (size_t)(found - text)) : 0;
}

int osp_shell_read_dos(const char *text, size_t bytes, const struct osp_shell_reader *reader)
{
	char *copy = malloc(bytes + 1);
	size_t length = 0;
	int rc;

	if (!copy)
		return -1;
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] != '\r' || i + 1 == bytes || text[i + 1] != '\n')
			copy[length++] = text[i];
	}
	rc = osp_shell_read(copy, length, reader);
	free(copy);
	return rc;
}

const char *osp_shell_substitution(const char *word, size_t word_bytes, size_t *bytes)
{
	struct scanner s = {.text = word, .bytes = word_bytes, .line = 1};
	const char *found = strstr(word, "$(");
	size_t end;

	while (found && found[2] == '(')
		found = strstr(found + 3, "$(");
	if (!found)
		return NULL;
	end = find_bracket(&s, (size_t)(found + 1 - word));
	if (!end)
		return NULL;
	*bytes = (size_t)(word + end - found) - 2;
	return found + 2;
}

bool osp_shell_is_assignment(const char *text, size_t *name_bytes)
{
	size_t i = 0;

	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)text[i]) || text[i] == '_')
		i++;
	*name_bytes = i;
	return text[i] == '=' || (text[i] == '+' && text[i + 1] == '=');
}
