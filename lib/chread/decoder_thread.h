/* SPDX-License-Identifier: Apache-2.0 */
/* Answers decoded by a thread of their own, so that the next statement runs while the rows of the one before go out. */
#ifndef OWED_CHREAD_DECODER_THREAD_H
#define OWED_CHREAD_DECODER_THREAD_H

#include "chread/chread.h"

struct decoder_thread;

/* Takes the decoder, whose row function is then called on the thread; without a thread all is done by the caller. */
struct decoder_thread *decoder_thread_start(struct chread_decoder *d);
/* What the next answer's bytes are to be taken as. */
void decoder_thread_ask(struct decoder_thread *b, const struct chread_asked *asked);
/* A piece of the answer at hand, copied. -1 once anything before it failed: nothing more is wanted. */
int decoder_thread_put(struct decoder_thread *b, const char *p, size_t n);
/* The answer at hand is through, and the server counted so many rows in it. -1 as decoder_thread_put. */
int decoder_thread_end(struct decoder_thread *b, uint64_t rows);
/* Wait until all that was put is decoded, and end the thread. 0, or -1 with *err as chread_decode, or ERR_TROUBLE for
 * an answer with other than the rows that the server counted. *rows: of all answers, without those passed over. */
int decoder_thread_finish(struct decoder_thread *b, uint64_t *rows, uint64_t *passed_over, struct err *err);

#endif
