/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checkpoint protocol of a job, for spin. One process makes every step, so that
 * an interleaving of the job's processes is an order of its steps; each step is one
 * act of one of them, and any of them may die between two.
 *
 *   spin -a checkpoint.pml && gcc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000 -w22
 *
 * Sizes: two lanes, each a source subtask and its sink; numbers up to NUMBERS.
 * WINDOWS: behind the join stand as many windows, each a participant that has no lane, and
 * one sink.
 * CONFIRM: the sinks confirm their commits, and only a confirmed checkpoint is restored;
 * a commit in doubt may turn out confirmed at any time, behind a restore too.
 *
 * A mutation breaks one rule, and the model must then fail: ONE_LANE, NOT_EVERY_STATE,
 * SENT_WITHOUT_STATE, NUMBERS_FROM_COMPLETED, NO_RESTORED (with CONFIRM), NO_NEXT, NO_LOCK,
 * SOURCE_ALONE (with WINDOWS).
 *
 * tests/oracle.pml lets only happen what the traces of a job tell, and searches whether all of it can; it
 * includes this with TRACE, its own sizes, and what makes the job's processes.
 */
#ifndef LANES
#define LANES 2
#endif
#ifndef WINDOWS
#define WINDOWS 0
#endif
#ifndef NUMBERS
#define NUMBERS 3
#endif
#ifndef FAILURES
#define FAILURES LANES /* states that cannot be written, at most */
#endif
#define SIZE (NUMBERS + 2)
#define PARTICIPANTS (LANES + WINDOWS)

/* ---- a job's processes: the source, then each behind the one that its barriers come from, the mark last ---- */

#define SOURCE 0
#define TEE 1
#define MAP 2
#define SINK 3
#define JOIN 4
#define WINDOW 5
#define MARK 6

#ifndef TRACE
#define COPIES 2
#define PROCESSES 5 /* the source; two sinks and the join, or the join, a window and a sink; the mark */
#define EACH(STEP, c) STEP(c, 1) STEP(c, 2) STEP(c, 3) /* of all but the source and the mark */
#define THE_MARK 4
/* Whether a process did this, and that it did. */
#define DID(p, what, n, more) true
#define TOLD(c, p) skip
#endif

/* None of these changes once the processes are arranged. */
hidden byte processes, lanes, participants, sinks;
hidden byte kind[PROCESSES], before[PROCESSES];
hidden byte place[PROCESSES]; /* a window's among the participants, a sink's among the sinks */
hidden byte last[LANES];      /* of each lane, what the join has it from */

/* ---- durable ---- */

bit snapshot[PARTICIPANTS * SIZE]; /* by participant and number */
byte position[SIZE];               /* how many rows of each sink are before it */
bit acked[LANES * (SIZE + 1)];     /* rows, by sink and place, that the destination acknowledged */
bit completed[SIZE], confirmed[SIZE];
bit has_restored;
byte from, next;
byte carried; /* the greatest number that anything on disk carries */

/* What no process knows, and the rules are held by. */
bit sent[SIZE];      /* a barrier of this number was sent by some run */
bit discarded[SIZE]; /* it is of a run that a restore discarded */

/* ---- volatile: of the attempt, and of an orphan of the one before ---- */

byte failures = FAILURES;
byte mine; /* which of the two copies is the attempt's */

/* By copy: what was planned and is not yet on disk; the first number, and the rows before it. */
bit planned[COPIES], fresh[COPIES];
byte restore[COPIES], first[COPIES], base[COPIES];
bit begun[COPIES];   /* the source has taken over */
byte states[COPIES]; /* lanes whose state was asked for */
bit any[COPIES];     /* one of them is durable */
byte living[COPIES];

/* By copy and process: the last barrier that it passed on, and how far it is with the next one. */
bit lives[COPIES * PROCESSES];
byte passed[COPIES * PROCESSES], phase[COPIES * PROCESSES];

byte i, r, chosen; /* of the step that is made */

#define AT(i, n) ((i) * SIZE + (n))
#define ROW(i, r) ((i) * (SIZE + 1) + (r))
#define ROWS(c, n) (base[c] + (n) - first[c] + 1) /* a sink's rows before barrier n: one an interval */
#define P(c, p) ((c) * PROCESSES + (p))
#define NEXT(c, p) (passed[P(c, p)] + 1)

/* ---- the rules ---- */

#ifdef CONFIRM
#define RESTORABLE(n) confirmed[n]
#elif !defined(RESTORABLE)
#define RESTORABLE(n) completed[n]
#endif
#if defined(NO_RESTORED)
#define PASSED_OVER(n) false
#elif defined(NO_NEXT)
#define PASSED_OVER(n) (has_restored && n > from)
#else
#define PASSED_OVER(n) (has_restored && n > from && n < next)
#endif

#ifdef SENT_WITHOUT_STATE
#define MAY_SEND(c) true
#else
#define MAY_SEND(c) any[c]
#endif

/* The next barrier has come to a process: the one before it passed it on; to the join, every lane. */
#define JOINED(c, p, l) (passed[P(c, last[l])] > passed[P(c, p)])
#if defined(ONE_LANE)
#define EVERY_LANE(c, p) (JOINED(c, p, 0) || JOINED(c, p, LANES - 1))
#elif LANES > 2
#define EVERY_LANE(c, p) (JOINED(c, p, 0) && JOINED(c, p, 1) && JOINED(c, p, 2))
#else
#define EVERY_LANE(c, p) (JOINED(c, p, 0) && JOINED(c, p, LANES - 1))
#endif
#define COMES(c, p) (kind[p] == JOIN -> EVERY_LANE(c, p) : passed[P(c, before[p])] > passed[P(c, p)])

#ifdef SOURCE_ALONE
#define HAS(i, n) (i >= lanes || snapshot[AT(i, n)])
#else
#define HAS(i, n) (i >= participants || snapshot[AT(i, n)])
#endif
#if defined(NOT_EVERY_STATE)
#define WHOLE(n) (snapshot[AT(0, n)] || snapshot[AT(LANES - 1, n)])
#elif PARTICIPANTS > 3
#define WHOLE(n) (HAS(0, n) && HAS(1, n) && HAS(2, n) && HAS(3, n) && HAS(4, n))
#elif PARTICIPANTS > 2
#define WHOLE(n) (HAS(0, n) && HAS(1, n) && HAS(2, n))
#else
#define WHOLE(n) (HAS(0, n) && HAS(PARTICIPANTS - 1, n))
#endif

/* ---- the parts of a step ---- */

inline carry(n)
{
    carried = (n > carried -> n : carried)
}

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

/* The next attempt: what it restores, and its numbers. */
inline plan(c)
{
    choose();
    assert(!discarded[chosen]); /* no restore from a run that a restore discarded */
    i = 0;
    do
    :: i < participants -> assert(chosen == 0 || snapshot[AT(i, chosen)]); i++
    :: else -> break
    od;
#ifdef NUMBERS_FROM_COMPLETED
    first[c] = chosen + 1;
#else
    first[c] = carried + 1;
#endif
    i = chosen + 1;
    do
    :: i < first[c] && i <= NUMBERS -> assert(!RESTORABLE(i) || discarded[i]); i++ /* none passes over one that could be restored */
    :: else -> break
    od;
    i = 0;
    planned[c] = 1;
    fresh[c] = carried == 0 && !has_restored;
    restore[c] = chosen;
    base[c] = (chosen == 0 -> 0 : position[chosen]);
    chosen = 0
}

/* The restore is on disk, where anything there names the job; and the run begins. */
inline redeploy(c)
{
    if
    :: !fresh[c] ->
        has_restored = 1;
        from = restore[c];
        next = first[c];
        i = from + 1;
        do
        :: i < next && i <= NUMBERS -> discarded[i] = 1; i++
        :: else -> break
        od
    :: else
    fi;
    planned[c] = 0;
    fresh[c] = 0;
    restore[c] = 0;
    living[c] = processes;
    i = 0;
    do
    :: i < processes ->
        lives[P(c, i)] = 1;
        passed[P(c, i)] = first[c] - 1;
        i++
    :: else -> break
    od;
    i = 0
}

/* Nothing that a copy knew is left once all of it is dead; the lock is free then. */
inline bury(c)
{
    if
    :: living[c] == 0 ->
        planned[c] = 0;
        fresh[c] = 0;
        restore[c] = 0;
        first[c] = 0;
        base[c] = 0;
        begun[c] = 0;
        states[c] = 0;
        any[c] = 0;
        i = 0;
        do
        :: i < processes ->
            lives[P(c, i)] = 0;
            passed[P(c, i)] = 0;
            phase[P(c, i)] = 0;
            i++
        :: else -> break
        od;
        i = 0
    :: else
    fi
}

inline complete(n)
{
    i = 0;
    do
    :: i < participants -> assert(snapshot[AT(i, n)]); i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < sinks ->
        r = 1;
        do
        :: r <= position[n] -> assert(acked[ROW(i, r)]); r++ /* every row back to the beginning */
        :: else -> break
        od;
        i++
    :: else -> break
    od;
    i = 0;
    r = 0;
    assert(!discarded[n]); /* nothing completes behind the restore that discarded it */
    completed[n] = 1
}

/* ---- the steps ---- */

#define PLAN PROCESSES /* who plans: no process of the run */
#define PREVIOUS(c) (passed[P(c, 0)] < first[c] -> 0 : passed[P(c, 0)])
#define FROM (has_restored -> from : 0)
#define STARTS(c) (lives[P(c, 0)] && !begun[c])
#define ASKS(c) (begun[c] && states[c] < lanes && passed[P(c, 0)] < NUMBERS)
#define ASKED(c) (lives[P(c, 0)] && states[c] == lanes)
#define READY(c, p, k, f) (lives[P(c, p)] && kind[p] == k && phase[P(c, p)] == f && COMES(c, p))

/* Every step that a process of copy c can make; one that is not its own is another alternative of the loop. */
#define STEPS(c) \
    :: d_step { planned[c] && fresh[c] -> redeploy(c) } \
    :: d_step { planned[c] && !fresh[c] && DID(PLAN, REDEPLOYED, first[c], restore[c]) -> redeploy(c); TOLD(c, PLAN) } \
    :: d_step { STARTS(c) && DID(0, RESTORED, first[c], FROM) -> begun[c] = 1; carry(first[c]); TOLD(c, 0) } \
    :: d_step { STARTS(c) && failures > 0 && DID(0, RESTORED_NOT, first[c], FROM) -> \
        failures--; \
        begun[c] = 1; \
        TOLD(c, 0) } \
    :: d_step { STARTS(c) && failures > 0 && DID(0, RESTORED_NOT, first[c], FROM) -> /* its number is there all the same */ \
        failures--; \
        begun[c] = 1; \
        carry(first[c]); \
        TOLD(c, 0) } \
    :: d_step { ASKS(c) && DID(0, STATE, NEXT(c, 0), states[c]) -> \
        snapshot[AT(states[c], NEXT(c, 0))] = 1; \
        position[NEXT(c, 0)] = ROWS(c, NEXT(c, 0)); \
        carry(NEXT(c, 0)); \
        any[c] = 1; \
        states[c]++; \
        TOLD(c, 0) } \
    :: d_step { ASKS(c) && failures > 0 && DID(0, STATE_NOT, NEXT(c, 0), states[c]) -> \
        failures--; \
        states[c]++; \
        TOLD(c, 0) } \
    :: d_step { ASKS(c) && failures > 0 && DID(0, STATE_NOT, NEXT(c, 0), states[c]) -> /* its number is there all the same */ \
        failures--; \
        carry(NEXT(c, 0)); \
        states[c]++; \
        TOLD(c, 0) } \
    :: d_step { ASKED(c) && MAY_SEND(c) && DID(0, BARRIER, NEXT(c, 0), PREVIOUS(c)) -> \
        assert(!sent[NEXT(c, 0)]); /* no number is used twice */ \
        passed[P(c, 0)]++; \
        sent[passed[P(c, 0)]] = 1; \
        states[c] = 0; \
        any[c] = 0; \
        TOLD(c, 0) } \
    :: d_step { ASKED(c) && !MAY_SEND(c) -> states[c] = 0 } /* nothing carries the number: it is tried again */ \
    EACH(PASSING, c) \
    MARKING(c, THE_MARK)

#define PASSING(c, p) \
    :: d_step { READY(c, p, SINK, 0) && DID(p, ACKNOWLEDGED, NEXT(c, p), 0) -> \
        acked[ROW(place[p], ROWS(c, NEXT(c, p)))] = 1; \
        phase[P(c, p)] = 1; \
        TOLD(c, p) } \
    :: d_step { READY(c, p, WINDOW, 0) && DID(p, STATE, NEXT(c, p), place[p]) -> \
        snapshot[AT(place[p], NEXT(c, p))] = 1; \
        phase[P(c, p)] = 1; \
        TOLD(c, p) } \
    :: d_step { READY(c, p, WINDOW, 0) && failures > 0 && DID(p, STATE_NOT, NEXT(c, p), place[p]) -> \
        failures--; \
        phase[P(c, p)] = 1; \
        TOLD(c, p) } \
    :: d_step { READY(c, p, kind[p], ACTS(p)) && kind[p] != MARK && DID(p, PASSED, NEXT(c, p), 0) -> \
        passed[P(c, p)]++; \
        phase[P(c, p)] = 0; \
        TOLD(c, p) }

#define MARKING(c, p) \
    :: d_step { READY(c, p, MARK, 0) && WHOLE(NEXT(c, p)) && DID(p, COMPLETED, NEXT(c, p), 0) -> \
        passed[P(c, p)]++; \
        complete(passed[P(c, p)]); \
        TOLD(c, p) } \
    :: d_step { READY(c, p, MARK, 0) && !WHOLE(NEXT(c, p)) -> passed[P(c, p)]++ }

#ifndef TRACE
#define ACTS(p) (kind[p] == SINK || kind[p] == WINDOW -> 1 : 0) /* before it passes a barrier on */
#define DEATHS(c) \
    :: atomic { \
        if \
        :: d_step { planned[c] -> planned[c] = 0 } \
        DEATH(c, 0) \
        EACH(DEATH, c) \
        DEATH(c, THE_MARK) \
        fi; \
        d_step { bury(c) } }
#define DEATH(c, p) :: d_step { lives[P(c, p)] -> forget(c, p); lives[P(c, p)] = 0; living[c]-- }
#ifdef NO_LOCK
#define FREE (living[1 - mine] == 0 && !planned[0] && !planned[1])
#else
#define FREE (living[0] == 0 && living[1] == 0 && !planned[0] && !planned[1])
#endif

/* What only the process itself acts on. */
inline forget(c, p)
{
    phase[P(c, p)] = 0;
    if
    :: kind[p] == SOURCE -> begun[c] = 0; states[c] = 0; any[c] = 0
    :: kind[p] == MARK -> passed[P(c, p)] = 0
    :: else
    fi
}

inline put(p, k, b, n)
{
    kind[p] = k;
    before[p] = b;
    place[p] = n
}

inline arrange()
{
    processes = PROCESSES;
    lanes = LANES;
    participants = PARTICIPANTS;
#if WINDOWS > 0
    sinks = 1;
    put(1, JOIN, 0, 0);
    put(2, WINDOW, 1, LANES);
    put(3, SINK, 2, 0);
#else
    sinks = LANES;
    put(1, SINK, 0, 0);
    put(2, SINK, 0, 1);
    put(3, JOIN, 0, 0);
    last[0] = 1;
    last[1] = 2;
#endif
    put(THE_MARK, MARK, 3, 0)
}

active proctype job()
{
    d_step { arrange() };
end:
    do
    STEPS(0)
    STEPS(1)
    DEATHS(0)
    DEATHS(1)
    :: d_step { FREE && carried < NUMBERS -> mine = 1 - mine; plan(mine) }
#ifdef CONFIRM
    :: d_step { completed[1] && !confirmed[1] -> confirmed[1] = 1 }
    :: d_step { completed[2] && !confirmed[2] -> confirmed[2] = 1 }
    :: d_step { NUMBERS > 2 && completed[NUMBERS] && !confirmed[NUMBERS] -> confirmed[NUMBERS] = 1 }
#endif
    od
}
#endif
