import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBatchWriter } from '../../contract/runtime/batch-writer.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { Sealing } from '../../contract/secrets/sealing.js';
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import type { ToldVerdict, VerdictObserver } from '../../decide/decisions/verdict-observer.js';
import { stepLength } from '../../kernel/core/step.js';
import type { FindSensitive } from '../../kernel/evaluators/optional-evaluators.js';
import { OutcomeUnknownError } from '../../storage/database/errors.js';
import { createMasking, type Masking } from './masking.js';
import type { SampleLoss, SampleMeter } from './sample-meter.js';
import { type Chosen, sampleRow } from './sample-row.js';
import type { SamplingRegistry } from './sampling-registry.js';
import { isInShare, type SampleRow, type SamplingRule } from './sampling-rule.js';

/** Most chosen steps that wait in memory, about most characters of them, and most that another thread holds, which are large. */
const MAX_WAITING = 500;
const MAX_LENGTH = 8 * 1024 * 1024;
const MAX_LARGE = 4;
/** Most samples of one transaction. */
const ROWS_PER_WRITE = 100;
/** How long chosen steps wait for others to be written with, in milliseconds. */
const WAIT_MS = 200;
/** Longest turn of masking, in milliseconds: evaluations come in between. */
const TURN_MS = 2;

export interface SampleCaptureOptions {
  readonly rules: Pick<SamplingRegistry, 'isEmpty' | 'needsControls' | 'of' | 'has'>;
  readonly sealing: Sealing;
  readonly findSensitive: FindSensitive | null;
  /** Stores rows, and returns the number of those that are stored. */
  readonly insert: (rows: readonly SampleRow[]) => Promise<number>;
  /** Adds to what rules chose and was not kept, by id of the rule. */
  readonly addDropped: (dropped: DroppedSteps) => Promise<void>;
  readonly meter: SampleMeter;
  readonly failures: Pick<RepeatLog, 'told' | 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Number of chosen steps that are not kept, by id of their rule. */
type DroppedSteps = ReadonlyMap<number, number>;

/** Chooses steps of verdicts, and keeps them. */
export interface SampleCapture {
  readonly observer: VerdictObserver;
  /** Resolves when everything that was chosen until now is stored or lost. Never rejects. */
  settled(): Promise<void>;
}

/**
 * It is called for every verdict. Without a rule in any namespace it reads one flag. Chosen steps wait in memory, are masked in
 * short turns, and written together: nothing of a step leaves the memory before it is masked.
 */
export function createSampleCapture(options: SampleCaptureOptions): SampleCapture {
  const { rules, sealing, findSensitive, insert, meter, failures, now } = options;
  const maskingOf = createMaskings(findSensitive);
  let waiting: Chosen[] = [];
  let large = 0;
  let length = 0;
  let dropped = new Map<number, number>();
  const writer = createBatchWriter({
    take,
    store: (batch: readonly Chosen[] | DroppedSteps) =>
      batch instanceof Map ? countDropped(options, batch) : storeSteps(batch as readonly Chosen[]),
    failed: (error) => failures.failed('samples', 'what is not kept of samples cannot be counted now', error),
    wakeMs: WAIT_MS,
  });

  function choose(told: ToldVerdict): void {
    const { request, verdict, caller, agent: agentKey } = told;
    const possible = rules.of(caller.namespace.name);
    if (possible.length === 0) return;
    const decisionId = String(verdict.decision_id);
    const rule = possible.find((one) => chooses(one, told, decisionId));
    if (rule === undefined) return;
    const { held } = request;
    const own = held === undefined ? stepLength(request.step) : 0;
    const isFull = waiting.length >= MAX_WAITING || length + own > MAX_LENGTH;
    if (isFull || (held !== undefined && large >= MAX_LARGE)) {
      lose('queue_full', rule);
      return;
    }
    if (held !== undefined) large += 1;
    // It is read now: the other thread keeps it until the call is answered.
    const step = held === undefined ? request.step : held.read().catch(() => null);
    length += own;
    waiting.push({
      rule,
      request,
      step,
      length: own,
      agentKey,
      outcome: verdict.outcome,
      decisionId,
      atMs: now(),
    });
    if (waiting.length >= ROWS_PER_WRITE) void writer.flush();
    else writer.wake();
  }

  function lose(reason: SampleLoss, { id }: Pick<SamplingRule, 'id'>): void {
    meter.lost(reason, 1);
    dropped.set(id, (dropped.get(id) ?? 0) + 1);
    writer.wake();
    if (reason === 'queue_full') failures.told('warn', 'samples', TOO_MANY, {});
  }

  async function rowOf(chosen: Chosen): Promise<SampleRow | null> {
    const { rule, request } = chosen;
    const read = await chosen.step;
    if (request.held !== undefined) large -= 1;
    if (read === null || !rules.has(rule)) return null;
    const row = sampleRow(chosen, read, maskingOf(rule), sealing);
    if (row === null) lose('too_large', rule);
    return row;
  }

  /** What cannot be masked is not kept. */
  function unmasked(rule: SamplingRule, error: unknown): null {
    lose('masking', rule);
    failures.failed('samples masking', 'a step cannot be masked, and is not kept', error);
    return null;
  }

  async function storeSteps(some: readonly Chosen[]): Promise<void> {
    const rows: SampleRow[] = [];
    let began = performance.now();
    for (const one of some) {
      const row = await rowOf(one).catch((error: unknown) => unmasked(one.rule, error));
      if (row !== null) rows.push(row);
      if (performance.now() - began < TURN_MS) continue;
      await nextTurn();
      began = performance.now();
    }
    if (rows.length === 0) return;
    if (!sealing.hasKey) failures.told('warn', 'samples key', WITHOUT_KEY, {});
    try {
      meter.stored(await insert(rows));
    } catch (error) {
      for (const { ruleId: id } of rows) lose('storage', { id });
      failures.failed('samples', 'samples of steps cannot be stored now, and are lost', error);
    }
  }

  /** Also what is chosen meanwhile. Steps count as waiting until they are stored. */
  function* take(): Iterable<readonly Chosen[] | DroppedSteps> {
    while (waiting.length > 0) {
      const some = waiting.slice(0, ROWS_PER_WRITE);
      yield some;
      waiting = waiting.slice(some.length);
      for (const one of some) length -= one.length;
    }
    if (dropped.size === 0) return;
    const counted = dropped;
    dropped = new Map();
    yield counted;
  }

  return {
    observer: {
      get nonMatches() {
        return rules.needsControls;
      },
      told(told) {
        if (!rules.isEmpty) choose(told);
      },
    },
    settled: writer.flushLatest,
  };
}

/** The masking of each rule, made once. */
function createMaskings(findSensitive: FindSensitive | null): (rule: SamplingRule) => Masking {
  const maskings = new WeakMap<SamplingRule, Masking>();
  return (rule) => {
    if (findSensitive === null) throw new Error(WITHOUT_PACKAGE);
    const masking = maskings.get(rule) ?? createMasking(rule, findSensitive);
    maskings.set(rule, masking);
    return masking;
  };
}

async function countDropped(
  { addDropped, failures }: SampleCaptureOptions,
  counted: DroppedSteps,
): Promise<void> {
  try {
    await addDropped(counted);
  } catch (error) {
    // They may be counted: then they are not counted again.
    if (!(error instanceof OutcomeUnknownError)) throw error;
    failures.failed('samples', 'what is not kept of samples cannot be counted now', error);
  }
}

/** Whether a rule chooses the step of a verdict. */
function chooses(
  { agentName, controlId, share }: SamplingRule,
  { verdict, agent }: ToldVerdict,
  decisionId: string,
): boolean {
  return (
    (agentName === null || agentName === agent) &&
    (controlId === null || wasAsked(verdict, controlId)) &&
    isInShare(decisionId, share)
  );
}

/** Whether a control was checked for a step. */
function wasAsked({ matches, errors, non_matches: others }: RevisedVerdict, controlId: number): boolean {
  return [matches, errors, others].some((results) => results.some(({ control_id: id }) => id === controlId));
}

const TOO_MANY =
  'more steps are chosen as samples than can be kept, and some are left out: lower the share of the rules';
const WITHOUT_PACKAGE = 'what must be masked is found by the package detectors, which is not installed';
const WITHOUT_KEY =
  'samples of steps are stored unencrypted, masked only: set SERVICE_SAMPLE_KEY_FILE to a file with 32 bytes in base64 or hexadecimal';
