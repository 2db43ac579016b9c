import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { Evaluator } from '../../../../src/kernel/core/evaluator.js';
import type { Decision, SteeringContext } from '../../../../src/kernel/core/types.js';

/**
 * What the contract says a stored definition looks like (sections 6.1 to 6.5), as a schema and one plain recursion.
 * Written without the code of the core, against which it is held.
 */

export interface ReferenceScope {
  stages?: ('pre' | 'post')[] | null | undefined;
  step_types?: string[] | null | undefined;
  step_names?: string[] | null | undefined;
  step_name_regex?: string | null | undefined;
}

export type ReferenceNode =
  | { kind: 'leaf'; path: string; required: boolean; name: string; config: JsonObject }
  | { kind: 'and' | 'or'; children: ReferenceNode[] }
  | { kind: 'not'; children: [ReferenceNode] };

export interface ReferenceControl {
  takesPart: boolean;
  scope: ReferenceScope;
  decision: Decision;
  steering: SteeringContext | null;
  /** Null when the control is damaged. */
  condition: ReferenceNode | null;
}

const anyObject = z.looseObject({});
const scope = z.looseObject({
  stages: z
    .array(z.enum(['pre', 'post']))
    .min(1)
    .nullish(),
  step_types: z.array(z.string().min(1)).min(1).nullish(),
  step_names: z.array(z.string().min(1)).min(1).nullish(),
  step_name_regex: z.string().nullish(),
});
const decision = z.enum(['deny', 'steer', 'observe']);
const steering = z
  .looseObject({ message: z.string(), required_actions: z.array(z.string()).nullish() })
  .nullish();
const definition = z.looseObject({
  description: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  template: anyObject.nullish(),
  template_values: anyObject.nullish(),
  enabled: z.boolean().optional(),
  execution: z.enum(['server', 'sdk']),
  scope: scope.optional(),
  action: z.looseObject({ decision, steering_context: steering, metadata: anyObject.nullish() }),
});
const leaf = z.looseObject({
  selector: z.looseObject({ path: z.string().nullish(), required: z.boolean().nullish() }),
  evaluator: z.looseObject({ name: z.string(), config: anyObject, metadata: anyObject.nullish() }),
});

class Damaged extends Error {}

/** Reads a definition; a damaged one as far as it is readable. */
export function readReference(
  stored: JsonValue,
  evaluators: ReadonlyMap<string, Evaluator>,
): ReferenceControl {
  try {
    const read = definition.safeParse(stored);
    if (!read.success) throw new Damaged();
    const { enabled, execution, action } = read.data;
    const condition = readCondition(stored as JsonObject);
    const guidance = steeringOf(action.steering_context);
    if (action.decision === 'steer' && condition.kind !== 'leaf' && guidance === null) throw new Damaged();
    const takesPart = enabled !== false && execution === 'server';
    if (takesPart) refuseBadConfigs(condition, evaluators);
    return {
      takesPart,
      scope: read.data.scope ?? {},
      decision: action.decision,
      steering: guidance,
      condition,
    };
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
    return readDamaged(stored);
  }
}

function readDamaged(stored: JsonValue): ReferenceControl {
  const whole = anyObject.safeParse(stored);
  const data = (whole.success ? whole.data : {}) as Partial<JsonObject>;
  const readScope = scope.optional().safeParse(data.scope);
  const action = anyObject.safeParse(data.action);
  const readDecision = decision.safeParse(action.data?.decision);
  const readSteering = steering.safeParse(action.data?.steering_context);
  return {
    takesPart: data.enabled !== false && data.execution !== 'sdk',
    scope: (readScope.success ? readScope.data : undefined) ?? {},
    decision: readDecision.success ? readDecision.data : 'deny',
    steering: readSteering.success ? steeringOf(readSteering.data) : null,
    condition: null,
  };
}

function steeringOf(read: z.infer<typeof steering>): SteeringContext | null {
  if (read === null || read === undefined) return null;
  const { message, required_actions: actions } = read;
  return actions === null || actions === undefined ? { message } : { message, required_actions: actions };
}

function readCondition(data: JsonObject): ReferenceNode {
  const { condition = null, selector = null, evaluator = null } = data as Partial<JsonObject>;
  const isOld = selector !== null || evaluator !== null;
  if (isOld && condition !== null) throw new Damaged();
  const root = isOld ? { selector, evaluator } : condition;
  if (depthOf(root) > 12) throw new Damaged();
  return readNode(root);
}

function depthOf(node: JsonValue): number {
  if (typeof node !== 'object' || node === null) return 1;
  const members = node as JsonObject;
  const children = ['and', 'and_', 'or', 'or_', 'not', 'not_'].flatMap((name) => members[name] ?? []);
  return 1 + Math.max(0, ...children.map(depthOf));
}

function readNode(node: JsonValue): ReferenceNode {
  const read = anyObject.safeParse(node);
  if (!read.success) throw new Damaged();
  const data = read.data as JsonObject;
  const kinds = ['and', 'and_', 'or', 'or_', 'not', 'not_'].filter((name) => (data[name] ?? null) !== null);
  const isLeaf = (data.selector ?? null) !== null || (data.evaluator ?? null) !== null;
  const [kind, ...more] = kinds;
  if (more.length > 0 || isLeaf === (kind !== undefined)) throw new Damaged();
  if (kind === undefined) return readLeaf(data);
  const value = data[kind] as JsonValue;
  if (kind.startsWith('not')) return { kind: 'not', children: [readNode(value)] };
  if (!Array.isArray(value) || value.length === 0) throw new Damaged();
  return { kind: kind.startsWith('and') ? 'and' : 'or', children: value.map(readNode) };
}

function readLeaf(data: JsonObject): ReferenceNode {
  const read = leaf.safeParse(data);
  if (!read.success) throw new Damaged();
  const { selector, evaluator } = read.data;
  const path = selector.path ?? '*';
  const name = evaluator.name.trim();
  if (!['*', 'type', 'name', 'input', 'output', 'context'].includes(path.split('.')[0] ?? ''))
    throw new Damaged();
  if (name === '') throw new Damaged();
  const required = selector.required === true;
  return { kind: 'leaf', path, required, name, config: evaluator.config as JsonObject };
}

/** A configuration that its evaluator refuses makes the control damaged, wherever it stands in the tree. */
function refuseBadConfigs(node: ReferenceNode, evaluators: ReadonlyMap<string, Evaluator>): void {
  if (node.kind !== 'leaf') {
    for (const child of node.children) refuseBadConfigs(child, evaluators);
    return;
  }
  try {
    evaluators.get(node.name)?.compile(node.config);
  } catch {
    throw new Damaged();
  }
}
