import { type JsonValue, parseStoredJson, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { listed, type Warning } from '../../contract/warnings/warning.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import { registeredMetadata } from '../../decide/agent-state/agent-metadata.js';
import { compareStep, withComparison } from '../../decide/decisions/compared-step.js';
import type { ControlLibrary } from '../../decide/decisions/control-library.js';
import { OUTCOME_WORDS, type VerdictOutcome } from '../../decide/decisions/evaluation-options.js';
import { mapInTurns, sharedTurn } from '../../decide/decisions/in-turns.js';
import { liftStep, type StepModification } from '../../decide/decisions/lifted-step.js';
import { outcomeOf } from '../../decide/decisions/revised-verdict.js';
import type { StepSchemaLibrary } from '../../decide/decisions/step-schema-library.js';
import type { HaltNotice } from '../../decide/halts/halt.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { EvaluatorPart } from '../../kernel/core/evaluator-part.js';
import { leavesOfControls } from '../../kernel/core/linked-control.js';
import type { StepIdentity, StepMemory } from '../../kernel/core/memory.js';
import { linkProgram } from '../../kernel/core/program.js';
import type { SchemaMismatch } from '../../kernel/core/step-schemas.js';
import { createStopwatch } from '../../kernel/core/stopwatch.js';
import type { AgentFacts, Stage, Step, Verdict } from '../../kernel/core/types.js';
import type { AgentRow } from '../../manage/agents/agent-store.js';
import { expressionNotes } from '../../manage/agents/expression-notes.js';
import { addSteps, emptyCatalogue, type StepCatalogue } from '../../manage/agents/steps-catalogue.js';
import { isDraft, type StoredControl } from '../../manage/controls/definition/definition.js';
import { readStoredDefinition } from '../../manage/controls/definition-presentation.js';
import { definitionWarnings } from '../../manage/controls/definition-warnings/definition-warnings.js';
import { denyingControls, hiddenAmong } from '../../manage/controls/hidden-controls.js';
import { isStoredDraft } from '../../manage/controls/stored-control-schema.js';
import { withTimeout } from '../../storage/database/in-time.js';
import { MAX_EXPLAINED_CONTROLS } from './explain-schema.js';
import { type ControlExplanation, createExplainer } from './explanation.js';

/** Dependencies of trials. */
export interface TrialOptions {
  readonly registry: EvaluatorRegistry;
  /** Shared with the snapshot, so that controls in use are not compiled again. */
  readonly library: ControlLibrary;
  readonly newExecutionId: () => string;
  readonly stepSchemas: StepSchemaLibrary;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** What is kept of earlier steps. Nothing is added to it. */
  readonly memory?: StepMemory | undefined;
}

export type TriedAgent = Pick<AgentRow, 'name' | 'data' | 'stepSchemas'>;

/** A large step, which another thread has read and tries there. */
export interface HeldTrial {
  readonly name: string;
  readonly sha256: string;
  tried(rows: readonly StoredDefinition[], trial: Omit<Trial, 'step'>): Promise<Explanation>;
}

/** Input of a trial. */
export interface Trial {
  readonly step: Step;
  readonly stage: Stage;
  /** Whether the caller receives actual causes of failures. */
  readonly mayKnowAll: boolean;
  /** Whether the controls are those of an agent whose client has never requested them. */
  readonly neverAsked: boolean;
  /** The agent that takes the step, and whose registered schemas it is compared with; null for none. */
  readonly agent: TriedAgent | null;
  /** Whose memory checks are explained with; null where they cannot be evaluated, because it is not known. */
  readonly identity: StepIdentity | null;
  /** Parts of the request without effect; for the single control in it. */
  readonly ignored: readonly Warning[];
}

/** A verdict, with what the comparison of the step with its registered schemas gives. */
export interface TriedVerdict extends Verdict {
  readonly schema_mismatch: SchemaMismatch | null;
  readonly outcome: VerdictOutcome;
  /** The halt that denies the step whatever its controls say. Absent without one. */
  readonly halt?: HaltNotice;
  /** The step that could run instead; only with the outcome `modify`. */
  readonly modification?: StepModification;
}

/** The reply of Explain. Members are those of the message. */
export interface Explanation {
  readonly verdict: TriedVerdict;
  readonly controls: readonly ControlExplanation[];
  readonly omitted_controls: number;
}

/**
 * Up to this total number of characters checked by all leaves, each leaf runs individually, to be timed.
 * Beyond, a pass over the text may rule out many at once, as in an evaluation: a trial must neither block
 * others much longer nor exceed the work limit of an evaluation earlier.
 */
const MAX_CHARACTERS_ASKED_EACH = 200_000;

/** Evaluates a step with some controls, and explains each of them, in their order. */
export async function tryStep(
  rows: readonly StoredDefinition[],
  { step, stage, mayKnowAll, neverAsked, agent, identity, ignored }: Trial,
  { registry, library, stepSchemas, newExecutionId, now, clock, memory }: TrialOptions,
): Promise<Explanation> {
  const linkable = await mapInTurns(rows, ({ id, name, data }) => ({
    id,
    name,
    prepared: library.prepare(data),
  }));
  const leaves = linkable.reduce((sum, control) => sum + leavesOfControls(control).length, 0);
  const askEach = leaves * stringifyJson({ ...step }).length <= MAX_CHARACTERS_ASKED_EACH;
  const stopwatch = createStopwatch({ now, askEach });
  const measured = linkable.map(({ id, name, prepared }) => {
    const { condition } = prepared;
    const watched = condition === null ? null : stopwatch.measured(condition);
    return { id, name, prepared: { ...prepared, condition: watched } };
  });
  const problems = new Map<number, string>();
  const nowMs = clock();
  const facts: AgentFacts | null =
    agent === null ? null : { name: agent.name, metadata: registeredMetadata(agent.data) };
  const program = linkProgram(measured, {
    newExecutionId,
    withTimeout,
    nextTurn: sharedTurn,
    now: () => nowMs,
    onFailure: ({ controlId, problem }) => problems.set(controlId, problem),
  });
  // Problems of definitions are found again; evaluation failures are only collected here.
  problems.clear();
  const comparison =
    agent === null
      ? null
      : await stepSchemas.comparisonOf({ mode: agent.stepSchemas, registration: agent.data });
  const compared = comparison === null ? null : compareStep(comparison, step, stage);
  const remembered =
    !program.remembers || memory === undefined || identity === null
      ? null
      : { memory, identity, isTrial: true, isDenied: compared?.denies === true };
  const spent = compared?.spent ?? 0;
  const verdict = await program.evaluate(step, stage, 'full', undefined, spent, facts, remembered);
  const left = compared?.denies === true ? null : (program.lifts?.of(verdict) ?? null);
  const lifted =
    left === null
      ? null
      : await liftStep(
          {
            program,
            step,
            stage,
            agent: facts,
            signal: NEVER_ABORTED,
            accepts: OUTCOME_WORDS,
            tried: (one, without) =>
              program.evaluate(one, stage, 'full', undefined, 0, facts, remembered, without),
            foreseen: (_one, _without, known) => known,
            counted: (_one, _without, known) => known,
            refused: async () => {},
            ask: null,
          },
          verdict,
          left,
        );
  const explain = createExplainer({
    step,
    stage,
    verdict,
    stopwatch,
    agent: facts,
    nowMs,
    problems: mayKnowAll ? problems : null,
  });
  const hasExpressions = linkable.some((control) => leavesOfControls(control).some(isExpression));
  const catalogue = agent === null || !hasExpressions ? null : stepsOf(agent);
  const shown = measured.slice(0, MAX_EXPLAINED_CONTROLS).map((control, index) => ({
    ...control,
    text: rows[index]?.data ?? '',
  }));
  const denying = denyingControls(rows, registry);
  const controls = await mapInTurns(shown, ({ text, ...control }) => {
    const definition = definitionOf(text);
    const stored = readStoredDefinition(text, registry);
    const own = stored.ok ? explainWarnings(stored.stored, step, registry, neverAsked, catalogue) : [];
    const hidden =
      stored.ok && !isDraft(stored.stored) ? hiddenAmong(denying, control.id, stored.stored, registry) : [];
    const warnings = listed(ignored, own, hidden);
    return explain({ ...control, definition, isDraft: isStoredDraft(definition), warnings });
  });
  const last = lifted?.verdict ?? verdict;
  const tried: TriedVerdict = {
    ...withComparison(last, compared, step),
    schema_mismatch: compared?.mismatch ?? null,
    outcome: compared?.denies === true ? 'deny' : (lifted?.outcome ?? outcomeOf(verdict, undefined)),
    ...(lifted?.modification ? { modification: lifted.modification } : {}),
  };
  return { verdict: tried, controls, omitted_controls: rows.length - controls.length };
}

const NEVER_ABORTED = new AbortController().signal;

function isExpression({ part }: { readonly part: EvaluatorPart }): boolean {
  return part.evaluatorName === 'cel';
}

function stepsOf({ name, data }: Pick<AgentRow, 'name' | 'data'>): StepCatalogue {
  const catalogue = emptyCatalogue(`agent "${name}"`, true);
  addSteps(catalogue, data);
  return catalogue;
}

/** Invalid JSON is parsed as null, as in the library. */
function definitionOf(text: string): JsonValue {
  try {
    return parseStoredJson(text);
  } catch {
    return null;
  }
}

/**
 * Reasons why a control has less effect on a step than intended. `neverAsked`: whether it is a control of an
 * agent whose client has never requested controls. `catalogue`: the registered steps of the agent, if there is one.
 */
export function explainWarnings(
  control: StoredControl,
  step: Pick<Step, 'name'>,
  registry: EvaluatorRegistry,
  neverAsked: boolean,
  catalogue: StepCatalogue | null,
): Warning[] {
  return listed(warnings());

  function* warnings(): Generator<Warning, void> {
    if (!isDraft(control) && control.execution === 'sdk') {
      const doubt = neverAsked ? '; the client of this agent has never asked for its controls' : '';
      const message = `its execution is "sdk", so that clients evaluate it and the service does not${doubt}`;
      yield { code: 'client_side', field: 'data.execution', message };
    }
    for (const warning of definitionWarnings(control, registry)) {
      // This affects only names that end with a line break.
      if (warning.code !== 'end_anchor' || /[\r\n]$/.test(step.name)) yield warning;
    }
    if (isDraft(control) || catalogue === null || catalogue.steps.length === 0) return;
    const { notes, refused } = expressionNotes(control, catalogue);
    for (const { warning } of refused) yield warning;
    yield* notes;
  }
}
