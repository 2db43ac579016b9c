import { RE2JS } from 're2js';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { Evaluator } from '../../../../src/kernel/core/evaluator.js';
import type {
  ControlResult,
  EvaluatorResult,
  Stage,
  Step,
  Verdict,
} from '../../../../src/kernel/core/types.js';
import { FULL_CALL } from '../../../support/check-call.js';
import { type ReferenceControl, type ReferenceNode, readReference } from './read.js';
import { listMatches, regexMatches } from './texts.js';

/**
 * Sections 8.3 to 8.7 of the contract, with the decisions of the architecture, as plainly as they can be said: every
 * control is read, asked for its scope and walked through anew at every step; nothing is compiled, indexed or shared.
 */

interface Said {
  matched: boolean;
  confidence: number;
  message: string | null;
  metadata: JsonObject | null;
  error: string | null;
  trace: JsonObject;
}

export interface ReferenceInput {
  readonly id: number;
  readonly name: string;
  readonly definition: JsonValue;
}

type Item = Omit<ControlResult, 'control_execution_id'>;

/** A verdict with everything but the execution ids, whose values are free. */
export type ReferenceVerdict = Omit<Verdict, 'matches' | 'errors' | 'non_matches'> & {
  readonly matches: Item[];
  readonly errors: Item[];
  readonly non_matches: Item[];
};

/** A condition came to an external evaluator before all local controls were looked at. */
class Postponed extends Error {}

const INTERNAL = 'Internal evaluator error';
const TIMED_OUT = 'Evaluator timed out';
const MISSING = 'The step lacks data that the control requires';
const NAME_PATTERN = 'Invalid step name regex';

/**
 * The full verdict. Of the order of what happens at the same time it knows one thing only: external evaluators are
 * asked last, and not at all when a deny control has matched.
 */
export async function interpret(
  controls: readonly ReferenceInput[],
  step: Step,
  stage: Stage,
  evaluators: ReadonlyMap<string, Evaluator>,
): Promise<ReferenceVerdict> {
  const scopeErrors: Item[] = [];
  const said = new Map<ReferenceInput, Said>();
  const postponed: ReferenceInput[] = [];
  const read = new Map(controls.map((control) => [control, readReference(control.definition, evaluators)]));
  const readOf = (control: ReferenceInput) => read.get(control) as ReferenceControl;

  const newestFirst = [...controls].sort((left, right) => right.id - left.id);
  for (const control of newestFirst) {
    const answer = isInScope(readOf(control), step, stage);
    if (answer === 'no') continue;
    if (answer === 'unknown') {
      scopeErrors.push(itemOf(control, readOf(control), failed(NAME_PATTERN)));
      continue;
    }
    try {
      said.set(control, await evaluateControl(readOf(control), step, evaluators, false));
    } catch (error) {
      if (!(error instanceof Postponed)) throw error;
      postponed.push(control);
    }
  }
  const denied = [...said].some(([control, { matched }]) => matched && readOf(control).decision === 'deny');
  for (const control of denied ? [] : postponed) {
    said.set(control, await evaluateControl(readOf(control), step, evaluators, true));
  }

  const lists = { matches: [] as Item[], errors: [] as Item[], non_matches: [] as Item[] };
  for (const control of newestFirst) {
    const one = said.get(control);
    if (one === undefined) continue;
    const list = one.error !== null ? 'errors' : one.matched ? 'matches' : 'non_matches';
    lists[list].push(itemOf(control, readOf(control), resultOf(one)));
  }
  return conclude(lists, scopeErrors, said.size + (denied ? postponed.length : 0));
}

function conclude(
  { matches, errors, non_matches }: { matches: Item[]; errors: Item[]; non_matches: Item[] },
  scopeErrors: Item[],
  inScope: number,
): ReferenceVerdict {
  const evaluated = matches.length + errors.length + non_matches.length;
  const allErrors = [...scopeErrors, ...errors];
  const having = (list: readonly Item[], action: string) => list.filter((item) => item.action === action);
  const causes = [...having(matches, 'deny'), ...having(allErrors, 'deny'), ...having(matches, 'steer')];
  let confidence = (evaluated - errors.length) / evaluated;
  if (evaluated === 0) confidence = scopeErrors.length > 0 ? 0 : 1;
  if (having(matches, 'deny').length > 0) confidence = 1;
  if (having(allErrors, 'deny').length > 0) confidence = 0;
  return {
    is_safe: causes.length === 0,
    confidence,
    reason: causes.length === 0 ? null : reasonOf(causes),
    matches,
    errors: allErrors,
    non_matches,
    selected_controls: inScope + scopeErrors.length,
    evaluated_controls: matches.length + non_matches.length,
    skipped_controls: inScope - matches.length - non_matches.length - errors.length,
  };
}

function reasonOf(causes: readonly Item[]): string {
  const named = causes.slice(0, 5).map(({ action, control_name, result }) => {
    const what = result.error === null ? 'matched' : 'could not be evaluated';
    return `${action} control "${control_name}" ${what}${result.message ? `: ${cut(result.message)}` : ''}`;
  });
  return named.join('; ') + (causes.length > 5 ? `; and ${causes.length - 5} more` : '');
}

function isInScope(
  { takesPart, scope }: ReferenceControl,
  step: Step,
  stage: Stage,
): 'yes' | 'no' | 'unknown' {
  const { stages, step_types: types, step_names: names, step_name_regex: pattern } = scope;
  if (!takesPart) return 'no';
  if (stages && !stages.includes(stage)) return 'no';
  if (types && !types.includes(step.type)) return 'no';
  if (!names && !pattern) return 'yes';
  if (names?.includes(step.name)) return 'yes';
  if (!pattern) return 'no';
  try {
    return RE2JS.compile(pattern).matcher(step.name).find() ? 'yes' : 'no';
  } catch {
    return 'unknown';
  }
}

async function evaluateControl(
  { condition }: ReferenceControl,
  step: Step,
  evaluators: ReadonlyMap<string, Evaluator>,
  externalToo: boolean,
): Promise<Said> {
  if (condition === null) return { ...failed(INTERNAL), trace: {} };
  return walk(condition, false);

  async function walk(node: ReferenceNode, negated: boolean): Promise<Said> {
    if (node.kind === 'leaf') return walkLeaf(node, negated);
    const said: Said[] = [];
    for (const child of node.children) {
      const one = await walk(child, node.kind === 'not' ? !negated : negated);
      said.push(one);
      if (one.error !== null || (node.kind !== 'not' && one.matched === (node.kind === 'or'))) break;
    }
    return combine(node, said);
  }

  async function walkLeaf(
    { path, required, name, config }: Extract<ReferenceNode, { kind: 'leaf' }>,
    negated: boolean,
  ): Promise<Said> {
    const evaluator = evaluators.get(name);
    if (evaluator?.external === true && !externalToo) throw new Postponed();
    const isLacking = required && select(step, path) === null;
    let result: EvaluatorResult;
    try {
      if (isLacking) throw new Error('nothing is selected');
      if (evaluator === undefined) throw new Error(`unknown evaluator ${name}`);
      const call = { ...FULL_CALL, place: { path, negated } };
      const data = select(step, path);
      result = checked(await evaluator.compile(config).evaluate(data, call));
      refuseWrongResult(name, config, data, negated, result);
    } catch (error) {
      result = failed(error instanceof Error ? error.message : String(error));
    }
    if (result.error !== null) {
      const text = isLacking ? MISSING : /timeout/i.test(result.error) ? TIMED_OUT : INTERNAL;
      result = { ...failed(text), metadata: result.metadata };
    }
    const { matched, confidence, message, error } = result;
    const trace = {
      type: 'leaf',
      evaluated: true,
      matched,
      selector_path: path,
      evaluator_name: name,
      confidence,
      error,
      message: message ? cut(message) : null,
    };
    return { ...result, trace };
  }
}

/** What a node says whose first children said `said`; the others were left out. */
function combine(node: Exclude<ReferenceNode, { kind: 'leaf' }>, said: readonly Said[]): Said {
  const last = said[said.length - 1] as Said;
  const first = said[0] as Said;
  const isError = last.error !== null;
  const deciding = node.kind === 'or';
  const decided = node.kind !== 'not' && !isError && last.matched === deciding;
  const matched = isError ? false : node.kind === 'not' ? !last.matched : decided ? deciding : !deciding;
  const reason = isError ? 'error' : decided ? (deciding ? 'or_matched' : 'and_failed') : null;
  const trace: JsonObject = {
    type: node.kind,
    evaluated: true,
    matched: isError ? null : matched,
    children: [
      ...said.map((one) => one.trace),
      ...node.children.slice(said.length).map((child) => skipped(child, reason)),
    ],
  };
  if (reason !== null && node.kind !== 'not') trace.short_circuit_reason = reason;
  if (isError) return { ...last, trace };
  return {
    matched,
    confidence: Math.min(...said.map(({ confidence }) => confidence)),
    message: matched ? 'Condition matched' : 'Condition did not match',
    metadata: (node.kind === 'not' || decided ? last : first).metadata,
    error: null,
    trace,
  };
}

function skipped(node: ReferenceNode, reason: string | null): JsonObject {
  const common = { type: node.kind, evaluated: false, matched: null, short_circuit_reason: reason };
  if (node.kind !== 'leaf')
    return { ...common, children: node.children.map((child) => skipped(child, reason)) };
  return { ...common, selector_path: node.path, evaluator_name: node.name, confidence: null, error: null };
}

function checked(result: unknown): EvaluatorResult {
  const { matched, confidence, message, metadata, error } = result as Partial<EvaluatorResult>;
  const isSound =
    typeof matched === 'boolean' &&
    typeof confidence === 'number' &&
    confidence >= 0 &&
    confidence <= 1 &&
    (message === null || typeof message === 'string') &&
    (error === null || typeof error === 'string') &&
    (metadata === null || (typeof metadata === 'object' && !Array.isArray(metadata)));
  if (!isSound) throw new Error('malformed');
  return result as EvaluatorResult;
}

/** What the evaluators of texts find has to be what a search of each text by itself finds. */
function refuseWrongResult(
  name: string,
  config: JsonObject,
  data: JsonValue,
  negated: boolean,
  { matched, metadata }: EvaluatorResult,
): void {
  if (name === 'regex') {
    const expected = regexMatches(config, data, negated);
    if (matched !== expected) throw new Error(`regex: ${JSON.stringify(config)} should say ${expected}`);
  }
  if (name !== 'list') return;
  const { matched: expected, hits } = listMatches(config, data, negated);
  const found = metadata?.matches ?? [];
  if (matched !== expected || JSON.stringify(found) !== JSON.stringify(hits)) {
    throw new Error(`list: ${JSON.stringify(config)} should say ${expected} and ${hits}`);
  }
}

function select(step: Step, path: string): JsonValue {
  const { type, name, input, output, context } = step;
  const whole: JsonObject = { type, name, input, output, context };
  if (path === '*') return whole;
  let value: JsonValue = whole;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    value = Object.hasOwn(value, key) ? ((value as JsonObject)[key] ?? null) : null;
  }
  return value;
}

function failed(text: string): EvaluatorResult {
  return { matched: false, confidence: 0, message: text, metadata: null, error: text };
}

function resultOf({ matched, confidence, message, metadata, error, trace }: Said): EvaluatorResult {
  const traced = Object.keys(trace).length === 0 ? null : { ...metadata, condition_trace: trace };
  return { matched, confidence, message, metadata: traced, error };
}

function itemOf({ id, name }: ReferenceInput, read: ReferenceControl, result: EvaluatorResult): Item {
  const { decision: action, steering: steering_context } = read;
  return { control_id: id, control_name: name, action, result, steering_context };
}

function cut(text: string): string {
  const characters = [...text];
  return characters.length <= 200 ? text : `${characters.slice(0, 197).join('')}...`;
}
