/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output.c - how the programs answer: exit status, errors, progress, JSON */
#include "host/output.h"

#include <fcntl.h>
#include <langinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "host/files.h"
#include "lib/base/clean.h"

int osp_say_no_memory(void)
{
	fputs("onespine: out of memory\n", stderr);
	return OSP_EXIT_UNABLE;
}

int osp_say_error(const struct osp_error *error)
{
	char buffer[sizeof(*error) + 32];

	osp_progress_end();
	if (!*error->text)
		return osp_say_no_memory();
	fprintf(stderr, "onespine: %s\n", osp_error_format(error, buffer, sizeof(buffer)));
	return OSP_EXIT_UNABLE;
}

void osp_say_warning(const char *format, ...)
{
	char words[4 * OSP_ERROR_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	fprintf(stderr, "onespine: warning: %s\n", osp_clean(words));
}

/* --- progress --------------------------------------------------------------------------------- */

static const char *progress_what;
static volatile sig_atomic_t progress_shown;

static void show_progress(int signal_number)
{
	ssize_t written;

	(void)signal_number;
	progress_shown = 1;
	written = write(STDERR_FILENO, progress_what, strlen(progress_what));
	written += write(STDERR_FILENO, "...", 3);
	(void)written;
}

static void set_alarm(int seconds)
{
	struct itimerval timer = {.it_value.tv_sec = seconds};

	setitimer(ITIMER_REAL, &timer, NULL);
}

void osp_progress_begin(const char *what)
{
	struct sigaction action = {.sa_handler = show_progress, .sa_flags = SA_RESTART};

	if (!isatty(STDERR_FILENO))
		return;
	progress_what = what;
	sigaction(SIGALRM, &action, NULL);
	set_alarm(2);
}

void osp_progress_end(void)
{
	if (!progress_what)
		return;
	set_alarm(0);
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = 0;
	progress_what = NULL;
}

/* --- output ----------------------------------------------------------------------------------- */

int osp_print_json(json_t *value, int status)
{
	int failed = !value || json_dumpf(value, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER) < 0;

	json_decref(value);
	if (failed)
		return ferror(stdout) ? status : osp_say_no_memory(); /* main() reports the file */
	putchar('\n');
	return status;
}

int osp_print_text(struct osp_text *text, int status)
{
	char *string = osp_text_take(text);

	if (!string)
		return osp_say_no_memory();
	fputs(string, stdout);
	free(string);
	return status;
}

int osp_save_text(struct osp_text *text, const char *path)
{
	struct osp_error error = {.text = ""};
	int status = OSP_EXIT_YES;

	if (text->failed)
		status = osp_say_no_memory();
	else if (osp_write_output(path, text->data, text->length_bytes, &error) < 0)
		status = osp_say_error(&error);
	osp_text_free(text);
	return status;
}

void osp_output_begin(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* those below are open, so this is the number that open() takes */
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null",
				    (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	}
}

void osp_output_end(void)
{
	int nothing;

	if (fflush(stdout))
		return; /* main() reports the file */
	nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nothing < 0)
		return;
	(void)dup2(nothing, STDOUT_FILENO);
	close(nothing);
}

json_t *osp_json_string(const char *string)
{
	json_t *value;
	char *clean;

	if (!string)
		return json_null();
	value = json_string(string);
	if (value)
		return value;
	clean = strdup(string);
	if (!clean)
		return NULL;
	value = json_string(osp_clean(clean));
	free(clean);
	return value;
}

bool osp_output_colours(void)
{
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	if (no_color && *no_color)
		return false;
	return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

bool osp_output_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

const char *osp_format_time(int64_t time_s, char *buffer, size_t buffer_bytes)
{
	time_t when = (time_t)time_s;
	struct tm parts;

	if (time_s <= 0 || !localtime_r(&when, &parts) ||
	    !strftime(buffer, buffer_bytes, "%Y-%m-%dT%H:%M:%S", &parts))
		snprintf(buffer, buffer_bytes, "unknown");
	return buffer;
}

json_t *osp_json_time(int64_t time_s)
{
	char when[32];

	return json_string(osp_format_time(time_s, when, sizeof(when)));
}
