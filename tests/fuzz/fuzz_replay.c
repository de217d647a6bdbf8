/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over the files of its corpus, in every build: what a fuzzer once found stays found.
 *
 * usage: REPLAY FOLDER_OR_FILE...   Prints how many inputs were run; fails when there were none.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz_target.h"

#define FILE_MAX (1u << 20)

/* From a buffer of exactly the file's size, as libFuzzer does, so that a sanitizer sees a read past it. */
static int run_file(const char *path)
{
    struct stat st;
    FILE *in = fopen(path, "rb");
    if (!in || fstat(fileno(in), &st) || st.st_size > FILE_MAX) {
        fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
        if (in)
            fclose(in);
        return -1;
    }
    size_t size = (size_t)st.st_size;
    uint8_t *data = malloc(size ? size : 1);
    int result = data && fread(data, 1, size, in) == size ? LLVMFuzzerTestOneInput(data, size) : -1;
    free(data);
    fclose(in);
    return result;
}

static int run_folder(const char *path, DIR *folder, unsigned *count)
{
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        char name[4096];
        int length = snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.')
            continue;
        if (length < 0 || (size_t)length >= sizeof(name) || run_file(name))
            return -1;
        (*count)++;
    }
    return 0;
}

int main(int argc, char **argv)
{
    unsigned count = 0;
    int failed = 0;
    for (int i = 1; i < argc && !failed; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder) {
            failed = run_folder(argv[i], folder, &count);
            closedir(folder);
        } else {
            failed = run_file(argv[i]);
            count++;
        }
    }
    printf("%u inputs\n", count);
    return failed || !count;
}
