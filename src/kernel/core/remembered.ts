import { canonicalJson } from '../../../packages/exact-json/src/index.js';
import type { Evaluation } from './evaluation.js';
import { describeThrown } from './failure.js';
import { deniesForGood, type LinkedControl } from './linked-control.js';
import type { MemoryCall, MemoryKey, MemoryPlan, MissingPart } from './memory.js';
import { openLeaves } from './memory-node.js';
import type { MemoryLeaf } from './memory-rules.js';
import type { Outcome } from './outcome.js';
import type { MemoryWork, RememberingControl } from './program-memory.js';
import {
  type DecidedControls,
  decideControls,
  decideRemembered,
  isBlocked,
  type SettledCheck,
  type Undecided,
} from './remembered-decision.js';
import type { Selection } from './scope-index.js';
import type { RememberedStep, Verdict } from './types.js';

/** A step to be evaluated with what is kept of earlier ones. */
export interface RememberedEvaluation {
  readonly evaluation: Evaluation;
  readonly selection: Selection<LinkedControl>;
  readonly work: MemoryWork;
  readonly remembered: RememberedStep;
  /** Ids of controls whose match does not make the step unsafe. */
  readonly lifted: ReadonlySet<number>;
  /** Aborted when the verdict is no longer awaited. */
  readonly signal: AbortSignal | undefined;
  /**
   * Makes the verdict of these outcomes, in the order of the controls; null where a control is left out. `unrecorded`: see
   * `DecidedControls`.
   */
  readonly conclude: (
    outcomes: readonly (Outcome | null)[],
    unrecorded?: ReadonlyMap<LinkedControl, Outcome>,
  ) => Verdict;
}

/**
 * Evaluates the controls without memory first. Only if they let the step pass, those with memory decide, all together;
 * otherwise they are left out, and the step is at most recorded as denied. Never rejects.
 */
export async function evaluateRemembered(given: RememberedEvaluation): Promise<Verdict> {
  const { evaluation, signal } = given;
  const stop = (): void => evaluation.stop();
  if (signal?.aborted === true) stop();
  else signal?.addEventListener('abort', stop, { once: true });
  try {
    return await evaluateInOrder(given);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

async function evaluateInOrder(given: RememberedEvaluation): Promise<Verdict> {
  const { evaluation, selection, remembered, lifted, signal, conclude } = given;
  const { controls, failures } = selection;
  const outcomes = await statelessOutcomes(controls, evaluation);
  const passes =
    !remembered.isDenied &&
    failures.every(({ control }) => control.decision !== 'deny') &&
    controls.every((control, index) => {
      const outcome = outcomes[index] ?? PASSED;
      // A trial also says what else denies a step that a person may approve.
      const mayPass = lifted.has(control.id) || (remembered.isTrial && control.lift !== null);
      return !isBlocked(control.decision, outcome) || (mayPass && outcome.matched);
    });
  const decided = signal?.aborted === true ? null : await decideWithMemory(given, passes);
  if (decided === null) return conclude(outcomes);
  let next = 0;
  const verdict = conclude(
    controls.map((control, index) => {
      if (control.memory === null) return outcomes[index] ?? null;
      next += 1;
      return decided.outcomes[next - 1] ?? null;
    }),
    decided.unrecorded,
  );
  return decided.limits.length === 0 ? verdict : { ...verdict, limits: decided.limits };
}

const PASSED: Outcome = { matched: false, confidence: 1, message: null, metadata: null, error: null };

/** The outcomes of controls without memory, as a program without memory makes them; null for the others. */
async function statelessOutcomes(
  controls: readonly LinkedControl[],
  evaluation: Evaluation,
): Promise<readonly (Outcome | null)[]> {
  const noted = (control: LinkedControl, outcome: Outcome): Outcome => {
    if (deniesForGood(control, outcome)) evaluation.deny();
    return outcome;
  };
  const running = controls.map((control) => {
    if (control.memory !== null) return null;
    const outcome = control.condition.run(evaluation);
    return outcome instanceof Promise ? outcome : noted(control, outcome);
  });
  if (!running.some((outcome) => outcome instanceof Promise)) return running as (Outcome | null)[];
  if (evaluation.denied && !evaluation.waitsForLocal) {
    // All promises are those of external checks, which a deny has made superfluous.
    return running.map((outcome) => (outcome instanceof Promise ? null : outcome));
  }
  evaluation.beginExternal();
  const settled = controls.map(async (control, index) => {
    const outcome = await (running[index] ?? null);
    return outcome === null ? null : noted(control, outcome);
  });
  return Promise.all(settled);
}

/** Null if the step is denied by controls without memory, and nothing is recorded of it. */
async function decideWithMemory(
  given: RememberedEvaluation,
  passes: boolean,
): Promise<DecidedControls | null> {
  const { evaluation, work, remembered, lifted } = given;
  const { memory, identity, isTrial } = remembered;
  const { step, stage } = evaluation;
  const controls = passes ? work.remembering : [];
  const settling = isTrial ? [] : work.settling;
  const concerned =
    settling.length === 0 ? controls : [...new Set([...controls, ...settling.map(({ control }) => control)])];
  const openedOrLater = openIn(concerned, evaluation);
  const opened = openedOrLater instanceof Promise ? await openedOrLater : openedOrLater;
  const isOpenIn = (control: RememberingControl, leaf: MemoryLeaf) =>
    opened.get(control)?.includes(leaf) === true;
  const openOnes = controls.flatMap((control) => opened.get(control) ?? []);
  const call: MemoryCall = { step, stage, identity };
  const known = { evaluation, call, passes, controls, lifted };

  const recorders = isTrial ? [] : work.recorders;
  const marksDenied = work.marksDenied && !isTrial && identity.stepId !== null;
  if (openOnes.length === 0) {
    const decided = decideControls({ ...known, ...NOTHING_OPEN }, null);
    const isMarked = marksDenied && stage === 'pre' && !decided.isSafe;
    if (recorders.length + settling.length === 0 && !isMarked) return decided;
  }

  const keys = new SharedKeys();
  const withoutKeys: Undecided = { ...known, ...NOTHING_OPEN, open: new Map(openOnes.map(withoutKey)) };
  try {
    const ready = memory.ready();
    const hash = ready instanceof Promise ? await ready : ready;
    const open = new Map<MemoryLeaf, MemoryKey | MissingPart>();
    for (const leaf of openOnes) {
      const key = leaf.rule.keyOf(call, hash);
      open.set(leaf, 'missing' in key ? key : keys.shared(key));
    }
    const settled = settling.flatMap(({ control, leaf }): SettledCheck[] => {
      const key = leaf.rule.keyOf(call, hash);
      return 'missing' in key ? [] : [{ leaf, key: keys.shared(key), isOpen: isOpenIn(control, leaf) }];
    });
    const undecided: Undecided = {
      ...known,
      open,
      recorders: recorders.map(({ control, leaf }) => {
        const own = leaf.rule.records?.keys(call, hash) ?? [];
        return { control, leaf, keys: own.map((key) => keys.shared(key)) };
      }),
      settled,
      keyed: (key) => keys.shared(key),
    };
    const plan: MemoryPlan<DecidedControls> = {
      identity,
      stage,
      keys: keys.all(),
      ruleIds: work.ruleIds,
      marksDenied,
      stepDigest: stepDigest(call, hash),
      isTrial,
      decide: (view) => decideRemembered(undecided, view),
    };
    return await memory.run(plan, given.signal);
  } catch (problem) {
    if (given.signal?.aborted !== true) {
      for (const control of concerned) control.report(`its memory: ${describeThrown(problem)}`);
    }
    return decideControls(withoutKeys, null);
  }
}

/** Of everything that the rules may count of the step. */
function stepDigest({ step, stage, identity }: MemoryCall, hash: (text: string) => string): string | null {
  if (identity.stepId === null || stage === 'post') return null;
  const { type, name, input, context } = step;
  return hash(canonicalJson([type, name, input, context])).slice(0, DIGEST_LENGTH);
}

/** 66 bits. */
const DIGEST_LENGTH = 11;

const NOTHING_OPEN = {
  open: new Map<MemoryLeaf, MemoryKey | MissingPart>(),
  recorders: [],
  settled: [],
  keyed: (key: MemoryKey) => key,
};

/** Where there is no memory at all, the key of a check does not matter. */
const NO_KEY: MemoryKey = { parts: [], label: '' };
const withoutKey = (leaf: MemoryLeaf): readonly [MemoryLeaf, MemoryKey] => [leaf, NO_KEY];

/** The checks that the parts without memory leave open, by control. Runs all these parts. */
function openIn(controls: readonly RememberingControl[], evaluation: Evaluation): Opened | Promise<Opened> {
  const found = controls.map((control) => openLeaves(control.memory, evaluation));
  const byControl = (opened: readonly MemoryLeaf[][]): Opened =>
    new Map(controls.map((control, index) => [control, opened[index] ?? []]));
  if (!found.some((open) => open instanceof Promise)) return byControl(found as MemoryLeaf[][]);
  evaluation.beginExternal();
  return Promise.all(found).then(byControl);
}

type Opened = ReadonlyMap<RememberingControl, readonly MemoryLeaf[]>;

/** Keys with the same parts are one object, so that they are told apart by identity. */
class SharedKeys {
  readonly #byParts = new Map<string, MemoryKey>();

  readonly #shared = new Set<MemoryKey>();

  shared(key: MemoryKey): MemoryKey {
    if (this.#shared.has(key)) return key;
    const parts = JSON.stringify(key.parts);
    const known = this.#byParts.get(parts);
    if (known !== undefined) return known;
    this.#byParts.set(parts, key);
    this.#shared.add(key);
    return key;
  }

  all(): readonly MemoryKey[] {
    return [...this.#byParts.values()];
  }
}
