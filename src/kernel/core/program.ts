import { decidingLeaf } from './condition.js';
import { Evaluation } from './evaluation.js';
import type { EvaluatorPart } from './evaluator-part.js';
import type { WithTimeout } from './leaf.js';
import { leafTableSteps } from './leaf-table.js';
import {
  type ControlFailure,
  deniesForGood,
  type LinkableControl,
  type LinkedControl,
  leavesOfControls,
  linkControl,
  linkedBytes,
} from './linked-control.js';
import type { Outcome } from './outcome.js';
import type { PreparedLeaf } from './prepared-control.js';
import { createProgramLifts } from './program-lifts.js';
import { createProgramMemory } from './program-memory.js';
import { evaluateRemembered, type RememberedEvaluation } from './remembered.js';
import { createScopeIndex, type ScopeIndex, type Selection } from './scope-index.js';
import type { NextTurn } from './step-account.js';
import { type TraceMaker, wireTraces } from './trace.js';
import type { AgentReading, ControlProgram, Verdict } from './types.js';
import { Tally, UNCHECKED } from './verdict.js';

/** Dependencies of a program. */
export interface ProgramOptions {
  /** Called once for each item returned in a verdict. */
  readonly newExecutionId: () => string;
  /** Limits asynchronous evaluators; without it they have no time limit. */
  readonly withTimeout?: WithTimeout;
  /** Yields to the event loop during long evaluations; without it they run in one turn. */
  readonly nextTurn?: NextTurn;
  /** Whether a program without a control that takes part denies every step; by default it allows them. */
  readonly emptyDenies?: boolean;
  /** Called for damaged definitions when they are compiled, and for evaluator failures when they occur. */
  readonly onFailure?: (failure: ControlFailure) => void;
  /** Milliseconds since 1970; without it, checks that need the time are errors. */
  readonly now?: () => number;
  /** Creates the traces; those of the wire by default. */
  readonly traces?: TraceMaker;
}

/** A control whose evaluator has not answered yet, or one that follows such a control. */
interface Pending {
  readonly control: LinkedControl;
  readonly outcome: Outcome | Promise<Outcome>;
}

const NOT_LIFTED: ReadonlySet<number> = new Set();

/** The verdict of an empty program that denies. */
const WITHOUT_CONTROLS: Verdict = {
  is_safe: false,
  confidence: 0,
  reason: 'the agent has no enabled control, and this service denies the steps of such agents',
  ...UNCHECKED,
};

/** Links prepared controls, in any order, into a program. Never throws. */
export function linkProgram(controls: readonly LinkableControl[], options: ProgramOptions): ControlProgram {
  const steps = linkSteps(controls, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** As `linkProgram`, yielding after each small part of the work, so that a caller can spread it over time. */
export function* linkSteps(
  controls: readonly LinkableControl[],
  options: ProgramOptions,
): Generator<void, ControlProgram> {
  const byIdDescending = [...controls].sort((left, right) => right.id - left.id);
  const active = byIdDescending.filter(({ prepared }) => prepared.active);
  const traces = options.traces ?? wireTraces;
  const leaves = yield* leafTableSteps(active.flatMap(gatheredLeaves), {
    withTimeout: options.withTimeout,
    traces,
  });
  const linked: LinkedControl[] = [];
  for (const control of active) {
    yield;
    linked.push(linkControl(control, leaves, traces, options.onFailure));
  }
  const index = createScopeIndex(linked);
  const narrowed = narrowedIndex(linked);
  const memory = createProgramMemory(linked, index);
  let idle: Evaluation | null = null;
  const isEmpty = active.length === 0;
  const deniesAll = isEmpty && options.emptyDenies === true;

  return {
    controlIds: byIdDescending.map(({ id }) => id),
    sizeBytes:
      index.sizeBytes +
      (narrowed?.sizeBytes ?? 0) +
      leaves.sizeBytes +
      active.reduce((sum, control) => sum + linkedBytes(control), 0),
    isEmpty,
    readsAgent: agentReading(leaves.parts),
    remembers: memory !== null,
    lifts: createProgramLifts(active, options),
    sharedParts: [...new Set(active.map(({ prepared }) => prepared)), ...leaves.parts],
    evaluate(step, stage, detail, caller, spent = 0, agent = null, remembered = null, lifted = NOT_LIFTED) {
      if (deniesAll) return WITHOUT_CONTROLS;
      const selected = index.find(stage, step.type, step.name);
      // With detail, each control that did not match has a result.
      const selection =
        narrowed === null || detail === 'full' ? selected : narrowed.find(stage, step.type, step.name);
      // Taken during use: an evaluator could evaluate another step, and an asynchronous evaluation keeps it.
      const evaluation = idle ?? new Evaluation(leaves.size, options.nextTurn, options.now);
      idle = null;
      evaluation.begin(step, stage, detail, agent);
      if (spent > 0) evaluation.account.spend(spent);
      const { controls, failures } = selected;
      const tally = new Tally(evaluation.full, controls.length + failures.length, options.newExecutionId);
      if (selection !== selected) tally.addUnmatched(controls.length - selection.controls.length);
      if (memory !== null && remembered !== null) {
        const work = memory.workFor(selection.controls, step, stage);
        if (work !== null) {
          const conclude: RememberedEvaluation['conclude'] = (outcomes, unrecorded) =>
            concluded(selection, outcomes, unrecorded ?? NONE_UNRECORDED, tally, lifted);
          const signal = caller?.signal;
          return evaluateRemembered({ evaluation, selection, work, remembered, lifted, signal, conclude });
        }
      }
      const verdict = evaluateAll(selection, evaluation, tally, caller, lifted);
      if (verdict instanceof Promise) return verdict;
      evaluation.end();
      idle = evaluation;
      return verdict;
    },
  };
}

/** The index by narrowed scopes; null when no control has one. Scopes that may fail are never narrowed. */
function narrowedIndex(linked: readonly LinkedControl[]): ScopeIndex<LinkedControl> | null {
  if (linked.every(({ narrowed }) => narrowed === null)) return null;
  return createScopeIndex(linked, ({ narrowed, scope }) => narrowed ?? scope);
}

function agentReading(parts: readonly EvaluatorPart[]): AgentReading {
  const readings = new Set(parts.map(({ compiled }) => compiled.readsAgent ?? 'nothing'));
  if (readings.has('metadata')) return 'metadata';
  return readings.has('name') ? 'name' : 'nothing';
}

/** The conditions of controls with memory run each time they are decided, their parts without memory once. */
function gatheredLeaves(
  control: LinkableControl,
): readonly (PreparedLeaf & { readonly runsAgain?: boolean })[] {
  const leaves = leavesOfControls(control);
  const runsAgain = leaves.some(({ part }) => part.compiled.memory !== undefined);
  return runsAgain ? leaves.map((leaf) => ({ ...leaf, runsAgain })) : leaves;
}

function evaluateAll(
  { controls, failures }: Selection<LinkedControl>,
  evaluation: Evaluation,
  tally: Tally,
  caller: { readonly signal: AbortSignal } | undefined,
  lifted: ReadonlySet<number>,
): Verdict | Promise<Verdict> {
  addScopeFailures(failures, tally);
  let pending: Pending[] | null = null;
  for (const control of controls) {
    const outcome = control.condition.run(evaluation);
    if (outcome instanceof Promise) {
      pending ??= [];
      pending.push({ control, outcome });
      continue;
    }
    if (deniesForGood(control, outcome)) evaluation.deny();
    // After the first promise all outcomes are queued, so that the lists keep their order.
    if (pending === null) record(tally, control, outcome);
    else pending.push({ control, outcome });
  }
  if (pending === null) return tally.verdict(lifted);
  if (!evaluation.denied || evaluation.waitsForLocal)
    return settle(pending, evaluation, tally, caller?.signal, lifted);
  // All promises are those of external checks, which a deny has made superfluous.
  for (const { control, outcome } of pending) {
    if (!(outcome instanceof Promise)) record(tally, control, outcome);
  }
  return tally.verdict(lifted);
}

function addScopeFailures(failures: Selection<LinkedControl>['failures'], tally: Tally): void {
  for (const { control, problem } of failures) {
    if (problem !== null) control.report(problem);
    tally.addScopeFailure(control);
  }
}

const NONE_UNRECORDED: ReadonlyMap<LinkedControl, Outcome> = new Map();

/** The verdict of outcomes in the order of the controls, and of controls that could not record the step. */
function concluded(
  { controls, failures }: Selection<LinkedControl>,
  outcomes: readonly (Outcome | null)[],
  unrecorded: ReadonlyMap<LinkedControl, Outcome>,
  tally: Tally,
  lifted: ReadonlySet<number>,
): Verdict {
  addScopeFailures(failures, tally);
  for (const [index, control] of controls.entries()) {
    const outcome = unrecorded.get(control) ?? outcomes[index] ?? null;
    if (outcome !== null) record(tally, control, outcome);
  }
  for (const [control, outcome] of unrecorded) {
    if (controls.includes(control)) continue;
    tally.select();
    record(tally, control, outcome);
  }
  return tally.verdict(lifted);
}

async function settle(
  pending: readonly Pending[],
  evaluation: Evaluation,
  tally: Tally,
  signal: AbortSignal | undefined,
  lifted: ReadonlySet<number>,
): Promise<Verdict> {
  const stop = (): void => evaluation.stop();
  if (signal?.aborted === true) stop();
  else signal?.addEventListener('abort', stop, { once: true });
  evaluation.beginExternal();
  const outcomes = pending.map(async ({ control, outcome }) => {
    const settled = await outcome;
    if (deniesForGood(control, settled)) evaluation.deny();
    return { control, outcome: settled };
  });
  const settledAll = await Promise.all(outcomes);
  signal?.removeEventListener('abort', stop);
  for (const { control, outcome } of settledAll) record(tally, control, outcome);
  return tally.verdict(lifted);
}

function record(tally: Tally, control: LinkedControl, outcome: Outcome): void {
  if (outcome.error !== null) {
    if (outcome.cancelled === true) return;
    if (outcome.problem !== undefined) control.report(outcome.problem);
  }
  tally.add(control, outcome, decidingLeaf(control.condition, outcome));
}
