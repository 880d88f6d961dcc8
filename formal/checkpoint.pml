/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checkpoint protocol of a job, for spin. One process makes every step, so that
 * an interleaving of the job's processes is an order of its steps; each step is one
 * act of one of them, and any of them may die between two.
 *
 *   spin -a checkpoint.pml && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000 -w22
 *
 * Sizes: two lanes, each a source subtask and its sink; numbers up to NUMBERS.
 * CONFIRM: the sinks confirm their commits, and only a confirmed checkpoint is restored;
 * a commit in doubt may turn out confirmed at any time, behind a restore too.
 *
 * A mutation breaks one rule, and the model must then fail: ONE_LANE, NOT_EVERY_STATE,
 * SENT_WITHOUT_STATE, NUMBERS_FROM_COMPLETED, NO_RESTORED (with CONFIRM), NO_NEXT, NO_LOCK.
 */
#define LANES 2
#ifndef NUMBERS
#define NUMBERS 3
#endif
#ifndef FAILURES
#define FAILURES LANES /* states that cannot be written, at most */
#endif
#define SIZE (NUMBERS + 2)

/* ---- durable ---- */

bit snapshot[LANES * SIZE];  /* by lane and number */
byte position[LANES * SIZE]; /* how many rows of the lane are before it */
bit acked[LANES * (SIZE + 1)]; /* rows, by lane and place, that the destination acknowledged */
bit completed[SIZE], confirmed[SIZE];
bit has_restored;
byte from, next;
byte carried; /* the greatest number that anything on disk carries */

/* What no process knows, and the rules are held by. */
bit sent[SIZE];     /* a barrier of this number was sent by some run */
bit discarded[SIZE]; /* it is of a run that a restore discarded */

/* ---- volatile: of the attempt, and of an orphan of the one before ---- */

bool lock; /* the attempt's processes hold it */
byte failures = FAILURES;
byte mine; /* which of the two copies is the attempt's */

/* By copy: the next number, the one before, what the lanes were told and passed, what was joined, who lives. */
byte number[2], previous[2], first[2], base[2];
bit tail[2], join[2], mark[2], sink[2 * LANES];
byte states[2]; /* lanes whose state was asked for */
bit any[2];     /* one of them is durable */
byte told[2], joined[2], marked[2];
byte passed[2 * LANES];
bit written[2 * LANES]; /* the rows of the next barrier are acknowledged */

#define AT(l, n) ((l) * SIZE + (n))
#define ROW(l, r) ((l) * (SIZE + 1) + (r))
#define ROWS(c, n) (base[c] + (n) - first[c] + 1) /* rows of a lane before barrier n: one an interval */
#define LIVES(c) (tail[c] || join[c] || mark[c] || sink[(c) * LANES] || sink[(c) * LANES + LANES - 1])

byte i, k, l, r, chosen; /* of the step that is made */
bool all;

#ifdef CONFIRM
#define RESTORABLE(n) confirmed[n]
#else
#define RESTORABLE(n) completed[n]
#endif
#if defined(NO_RESTORED)
#define PASSED_OVER(n) false
#elif defined(NO_NEXT)
#define PASSED_OVER(n) (has_restored && n > from)
#else
#define PASSED_OVER(n) (has_restored && n > from && n < next)
#endif

/* The restore rule: the newest that RESTORED does not pass over. */
inline choose()
{
    chosen = 0;
    i = 1;
    do
    :: i <= NUMBERS ->
        if
        :: RESTORABLE(i) && !PASSED_OVER(i) -> chosen = i
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

/* The next attempt: the restore rule, the number, the RESTORED record, the run's start on disk. */
inline redeploy(c)
{
    choose();
    assert(!discarded[chosen]); /* no restore from a run that a restore discarded */
    l = 0;
    do
    :: l < LANES -> assert(chosen == 0 || snapshot[AT(l, chosen)]); l++
    :: else -> break
    od;
    l = 0;
#ifdef NUMBERS_FROM_COMPLETED
    first[c] = chosen + 1;
#else
    first[c] = carried + 1;
#endif
    if
    :: carried > 0 || has_restored ->
        has_restored = 1;
        from = chosen;
        next = first[c];
        i = from + 1;
        do
        :: i < next && i <= NUMBERS ->
            /* no restore passes over one that could have been restored */
            assert(!RESTORABLE(i) || discarded[i]);
            discarded[i] = 1;
            i++
        :: else -> break
        od;
        i = 0
    :: else
    fi;
    base[c] = (chosen == 0 -> 0 : position[AT(0, chosen)]);
    number[c] = first[c];
    previous[c] = first[c] - 1;
    told[c] = first[c] - 1;
    joined[c] = first[c] - 1;
    marked[c] = first[c] - 1;
    states[c] = 0;
    any[c] = 0;
    tail[c] = 1;
    join[c] = 1;
    mark[c] = 1;
    l = 0;
    do
    :: l < LANES ->
        sink[c * LANES + l] = 1;
        passed[c * LANES + l] = first[c] - 1;
        written[c * LANES + l] = 0;
        l++
    :: else -> break
    od;
    l = 0;
    chosen = 0
}

inline bury(c)
{
    if
    :: !LIVES(c) ->
        number[c] = 0;
        previous[c] = 0;
        first[c] = 0;
        base[c] = 0;
        states[c] = 0;
        any[c] = 0;
        told[c] = 0;
        joined[c] = 0;
        marked[c] = 0;
        l = 0;
        do
        :: l < LANES -> passed[c * LANES + l] = 0; written[c * LANES + l] = 0; l++
        :: else -> break
        od;
        l = 0
    :: else
    fi
}

inline complete(c, n)
{
    l = 0;
    do
    :: l < LANES ->
        assert(snapshot[AT(l, n)]);
        r = 1;
        do
        :: r <= position[AT(l, n)] -> assert(acked[ROW(l, r)]); r++ /* every row back to the beginning */
        :: else -> break
        od;
        l++
    :: else -> break
    od;
    l = 0;
    r = 0;
    assert(!discarded[n]); /* nothing completes behind the restore that discarded it */
    completed[n] = 1
}

/* Every step that a process of copy c can make; one that is not its own is another alternative of the loop. */
#define STEPS(c) \
    :: d_step { tail[c] && states[c] < LANES && number[c] <= NUMBERS -> /* state taken */ \
        snapshot[AT(states[c], number[c])] = 1; \
        position[AT(states[c], number[c])] = ROWS(c, number[c]); \
        carried = (number[c] > carried -> number[c] : carried); \
        any[c] = 1; \
        states[c]++ } \
    :: d_step { tail[c] && states[c] < LANES && number[c] <= NUMBERS && failures > 0 -> /* state failed */ \
        failures--; \
        states[c]++ } \
    :: d_step { tail[c] && states[c] < LANES && number[c] <= NUMBERS && failures > 0 -> /* failed, and its number is there */ \
        failures--; \
        carried = (number[c] > carried -> number[c] : carried); \
        states[c]++ } \
    :: d_step { tail[c] && states[c] == LANES && MAY_SEND(c) -> /* barrier sent */ \
        assert(!sent[number[c]]); /* no number is used twice */ \
        sent[number[c]] = 1; \
        told[c] = number[c]; \
        previous[c] = number[c]; \
        number[c]++; \
        states[c] = 0; \
        any[c] = 0 } \
    :: d_step { tail[c] && states[c] == LANES && !MAY_SEND(c) -> /* nothing carries the number: it is tried again */ \
        states[c] = 0 } \
    LANE_STEPS(c, 0) \
    LANE_STEPS(c, LANES - 1) \
    :: d_step { join[c] && JOINABLE(c) -> joined[c]++ } \
    :: d_step { mark[c] && marked[c] < joined[c] && WHOLE(c) -> /* completed */ \
        marked[c]++; \
        k = marked[c]; \
        complete(c, k); \
        k = 0 } \
    :: d_step { mark[c] && marked[c] < joined[c] && !WHOLE(c) -> marked[c]++ } \
    :: d_step { tail[c] -> tail[c] = 0; DIED(c) } \
    :: d_step { join[c] -> join[c] = 0; DIED(c) } \
    :: d_step { mark[c] -> mark[c] = 0; DIED(c) } \
    :: d_step { sink[(c) * LANES] -> sink[(c) * LANES] = 0; DIED(c) } \
    :: d_step { sink[(c) * LANES + LANES - 1] -> sink[(c) * LANES + LANES - 1] = 0; DIED(c) }

#define LANE_STEPS(c, l_) \
    :: d_step { sink[(c) * LANES + l_] && passed[(c) * LANES + l_] < told[c] && !written[(c) * LANES + l_] -> /* acknowledged */ \
        acked[ROW(l_, ROWS(c, passed[(c) * LANES + l_] + 1))] = 1; \
        written[(c) * LANES + l_] = 1 } \
    :: d_step { sink[(c) * LANES + l_] && written[(c) * LANES + l_] -> /* passed */ \
        passed[(c) * LANES + l_]++; \
        written[(c) * LANES + l_] = 0 }

#ifdef SENT_WITHOUT_STATE
#define MAY_SEND(c) true
#else
#define MAY_SEND(c) any[c]
#endif
#ifdef ONE_LANE
#define JOINABLE(c) (passed[(c) * LANES] > joined[c] || passed[(c) * LANES + LANES - 1] > joined[c])
#else
#define JOINABLE(c) (passed[(c) * LANES] > joined[c] && passed[(c) * LANES + LANES - 1] > joined[c])
#endif
#ifdef NOT_EVERY_STATE
#define WHOLE(c) (snapshot[AT(0, marked[c] + 1)] || snapshot[AT(LANES - 1, marked[c] + 1)])
#else
#define WHOLE(c) (snapshot[AT(0, marked[c] + 1)] && snapshot[AT(LANES - 1, marked[c] + 1)])
#endif
/* Whoever dies last frees the lock. */
#define DIED(c) bury(c)
#ifdef NO_LOCK
#define FREE (!LIVES(1 - mine))
#else
#define FREE (!LIVES(0) && !LIVES(1))
#endif

active proctype job()
{
end:
    do
    STEPS(0)
    STEPS(1)
    :: d_step { FREE && carried < NUMBERS -> mine = 1 - mine; redeploy(mine) }
#ifdef CONFIRM
    :: d_step { completed[1] && !confirmed[1] -> confirmed[1] = 1 }
    :: d_step { completed[2] && !confirmed[2] -> confirmed[2] = 1 }
    :: d_step { NUMBERS > 2 && completed[NUMBERS] && !confirmed[NUMBERS] -> confirmed[NUMBERS] = 1 }
#endif
    od
}
