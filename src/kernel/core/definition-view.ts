import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { type ConditionView, viewCondition } from './condition-view.js';
import { describeThrown } from './failure.js';
import type { LiftView } from './lift.js';
import { readLift } from './lift-view.js';
import {
  booleanIn,
  check,
  listIn,
  objectIn,
  objectOf,
  optionalTextIn,
  strictMember,
  textIn,
  textsIn,
  wordIn,
  wordOf,
} from './strict-reader.js';
import {
  DECISIONS,
  type Decision,
  EXECUTIONS,
  type Execution,
  STAGES,
  type Stage,
  type SteeringContext,
} from './types.js';

/** Scope of a control; null members do not restrict. */
export interface ScopeView {
  readonly stages: readonly Stage[] | null;
  readonly stepTypes: readonly string[] | null;
  readonly stepNames: readonly string[] | null;
  readonly stepNameRegex: string | null;
}

/** A definition as the core compiles it. */
export interface DefinitionView {
  readonly enabled: boolean;
  readonly execution: Execution;
  readonly scope: ScopeView;
  readonly condition: ConditionView;
  readonly decision: Decision;
  readonly steeringContext: SteeringContext | null;
  /** Null for a control whose match is final. */
  readonly lift: LiftView | null;
}

/** The readable parts of a damaged definition. Null: not readable. */
export interface DamagedView {
  readonly problem: string;
  /** False only when the definition readably excludes evaluation by the service. */
  readonly takesPart: boolean;
  readonly scope: ScopeView | null;
  readonly decision: Decision | null;
  readonly steeringContext: SteeringContext | null;
}

export type DefinitionReading =
  | { readonly intact: true; readonly view: DefinitionView }
  | { readonly intact: false; readonly damaged: DamagedView };

/**
 * Reads a stored definition. Stored data are not trusted: anything without the shape accepted on input makes
 * the whole definition damaged, never a definition with a part left out. Never throws.
 */
export function readDefinition(definition: JsonValue): DefinitionReading {
  try {
    return { intact: true, view: readIntact(objectOf(definition, 'the definition')) };
  } catch (error) {
    return { intact: false, damaged: readDamaged(definition, describeThrown(error)) };
  }
}

/** Reads the readable parts of a definition that proved unusable. Never throws. */
export function readDamaged(definition: JsonValue, problem: string): DamagedView {
  const data = isObject(definition) ? definition : {};
  const action = strictMember(data, 'action');
  return {
    problem,
    takesPart: strictMember(data, 'enabled') !== false && strictMember(data, 'execution') !== 'sdk',
    scope: attempt(() => readScope(data)),
    decision: attempt(() =>
      wordOf(isObject(action) ? strictMember(action, 'decision') : undefined, DECISIONS, ''),
    ),
    steeringContext: attempt(() => (isObject(action) ? readSteering(action) : null)),
  };
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function readIntact(data: JsonObject): DefinitionView {
  optionalTextIn(data, 'description');
  const tags = strictMember(data, 'tags');
  if (tags !== undefined && tags !== null) textsIn(data, 'tags');
  for (const name of ['template', 'template_values']) {
    const value = strictMember(data, name);
    if (value !== undefined && value !== null) objectIn(data, name);
  }
  const action = objectIn(data, 'action');
  const decision = wordIn(action, 'decision', DECISIONS);
  const steeringContext = readSteering(action);
  const metadata = strictMember(action, 'metadata');
  check(
    metadata === undefined || metadata === null || isObject(metadata),
    'action.metadata is not an object',
  );
  const condition = viewCondition(data);
  check(
    decision !== 'steer' || condition.kind === 'leaf' || steeringContext !== null,
    'a composite steer control has no steering context',
  );
  const execution = wordIn(data, 'execution', EXECUTIONS);
  const scope = readScope(data);
  return {
    enabled: strictMember(data, 'enabled') === undefined ? true : booleanIn(data, 'enabled'),
    execution,
    scope,
    condition,
    decision,
    steeringContext,
    lift: readLift(action, { decision, execution, stages: scope.stages }),
  };
}

function readScope(data: JsonObject): ScopeView {
  const scope = strictMember(data, 'scope') === undefined ? {} : objectIn(data, 'scope');
  return {
    stages: restriction(scope, 'stages', (name) =>
      listIn(scope, name).map((stage) => wordOf(stage, STAGES, name)),
    ),
    stepTypes: restriction(scope, 'step_types', (name) => namesIn(scope, name)),
    stepNames: restriction(scope, 'step_names', (name) => namesIn(scope, name)),
    // Empty text means that no pattern is set.
    stepNameRegex: optionalTextIn(scope, 'step_name_regex') || null,
  };
}

/** A list that, when present, has at least one item: an empty one would silently switch the control off. */
function restriction<T>(scope: JsonObject, name: string, read: (name: string) => T[]): T[] | null {
  const value = strictMember(scope, name);
  if (value === undefined || value === null) return null;
  const items = read(name);
  check(items.length > 0, `scope.${name} is empty`);
  return items;
}

function namesIn(scope: JsonObject, name: string): string[] {
  const names = textsIn(scope, name);
  check(!names.includes(''), `scope.${name} has an empty text`);
  return names;
}

function readSteering(action: JsonObject): SteeringContext | null {
  const stored = strictMember(action, 'steering_context');
  if (stored === undefined || stored === null) return null;
  const context = objectOf(stored, 'steering_context');
  const message = textIn(context, 'message');
  const actions = strictMember(context, 'required_actions');
  if (actions === undefined || actions === null) return { message };
  return { message, required_actions: textsIn(context, 'required_actions') };
}
