import type { VerdictOutcome } from '../../../decide/decisions/evaluation-options.js';
import type { ToldVerdict, VerdictObserver } from '../../../decide/decisions/verdict-observer.js';
import type { Verdict } from '../../../kernel/core/types.js';
import { MINUTE } from '../store/rollup-levels.js';
import { OutcomeSums } from './outcome-sums.js';

/** What a control did since the last look, as bits. */
export const MATCHED = 1;
export const DENIED = 2;
export const FAILED = 4;

/** Most agents at a time; only registered ones are evaluated, so this is a bound of memory, not of use. */
const MAX_AGENTS = 100_000;

/** What was counted within one minute. */
export interface CountedMinute {
  /** Start of the minute, in seconds since 1970. */
  readonly startS: number;
  /** By the key of an agent. */
  readonly agents: ReadonlyMap<string, OutcomeSums>;
  /** Bits by id of a control. */
  readonly controls: ReadonlyMap<number, number>;
}

/**
 * Counts evaluations by agent and outcome. It runs for every evaluation, so it only advances numbers: it does not look at
 * the clock. The caller of `take` does, at each turn of a minute.
 */
export class EvaluationCollector implements VerdictObserver {
  readonly #maxAgents: number;
  readonly #taken = new OutcomeSums();
  #startS: number;
  #agents = new Map<string, OutcomeSums>();
  #controls = new Map<number, number>();
  /** Evaluations of agents beyond the bound. */
  #beyond = new OutcomeSums();

  constructor(nowMs: number, maxAgents = MAX_AGENTS) {
    this.#startS = minuteOf(nowMs);
    this.#maxAgents = maxAgents;
  }

  told({ agent, verdict, differs, isAnswered }: ToldVerdict): void {
    if (isAnswered) this.count(agent, verdict.outcome, verdict, differs);
  }

  count(
    agentName: string,
    outcome: VerdictOutcome,
    verdict: Pick<Verdict, 'matches' | 'errors'>,
    differs: boolean,
  ): void {
    const sums = this.#agents.get(agentName) ?? this.#begin(agentName);
    sums.evaluated += 1;
    if (outcome === 'deny') sums.denied += 1;
    else if (outcome === 'steer') sums.steered += 1;
    if (verdict.matches.length > 0 || verdict.errors.length > 0) this.#note(sums, outcome, verdict, differs);
  }

  /** Everything since the last call; undefined when that is nothing. The next evaluations are those of this minute. */
  take(nowMs: number): CountedMinute | undefined {
    const startS = this.#startS;
    const agents = this.#agents;
    this.#startS = minuteOf(nowMs);
    if (agents.size === 0) return undefined;
    const controls = this.#controls;
    this.#agents = new Map();
    this.#controls = new Map();
    for (const sums of agents.values()) this.#taken.add(sums);
    return { startS, agents, controls };
  }

  /** Everything since the start, for metrics. */
  get totals(): OutcomeSums {
    const totals = new OutcomeSums();
    totals.add(this.#taken);
    totals.add(this.#beyond);
    for (const sums of this.#agents.values()) totals.add(sums);
    return totals;
  }

  /** Evaluations counted since the last `take`. */
  get waiting(): number {
    let waiting = 0;
    for (const { evaluated } of this.#agents.values()) waiting += evaluated;
    return waiting;
  }

  /** Evaluations that are in the totals only, since there were too many agents. */
  get beyond(): number {
    return this.#beyond.evaluated;
  }

  #begin(agentName: string): OutcomeSums {
    if (this.#agents.size >= this.#maxAgents) return this.#beyond;
    const sums = new OutcomeSums();
    // A copy: the name may be a part of a large request, which it would keep in memory.
    this.#agents.set(Buffer.from(agentName).toString(), sums);
    return sums;
  }

  /** What matches and errors add; most evaluations have none. */
  #note(
    sums: OutcomeSums,
    outcome: VerdictOutcome,
    { matches, errors }: Pick<Verdict, 'matches' | 'errors'>,
    differs: boolean,
  ): void {
    let isDenied = differs;
    let isObserved = false;
    for (const { control_id, action } of matches) {
      if (action === 'deny') isDenied = true;
      else if (action === 'observe') isObserved = true;
      this.#mark(control_id, action === 'deny' ? MATCHED | DENIED : MATCHED);
    }
    if (isObserved && outcome === 'allow') sums.observed += 1;
    if (errors.length === 0) return;
    sums.failed += 1;
    let isErrorOfDeny = false;
    for (const { control_id, action } of errors) {
      if (action === 'deny') isErrorOfDeny = true;
      this.#mark(control_id, FAILED);
    }
    if (outcome === 'deny' && isErrorOfDeny && !isDenied) sums.denied_by_error += 1;
  }

  #mark(controlId: number, bits: number): void {
    const known = this.#controls.get(controlId) ?? 0;
    if ((known & bits) !== bits) this.#controls.set(controlId, known | bits);
  }
}

function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / 1000 / MINUTE) * MINUTE;
}
