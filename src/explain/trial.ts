import { setImmediate as nextTurn } from 'node:timers/promises';
import { listed, type Warning } from '../contract/warnings/warning.js';
import type { StoredDefinition } from '../controls/agent-control-store.js';
import { isDraft, type StoredControl } from '../controls/definition.js';
import { readStoredDefinition } from '../controls/definition-presentation.js';
import { definitionWarnings } from '../controls/definition-warnings/definition-warnings.js';
import { isStoredDraft } from '../controls/stored-control-schema.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import { leavesOfControls } from '../core/linked-control.js';
import { linkProgram } from '../core/program.js';
import { createStopwatch } from '../core/stopwatch.js';
import type { Stage, Step, Verdict } from '../core/types.js';
import { withTimeout } from '../database/in-time.js';
import type { ControlLibrary } from '../decisions/control-library.js';
import { mapInTurns } from '../decisions/map-in-turns.js';
import type { JsonValue } from '../json/json-value.js';
import { parseStoredJson } from '../json/parse-json.js';
import { stringifyJson } from '../json/stringify-json.js';
import { MAX_EXPLAINED_CONTROLS } from './explain-schema.js';
import { type ControlExplanation, createExplainer } from './explanation.js';

/** What trials need from outside. */
export interface TrialOptions {
  readonly registry: EvaluatorRegistry;
  /** Shared with the snapshot, so that what agents use is not compiled again. */
  readonly library: ControlLibrary;
  readonly newExecutionId: () => string;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** What is to be tried. */
export interface Trial {
  readonly step: Step;
  readonly stage: Stage;
  /** Whether the caller is told what really went wrong. */
  readonly mayKnowAll: boolean;
  /** Whether the controls are those of an agent whose client has never asked for them. */
  readonly neverAsked: boolean;
  /** What of the request has no effect; for the one control that it brings. */
  readonly ignored: readonly Warning[];
}

/** The reply of Explain. Members are those of the message. */
export interface Explanation {
  readonly verdict: Verdict;
  readonly controls: readonly ControlExplanation[];
  readonly omitted_controls: number;
}

/**
 * As long as all leaves together look at no more characters than this, each is asked by itself, so that each has its
 * time. Beyond, a pass over the text may rule out many at once, as in an evaluation: a trial must neither hold up
 * others much longer than that nor come to the bound on the work of an evaluation where that does not.
 */
const MAX_CHARACTERS_ASKED_EACH = 200_000;

/** Evaluates a step by some controls, and explains each of them, in their order. */
export async function tryStep(
  rows: readonly StoredDefinition[],
  { step, stage, mayKnowAll, neverAsked, ignored }: Trial,
  { registry, library, newExecutionId, now }: TrialOptions,
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
  const program = linkProgram(measured, {
    newExecutionId,
    withTimeout,
    nextTurn,
    onFailure: ({ controlId, problem }) => problems.set(controlId, problem),
  });
  // What is wrong with definitions is found out again; what fails in the evaluation is told here only.
  problems.clear();
  const verdict = await program.evaluate(step, stage, 'full');
  const explain = createExplainer({
    step,
    stage,
    verdict,
    stopwatch,
    problems: mayKnowAll ? problems : null,
  });
  const shown = measured.slice(0, MAX_EXPLAINED_CONTROLS).map((control, index) => ({
    ...control,
    text: rows[index]?.data ?? '',
  }));
  const controls = await mapInTurns(shown, ({ text, ...control }) => {
    const definition = definitionOf(text);
    const stored = readStoredDefinition(text, registry);
    const own = stored.ok ? explainWarnings(stored.stored, step, registry, neverAsked) : [];
    const warnings = listed(ignored, own);
    return explain({ ...control, definition, isDraft: isStoredDraft(definition), warnings });
  });
  return { verdict, controls, omitted_controls: rows.length - controls.length };
}

/** Text that is no JSON reads as null, as the library takes it. */
function definitionOf(text: string): JsonValue {
  try {
    return parseStoredJson(text);
  } catch {
    return null;
  }
}

/**
 * What keeps a control from saying more about a step than it does. `neverAsked`: whether it is a control of an agent
 * whose client has never asked for controls.
 */
export function explainWarnings(
  control: StoredControl,
  step: Pick<Step, 'name'>,
  registry: EvaluatorRegistry,
  neverAsked: boolean,
): Warning[] {
  return listed(warnings());

  function* warnings(): Generator<Warning, void> {
    if (!isDraft(control) && control.execution === 'sdk') {
      const doubt = neverAsked ? '; the client of this agent has never asked for its controls' : '';
      const message = `its execution is "sdk", so that clients evaluate it and the service does not${doubt}`;
      yield { code: 'client_side', field: 'data.execution', message };
    }
    for (const warning of definitionWarnings(control, registry)) {
      // Of all names, only those that end with a line break are not what they seem to a pattern.
      if (warning.code !== 'end_anchor' || /[\r\n]$/.test(step.name)) yield warning;
    }
  }
}
