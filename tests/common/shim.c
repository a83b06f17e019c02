// Faults on purpose in an unmodified program: preloaded, this counts what the program changes below one folder, and
// kills it, or lets the disk be full, at one of these steps.
//
//     cc -shared -fPIC -U_FORTIFY_SOURCE -o shim.so shim.c -ldl
//
// FAULTS_FOLDER  the folder, as a canonical path; what is done elsewhere is no step
// FAULTS_AT      count    only count
//                kill:N   SIGKILL instead of step N, counted from 0; a write puts half of its bytes there first
//                full:N   from step N on, what needs space fails with ENOSPC; of a write that is step N half fits
//                once:N   the same for step N alone
// FAULTS_LOG     a file to which each step adds a line: N, done or spoiled, call, path, and the other of two, with
//                tabs between; / stands for a path elsewhere
//
// Each process counts for itself. System calls that do not go through the C library's functions are not seen, nor are
// those of its own: what is written with stdio.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The C library's own function of this name.
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum mode { OFF, COUNT, KILL, FULL, ONCE };
enum verdict { GO, HALF, FAIL };

static enum mode mode;
static char folder[PATH_MAX];
static long at, steps;
static int log_file = -1;

__attribute__((constructor)) static void begin(void)
{
    static const char *const names[] = {"", "count", "kill:", "full:", "once:"};
    const char *below = getenv("FAULTS_FOLDER"), *what = getenv("FAULTS_AT"), *log = getenv("FAULTS_LOG");
    if (!below || !what || !log || strlen(below) >= sizeof folder)
        return;
    strcpy(folder, below);
    log_file = REAL(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    for (enum mode m = COUNT; m <= ONCE; m++)
        if (strncmp(what, names[m], strlen(names[m])) == 0) {
            at = atol(what + strlen(names[m]));
            mode = m;
        }
}

// Where things are. All three give NULL for what is not below the folder.

static const char *below(const char *path)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == 0) ? path : NULL;
}

static const char *of_file(int fd, char *path)
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = mode == OFF ? -1 : readlink(link, path, PATH_MAX - 1);
    if (n < 0)
        return NULL;
    path[n] = 0;
    return below(path);
}

// The last part of the path need not exist, and is not followed if it is a symbolic link.
static const char *of_path(int dir, const char *name, char *path)
{
    char all[PATH_MAX], parent[PATH_MAX];
    if (mode == OFF || !name)
        return NULL;
    if (dir == AT_FDCWD || name[0] == '/')
        snprintf(all, sizeof all, "%s%s", name[0] == '/' ? "" : "./", name);
    else
        snprintf(all, sizeof all, "/proc/self/fd/%d/%s", dir, name);
    for (size_t n = strlen(all); n > 1 && all[n - 1] == '/'; n--)
        all[n - 1] = 0;
    char *last = strrchr(all, '/');
    *last++ = 0;
    if (!realpath(all[0] ? all : "/", parent))
        return NULL;
    if (snprintf(path, PATH_MAX, "%s/%s", parent[1] ? parent : "", last) >= PATH_MAX)
        return NULL;
    return below(path);
}

// What is to become of step `now`.
static enum verdict judge(long now, int needs_space)
{
    if (mode == COUNT || now < at)
        return GO;
    if (mode == KILL) {
        while (now > at)
            pause(); // another thread is about to kill us all
        return HALF;
    }
    if (!needs_space || (mode == ONCE && now > at))
        return GO;
    return now == at ? HALF : FAIL;
}

// Counts a step at `place` (and `other`). A step without a place is none.
static enum verdict step(const char *call, const char *place, const char *other, int needs_space)
{
    char line[2 * PATH_MAX + 64];
    if (mode == OFF || (!place && !other))
        return GO;
    long now = __atomic_fetch_add(&steps, 1, __ATOMIC_SEQ_CST);
    enum verdict verdict = judge(now, needs_space);
    int n = snprintf(line, sizeof line, "%ld\t%s\t%s\t%s\t%s\n", now, verdict == GO ? "done" : "spoiled", call,
                     place ? place : "", other ? other : "");
    if (REAL(write)(log_file, line, n) != n)
        abort();
    return verdict;
}

// What a call gives that is not to be done, or was done up to `done` bytes.
static ssize_t spoil(ssize_t done)
{
    while (mode == KILL)
        kill(getpid(), SIGKILL);
    if (done > 0)
        return done;
    errno = ENOSPC;
    return -1;
}

// Writes. `half` is the same call for half of the bytes.
#define WRITE(fd, call, whole, half)                                                                                   \
    char path[PATH_MAX];                                                                                               \
    enum verdict verdict = step(call, of_file(fd, path), NULL, 1);                                                     \
    return verdict == GO ? (whole) : spoil(verdict == HALF ? (half) : 0)

// The first half of the bytes of `from`, as pieces in `to`; how many pieces.
static int halve(const struct iovec *from, int count, struct iovec *to)
{
    size_t left = 0;
    int n = 0;
    for (int i = 0; i < count; i++)
        left += from[i].iov_len;
    for (left /= 2; n < count && n < IOV_MAX && left > 0; n++) {
        to[n].iov_base = from[n].iov_base;
        to[n].iov_len = from[n].iov_len < left ? from[n].iov_len : left;
        left -= to[n].iov_len;
    }
    return n;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    WRITE(fd, "write", REAL(write)(fd, bytes, n), REAL(write)(fd, bytes, n / 2));
}
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t to)
{
    WRITE(fd, "pwrite", REAL(pwrite)(fd, bytes, n, to), REAL(pwrite)(fd, bytes, n / 2, to));
}
ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t to)
{
    WRITE(fd, "pwrite", REAL(pwrite64)(fd, bytes, n, to), REAL(pwrite64)(fd, bytes, n / 2, to));
}
ssize_t writev(int fd, const struct iovec *v, int count)
{
    struct iovec h[IOV_MAX];
    WRITE(fd, "writev", REAL(writev)(fd, v, count), REAL(writev)(fd, h, halve(v, count, h)));
}
ssize_t pwritev(int fd, const struct iovec *v, int count, off_t to)
{
    struct iovec h[IOV_MAX];
    WRITE(fd, "pwritev", REAL(pwritev)(fd, v, count, to), REAL(pwritev)(fd, h, halve(v, count, h), to));
}
ssize_t pwritev64(int fd, const struct iovec *v, int count, off64_t to)
{
    struct iovec h[IOV_MAX];
    WRITE(fd, "pwritev", REAL(pwritev64)(fd, v, count, to), REAL(pwritev64)(fd, h, halve(v, count, h), to));
}

// Half of what a copy of `n` bytes would find in the file that it is from.
static size_t half_of(int from, size_t n)
{
    struct stat s;
    return fstat(from, &s) == 0 && S_ISREG(s.st_mode) && (size_t)s.st_size < n ? (size_t)s.st_size / 2 : n / 2;
}
ssize_t copy_file_range(int from, off64_t *a, int to, off64_t *b, size_t n, unsigned flags)
{
    WRITE(to, "copy_file_range", REAL(copy_file_range)(from, a, to, b, n, flags),
          REAL(copy_file_range)(from, a, to, b, half_of(from, n), flags));
}
ssize_t sendfile(int to, int from, off_t *a, size_t n)
{
    WRITE(to, "sendfile", REAL(sendfile)(to, from, a, n), REAL(sendfile)(to, from, a, half_of(from, n)));
}
ssize_t sendfile64(int to, int from, off64_t *a, size_t n)
{
    WRITE(to, "sendfile", REAL(sendfile64)(to, from, a, n), REAL(sendfile64)(to, from, a, half_of(from, n)));
}
ssize_t splice(int from, off64_t *a, int to, off64_t *b, size_t n, unsigned flags)
{
    WRITE(to, "splice", REAL(splice)(from, a, to, b, n, flags), REAL(splice)(from, a, to, b, half_of(from, n), flags));
}

// Everything else is done or not.
#define ON_FILE(fd, call, needs_space, done)                                                                           \
    char path[PATH_MAX];                                                                                               \
    return step(call, of_file(fd, path), NULL, needs_space) == GO ? (done) : (int)spoil(0)
#define ON_PATH(dir, name, call, needs_space, done)                                                                    \
    char path[PATH_MAX];                                                                                               \
    return step(call, of_path(dir, name, path), NULL, needs_space) == GO ? (done) : (int)spoil(0)
// Of two paths, one may be elsewhere: "/".
#define ON_PATHS(dir, name, other_dir, other_name, call, done)                                                         \
    char path[PATH_MAX], other[PATH_MAX];                                                                              \
    const char *from = of_path(dir, name, path), *to = of_path(other_dir, other_name, other);                          \
    const char *elsewhere = from || to ? "/" : NULL;                                                                   \
    return step(call, from ? from : elsewhere, to ? to : elsewhere, 1) == GO ? (done) : (int)spoil(0)

int fsync(int fd) { ON_FILE(fd, "fsync", 1, REAL(fsync)(fd)); }
int fdatasync(int fd) { ON_FILE(fd, "fdatasync", 1, REAL(fdatasync)(fd)); }
int syncfs(int fd) { ON_FILE(fd, "syncfs", 1, REAL(syncfs)(fd)); }

static int grows(int fd, off64_t length)
{
    struct stat s;
    return fstat(fd, &s) == 0 && length > s.st_size;
}
static int path_grows(const char *path, off64_t length)
{
    struct stat s;
    return stat(path, &s) == 0 && length > s.st_size;
}
int ftruncate(int fd, off_t n) { ON_FILE(fd, "ftruncate", grows(fd, n), REAL(ftruncate)(fd, n)); }
int ftruncate64(int fd, off64_t n) { ON_FILE(fd, "ftruncate", grows(fd, n), REAL(ftruncate64)(fd, n)); }
int truncate(const char *p, off_t n) { ON_PATH(AT_FDCWD, p, "truncate", path_grows(p, n), REAL(truncate)(p, n)); }
int truncate64(const char *p, off64_t n) { ON_PATH(AT_FDCWD, p, "truncate", path_grows(p, n), REAL(truncate64)(p, n)); }

int fallocate(int fd, int how, off_t a, off_t n) { ON_FILE(fd, "fallocate", 1, REAL(fallocate)(fd, how, a, n)); }
int fallocate64(int fd, int how, off64_t a, off64_t n)
{
    ON_FILE(fd, "fallocate", 1, REAL(fallocate64)(fd, how, a, n));
}
// These return the error.
static int room(int fd)
{
    ON_FILE(fd, "posix_fallocate", 1, 0);
}
int posix_fallocate(int fd, off_t a, off_t n) { return room(fd) ? ENOSPC : REAL(posix_fallocate)(fd, a, n); }
int posix_fallocate64(int fd, off64_t a, off64_t n) { return room(fd) ? ENOSPC : REAL(posix_fallocate64)(fd, a, n); }

static int is_new(int dir, const char *p) { return faccessat(dir, p, F_OK, AT_SYMLINK_NOFOLLOW) != 0; }
int mkdir(const char *p, mode_t m) { ON_PATH(AT_FDCWD, p, "mkdir", is_new(AT_FDCWD, p), REAL(mkdir)(p, m)); }
int mkdirat(int d, const char *p, mode_t m) { ON_PATH(d, p, "mkdir", is_new(d, p), REAL(mkdirat)(d, p, m)); }
int rmdir(const char *p) { ON_PATH(AT_FDCWD, p, "rmdir", 0, REAL(rmdir)(p)); }
int unlink(const char *p) { ON_PATH(AT_FDCWD, p, "unlink", 0, REAL(unlink)(p)); }
int unlinkat(int d, const char *p, int how) { ON_PATH(d, p, "unlink", 0, REAL(unlinkat)(d, p, how)); }
int symlink(const char *to, const char *p) { ON_PATH(AT_FDCWD, p, "symlink", 1, REAL(symlink)(to, p)); }
int symlinkat(const char *to, int d, const char *p) { ON_PATH(d, p, "symlink", 1, REAL(symlinkat)(to, d, p)); }
int link(const char *a, const char *b) { ON_PATHS(AT_FDCWD, a, AT_FDCWD, b, "link", REAL(link)(a, b)); }
int linkat(int d, const char *a, int e, const char *b, int how)
{
    ON_PATHS(d, a, e, b, "link", REAL(linkat)(d, a, e, b, how));
}
int rename(const char *a, const char *b) { ON_PATHS(AT_FDCWD, a, AT_FDCWD, b, "rename", REAL(rename)(a, b)); }
int renameat(int d, const char *a, int e, const char *b) { ON_PATHS(d, a, e, b, "rename", REAL(renameat)(d, a, e, b)); }
int renameat2(int d, const char *a, int e, const char *b, unsigned how)
{
    ON_PATHS(d, a, e, b, "rename", REAL(renameat2)(d, a, e, b, how));
}

// Opening is a step where it may make a file or empty one; it needs space where there is none of the name.
static int makes(int how) { return how & O_CREAT || (how & O_TMPFILE) == O_TMPFILE; }
#define OPEN(dir, name, how, done)                                                                                     \
    mode_t rights = 0;                                                                                                 \
    if (makes(how)) {                                                                                                  \
        va_list list;                                                                                                  \
        va_start(list, how);                                                                                           \
        rights = va_arg(list, mode_t);                                                                                 \
        va_end(list);                                                                                                  \
    }                                                                                                                  \
    if (!makes(how) && !(how & O_TRUNC))                                                                               \
        return done;                                                                                                   \
    ON_PATH(dir, name, how & O_EXCL ? "create" : "open", makes(how) && is_new(dir, name), done)

int open(const char *p, int how, ...) { OPEN(AT_FDCWD, p, how, REAL(open)(p, how, rights)); }
int open64(const char *p, int how, ...) { OPEN(AT_FDCWD, p, how, REAL(open64)(p, how, rights)); }
int openat(int d, const char *p, int how, ...) { OPEN(d, p, how, REAL(openat)(d, p, how, rights)); }
int openat64(int d, const char *p, int how, ...) { OPEN(d, p, how, REAL(openat64)(d, p, how, rights)); }
int creat(const char *p, mode_t rights) { return open(p, O_WRONLY | O_CREAT | O_TRUNC, rights); }
int creat64(const char *p, mode_t rights) { return open64(p, O_WRONLY | O_CREAT | O_TRUNC, rights); }
