import { setTimeout as pause } from 'node:timers/promises';
import type { AgentKey } from '../../contract/call/namespace.js';
import type { ProgramBuilder } from '../../decide/decisions/program-builder.js';
import type { RandomId } from '../../decide/decisions/random-id.js';
import { stepLength } from '../../kernel/core/step.js';
import type { AgentFacts, ControlProgram, ControlResult, Stage, Step } from '../../kernel/core/types.js';
import type { FindSensitive } from '../../kernel/evaluators/optional-evaluators.js';
import { storableText } from '../../storage/database/text.js';
import { maskedText } from '../samples/masking.js';
import type { ActiveShadow } from './shadow.js';
import type { ShadowTallies } from './shadow-tallies.js';

/** Most steps that wait to be compared, and about most characters of them. */
const MAX_WAITING = 1_000;
const MAX_LENGTH = 8 * 1024 * 1024;
/** Of the names of steps that are kept with differences, in characters. */
const MAX_NAME_LENGTH = 255;
/** Steps that are compared at a time, while checks outside of the process are awaited. */
const AT_ONCE = 8;
/** One part in ten of the time, so that answers wait little: at most 1 ms at a time, and then a pause. */
const TURN_MS = 1;
const PAUSE_MS = 9;

/** A step that was decided, and the shadows of its controls. */
export interface ComparedStep {
  readonly agent: AgentKey;
  readonly facts: AgentFacts | null;
  readonly step: Step;
  readonly stage: Stage;
  readonly decisionId: string | RandomId;
  readonly atMs: number;
  readonly pairs: readonly ShadowPair[];
}

/** A shadow, and its control as it was when the step was decided. */
export interface ShadowPair {
  readonly shadow: ActiveShadow;
  readonly controlName: string;
  /** JSON text of the definition; null if the control did not take part. */
  readonly live: string | null;
  /** Made when a step is compared for the first time. */
  programs?: Promise<LinkedPair>;
}

/** The programs of the control, null if it did not take part, and of its shadow. */
type LinkedPair = readonly [live: ControlProgram | null, shadow: ControlProgram];

export interface ShadowComparison {
  /** Compares the step soon; if too many wait, it is counted as left out. */
  add(step: ComparedStep): void;
  /** Counts a step that cannot be compared. */
  leaveOut(shadowId: number): void;
  /** Leaves out what waits. */
  close(): void;
}

export interface ShadowComparisonOptions {
  /** One of its own, of which failures of evaluators tell no operator. */
  readonly builder: Pick<ProgramBuilder, 'build'>;
  readonly tallies: Pick<ShadowTallies, 'count' | 'differs'>;
  /** Null if the package is not installed: then no name is shown. */
  readonly findSensitive: FindSensitive | null;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
}

/** What one of the two says about a step. */
interface Finding {
  readonly isMatch: boolean;
  readonly failed: boolean;
  /** Of the definition: messages of evaluators may quote the step. */
  readonly message: string | null;
}

const NOT_TAKING_PART: Finding = { isMatch: false, failed: false, message: null };

/**
 * Evaluates controls and their shadows in the background. Each has a program of its own, so that neither is skipped because of
 * the other. Without what is kept of earlier steps: checks with memory fail. Nothing of it reaches a verdict.
 */
export function createShadowComparison(options: ShadowComparisonOptions): ShadowComparison {
  const { builder, tallies, findSensitive, monotonic } = options;
  const stopped = new AbortController();
  let waiting: { readonly one: ComparedStep; readonly length: number }[] = [];
  /** Of what waits, and of what is compared now. */
  let length = 0;
  let workers = 0;
  /** In this turn, in milliseconds. */
  let spentMs = 0;
  let resting: Promise<void> | null = null;

  async function findingOf(
    { step, stage, facts }: ComparedStep,
    program: ControlProgram | null,
  ): Promise<Finding> {
    if (program === null) return NOT_TAKING_PART;
    const { matches, errors } = await program.evaluate(
      step,
      stage,
      'full',
      { signal: stopped.signal },
      0,
      program.readsAgent === 'nothing' ? null : facts,
    );
    return { isMatch: matches.length > 0, failed: errors.length > 0, message: messageOf(matches[0]) };
  }

  async function compare(one: ComparedStep, pair: ShadowPair): Promise<void> {
    const { shadow } = pair;
    pair.programs ??= linked(pair);
    const [before, after] = await pair.programs;
    const kept = await findingOf(one, before);
    const proposed = await findingOf(one, after);
    if (stopped.signal.aborted) return tallies.count(shadow.id, 'leftOut');
    if (kept.failed) tallies.count(shadow.id, 'liveFailed');
    if (proposed.failed) tallies.count(shadow.id, 'shadowFailed');
    if (kept.failed || proposed.failed) return;
    if (kept.isMatch === proposed.isMatch) {
      return tallies.count(shadow.id, kept.isMatch ? 'bothMatched' : 'neitherMatched');
    }
    tallies.count(shadow.id, kept.isMatch ? 'onlyLiveMatched' : 'onlyShadowMatched');
    tallies.differs(shadow.id, {
      decisionId: String(one.decisionId),
      agentName: one.agent,
      stage: one.stage,
      stepType: shownName(one.step.type, 'type', findSensitive),
      stepName: shownName(one.step.name, 'name', findSensitive),
      shadowMatched: proposed.isMatch,
      message: (proposed.isMatch ? proposed : kept).message,
      atMs: one.atMs,
    });
  }

  async function linked({ shadow, controlName: name, live }: ShadowPair): Promise<LinkedPair> {
    const id = shadow.controlId;
    const before = live === null ? null : await builder.build([{ id, name, data: live }]);
    return [before, await builder.build([{ id, name, data: shadow.data }])];
  }

  async function compareAll(one: ComparedStep): Promise<void> {
    for (const pair of one.pairs) {
      try {
        await compare(one, pair);
      } catch {
        tallies.count(pair.shadow.id, 'leftOut');
      }
    }
  }

  /** All workers together have one turn. */
  async function work(): Promise<void> {
    for (;;) {
      while (resting !== null) await resting;
      const next = waiting.shift();
      if (next === undefined) break;
      const began = monotonic();
      await compareAll(next.one);
      length -= next.length;
      spentMs += monotonic() - began;
      if (spentMs >= TURN_MS) resting ??= rest();
    }
    workers -= 1;
  }

  async function rest(): Promise<void> {
    await pause(PAUSE_MS, undefined, { ref: false });
    spentMs = 0;
    resting = null;
  }

  const leaveOut = (one: ComparedStep) => {
    for (const { shadow } of one.pairs) tallies.count(shadow.id, 'leftOut');
  };
  return {
    add(one) {
      if (waiting.length >= MAX_WAITING || stopped.signal.aborted) return leaveOut(one);
      const own = stepLength(one.step);
      if (length + own > MAX_LENGTH) return leaveOut(one);
      length += own;
      waiting.push({ one, length: own });
      if (workers >= AT_ONCE) return;
      workers += 1;
      setImmediate(() => void work());
    },
    leaveOut: (shadowId) => tallies.count(shadowId, 'leftOut'),
    close() {
      stopped.abort();
      for (const { one } of waiting) leaveOut(one);
      waiting = [];
    },
  };
}

/** Names of steps come from agents, as their contents do. */
function shownName(name: string, place: string, findSensitive: FindSensitive | null): string {
  return storableText(maskedText(name, place, findSensitive), MAX_NAME_LENGTH);
}

function messageOf(match: ControlResult | undefined): string | null {
  return match?.steering_context?.message ?? null;
}
