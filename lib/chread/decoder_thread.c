/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of pieces between the connection and the decoder. What an answer is worth is found in the order it came. */
#include "chread/decoder_thread.h"

#include <pthread.h>
#include <stdlib.h>

#define PIECE ((size_t)128 << 10)
#define PIECES 8

struct piece {
    struct buf bytes;
    struct chread_asked asked; /* what the bytes answer */
    bool begin, end;           /* of an answer */
    uint64_t rows;             /* then: as the server counted them */
};

struct decoder_thread {
    struct chread_decoder *d;
    bool thread;
    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct piece piece[PIECES];
    size_t filled, done; /* pieces so far */
    bool closing, failed;
    struct err err;
    uint64_t rows, passed_over;
};

/* An answer is whole only where the server's count is that of the rows that came. */
static int check_end(const struct decoder_thread *b, const struct piece *p, struct err *err)
{
    uint64_t came = chread_decoded(b->d);
    if (chread_decode_end(b->d, err) != 0)
        return -1;
    if (came != p->rows)
        return err_set(err, ERR_TROUBLE, "the server counted %" PRIu64 " rows and %" PRIu64 " came", p->rows, came);
    return 0;
}

static int decode_piece(struct decoder_thread *b, struct piece *p, struct err *err)
{
    if (p->begin)
        chread_decoder_ask(b->d, &p->asked);
    uint64_t before = chread_decoded(b->d), over = chread_passed_over(b->d);
    int rc = p->bytes.len > 0 ? chread_decode(b->d, p->bytes.p, p->bytes.len, err) : 0;
    over = chread_passed_over(b->d) - over;
    b->rows += chread_decoded(b->d) - before - over;
    b->passed_over += over;
    if (rc == 0 && p->end) {
        rc = check_end(b, p, err);
        chread_decoder_reset(b->d);
    }
    return rc;
}

static void *work(void *arg)
{
    struct decoder_thread *b = arg;
    pthread_mutex_lock(&b->lock);
    for (;;) {
        while (b->filled == b->done && !b->closing)
            pthread_cond_wait(&b->changed, &b->lock);
        if (b->filled == b->done)
            break;
        struct piece *p = &b->piece[b->done % PIECES];
        bool failed = b->failed;
        pthread_mutex_unlock(&b->lock);
        struct err err = ERR_INIT;
        int rc = failed ? 0 : decode_piece(b, p, &err);
        pthread_mutex_lock(&b->lock);
        if (rc != 0) {
            b->failed = true;
            b->err = err;
        }
        b->done++;
        pthread_cond_signal(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

struct decoder_thread *decoder_thread_start(struct chread_decoder *d)
{
    struct decoder_thread *b = xcalloc(1, sizeof *b);
    b->d = d;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    b->thread = pthread_create(&b->worker, NULL, work, b) == 0;
    return b;
}

/* The piece being filled, with room: it is the caller's until it is given on. */
static struct piece *at_hand(struct decoder_thread *b)
{
    return &b->piece[b->filled % PIECES];
}

static int give_on(struct decoder_thread *b)
{
    if (!b->thread) {
        b->failed = b->failed || decode_piece(b, at_hand(b), &b->err) != 0;
    } else {
        pthread_mutex_lock(&b->lock);
        b->filled++;
        pthread_cond_signal(&b->changed);
        while (b->filled - b->done == PIECES)
            pthread_cond_wait(&b->changed, &b->lock);
        pthread_mutex_unlock(&b->lock);
    }
    struct piece *next = at_hand(b);
    buf_reset(&next->bytes);
    next->begin = next->end = false;
    pthread_mutex_lock(&b->lock);
    bool failed = b->failed;
    pthread_mutex_unlock(&b->lock);
    return failed ? -1 : 0;
}

void decoder_thread_ask(struct decoder_thread *b, const struct chread_asked *asked)
{
    at_hand(b)->asked = *asked;
    at_hand(b)->begin = true;
}

int decoder_thread_put(struct decoder_thread *b, const char *p, size_t n)
{
    struct piece *at = at_hand(b);
    buf_add(&at->bytes, p, n);
    return at->bytes.len >= PIECE ? give_on(b) : 0;
}

int decoder_thread_end(struct decoder_thread *b, uint64_t rows)
{
    at_hand(b)->end = true;
    at_hand(b)->rows = rows;
    return give_on(b);
}

int decoder_thread_finish(struct decoder_thread *b, uint64_t *rows, uint64_t *passed_over, struct err *err)
{
    give_on(b);
    if (b->thread) {
        pthread_mutex_lock(&b->lock);
        b->closing = true;
        pthread_cond_signal(&b->changed);
        pthread_mutex_unlock(&b->lock);
        pthread_join(b->worker, NULL);
    }
    int rc = b->failed ? -1 : 0;
    *rows = b->rows;
    *passed_over = b->passed_over;
    *err = b->err;
    for (size_t i = 0; i < PIECES; i++)
        buf_free(&b->piece[i].bytes);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->changed);
    free(b);
    return rc;
}
