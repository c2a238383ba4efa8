/* Preloaded into a database's server: fsync and fdatasync take longer, and are counted. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The file $SLOW_DISK, which the laboratory writes and reads. */
static struct {
    atomic_uint delay_ms, count;
} *disk;

__attribute__((constructor)) static void share(void) {
    int file = open(getenv("SLOW_DISK"), O_RDWR);
    disk = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
}

static int flush(const char *function, int file) {
    int (*original)(int) = (int (*)(int))dlsym(RTLD_NEXT, function);
    if (disk->delay_ms) {
        usleep(1000 * disk->delay_ms);
        disk->count++;
    }
    return original(file);
}

int fsync(int file) { return flush("fsync", file); }

int fdatasync(int file) { return flush("fdatasync", file); }
