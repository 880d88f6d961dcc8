/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of the checkpoint protocol as the judge of traces: a step is made where the next event of its process
 * tells of it, or, once, where the process was killed and has no more; and the search, over every order of these and
 * whatever they left on disk, accepts them where all events were told. Standard input (runs.py) has the job's
 * processes and their events, so that one verifier judges any number of jobs.
 *
 * No step is a death: a process that has no more to tell makes none.
 */
#define TRACE
#define LANES 3
#define WINDOWS 2
#define NUMBERS 14
#define FAILURES 255
#define PROCESSES 24
#define COPIES 1
#define RUNS 8
#define EVENTS 4000
#define NAMED (PROCESSES + 1) /* with the one that plans */

/* One of them is chosen for each step; with the source, who plans. */
#define EACH(STEP, c) STEP(c, k)
#define THE_MARK (processes - 1)

/* ---- events; runs.py has the same numbers ---- */

#define REDEPLOYED 1
#define RESTORED 2
#define RESTORED_NOT 3
#define STATE 4
#define STATE_NOT 5
#define BARRIER 6
#define ACKNOWLEDGED 7
#define EVIDENCE 8
#define PASSED 9
#define COMPLETED 10
#define CONFIRMED 11
#define ENDED 12
#define TROUBLE 13
#define OTHER 14 /* what no step tells of */
#define ABSENT 15 /* there is no such process */

hidden byte confirming, runs;
hidden byte plan_restore[RUNS], plan_first[RUNS], plan_fresh[RUNS];
hidden short total[RUNS], begins[RUNS * NAMED], has[RUNS * NAMED];
hidden byte event_kind[EVENTS], event_number[EVENTS], event_more[EVENTS];

byte turn;        /* from 1; 0 before the first */
short left;       /* events of the run that were not told */
byte at[NAMED];   /* by process: events that were */
bit spent[NAMED]; /* it did the act that it has no event of */
bit ended[NAMED]; /* by itself, and whole */
bit refused;      /* the plan is another */
byte k;           /* whose step it is */

#define OWN(p) ((turn - 1) * NAMED + (p))
#define NOW(p) (begins[OWN(p)] + at[p])
#define SILENT(p) (at[p] == has[OWN(p)] && !ended[p] && !spent[p])
#define SAYS(p, what, n, more) \
    (at[p] < has[OWN(p)] && event_kind[NOW(p)] == what && event_number[NOW(p)] == (n) && event_more[NOW(p)] == (more))
#define DID(p, what, n, more) (k == (p) % PROCESSES && (SAYS(p, what, n, more) || SILENT(p)))
#define TOLD(c, p) told(c, p)
#define ACTS(p) (kind[p] == SINK -> 2 : (kind[p] == TEE || kind[p] == WINDOW -> 1 : 0))
#define RESTORABLE(n) (confirming -> confirmed[n] : completed[n])

#include "../formal/checkpoint.pml"

/* Nothing comes any more to a process, and all that came went on. */
#define LANES_ENDED (ended[last[0]] && ended[last[1]] && ended[last[2]])
#define ENDS(c, p) (phase[P(c, p)] == 0 && !COMES(c, p) && (kind[p] == JOIN -> LANES_ENDED : ended[before[p]]))

inline told(c, p)
{
    if
    :: at[p] < has[OWN(p)] -> at[p]++; left--
    :: else -> spent[p] = 1
    fi
}

/* A recorder and a map act on nobody's state but their own, and what they can do stays so until they do it, whether they
 * tell of it or not: they do it at once, and are none of those that are chosen. */
#define PASSES_ON(p) (kind[p] == TEE || kind[p] == MAP)
#define TELLS(p, what, n) (SAYS(p, what, n, 0) || SILENT(p))
inline flow(c)
{
    i = 0;
    do
    :: i > processes -> break
    :: i < processes && SAYS(i, TROUBLE, 0, 0) -> told(c, i)
    :: i < processes && SAYS(i, ABSENT, 0, 0) -> told(c, i); spent[i] = 1
    :: i == processes && SAYS(PLAN, TROUBLE, 0, 0) -> told(c, PLAN)
    :: i < processes && PASSES_ON(i) && READY(c, i, TEE, 0) && SAYS(i, EVIDENCE, NEXT(c, i), 0) -> phase[P(c, i)] = 1; told(c, i)
    :: i < processes && PASSES_ON(i) && READY(c, i, kind[i], ACTS(i)) && TELLS(i, PASSED, NEXT(c, i)) ->
        told(c, i);
        phase[P(c, i)] = 0;
        passed[P(c, i)]++
    :: i < processes && PASSES_ON(i) && lives[P(c, i)] && ENDS(c, i) && TELLS(i, ENDED, 0) -> told(c, i); ended[i] = 1
    :: else -> i++
    od;
    i = 0
}

#define WITNESS(c, p) \
    :: d_step { READY(c, p, SINK, 1) && DID(p, EVIDENCE, NEXT(c, p), 0) -> phase[P(c, p)] = 2; TOLD(c, p) } \
    :: d_step { lives[P(c, p)] && ENDS(c, p) && DID(p, ENDED, 0, 0) -> ended[p] = 1; TOLD(c, p) }
#define CONFIRMS (confirming && turn > 0 && lives[THE_MARK] && at[THE_MARK] < has[OWN(THE_MARK)])

/* The next attempt begins once all that the one before did was told. */
inline attempt()
{
    turn++;
    living[0] = 0;
    bury(0);
    i = 0;
    do
    :: i < NAMED -> at[i] = 0; spent[i] = 0; ended[i] = 0; i++
    :: else -> break
    od;
    plan(0);
    refused = plan_restore[turn - 1] != restore[0] || plan_first[turn - 1] != first[0] || plan_fresh[turn - 1] != fresh[0];
    left = total[turn - 1]
}

c_code {
    static int number_read(void)
    {
        int n;
        if (scanf("%d", &n) != 1)
            exit(3);
        return n;
    }

    static void events_read(int run_, int p, int *used)
    {
        int n = number_read();
        begins[run_ * NAMED + p] = (short)*used;
        has[run_ * NAMED + p] = (short)n;
        total[run_] = (short)(total[run_] + n);
        for (; n > 0; n--, ++*used) {
            if (*used >= EVENTS)
                exit(3);
            event_kind[*used] = (uchar)number_read();
            event_number[*used] = (uchar)number_read();
            event_more[*used] = (uchar)number_read();
        }
    }

    static void job_read(void)
    {
        int used = 0;
        processes = (uchar)number_read();
        lanes = (uchar)number_read();
        participants = (uchar)number_read();
        sinks = (uchar)number_read();
        confirming = (uchar)number_read();
        runs = (uchar)number_read();
        if (processes > PROCESSES || lanes > LANES || participants > lanes + WINDOWS || runs > RUNS)
            exit(3);
        for (int p = 0; p < processes; p++) {
            kind[p] = (uchar)number_read();
            before[p] = (uchar)number_read();
            place[p] = (uchar)number_read();
        }
        for (int l = 0; l < LANES; l++)
            last[l] = (uchar)number_read();
        for (int r_ = 0; r_ < runs; r_++) {
            plan_restore[r_] = (uchar)number_read();
            plan_first[r_] = (uchar)number_read();
            plan_fresh[r_] = (uchar)number_read();
            for (int p = 0; p < processes; p++)
                events_read(r_, p, &used);
            events_read(r_, PROCESSES, &used);
        }
    }
};

active proctype job()
{
    c_code { job_read(); };
    do
    :: atomic {
        do
        :: k + 1 < processes -> k++
        :: k == 0 || (lives[P(0, k)] && !PASSES_ON(k) && (COMES(0, k) || ENDS(0, k))) -> break
        od;
        if
        STEPS(0)
        EACH(WITNESS, 0)
        :: d_step { begun[0] && states[0] == 0 && DID(0, ENDED, 0, 0) -> ended[0] = 1; TOLD(0, 0) }
        :: d_step { k == 0 && turn > 0 && !refused && !planned[0] && SAYS(PLAN, ENDED, 0, 0) -> ended[PLAN] = 1; TOLD(0, PLAN) }
        :: d_step { k == 0 && CONFIRMS && event_kind[NOW(THE_MARK)] == CONFIRMED && completed[event_number[NOW(THE_MARK)]] ->
            confirmed[event_number[NOW(THE_MARK)]] = 1;
            TOLD(0, THE_MARK) }
        :: d_step { k == 0 && left == 0 && turn < runs && !refused -> attempt() }
        fi;
        d_step { flow(0); k = 0 } }
    :: atomic { confirming && turn > 0 && lives[THE_MARK] && SILENT(THE_MARK) ->
        k = 1;
        do
        :: k < NUMBERS -> k++
        :: completed[k] && !confirmed[k] -> break
        od;
        d_step { confirmed[k] = 1; k = 0; spent[THE_MARK] = 1 } }
    :: left == 0 && turn == runs && !refused -> c_code { puts("accepted"); exit(0); }
    od
}
