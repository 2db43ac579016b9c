import { isObject, type JsonObject, type JsonValue } from '../../packages/exact-json/src/index.js';
import { type IssueSink, readWith, report } from '../contract/input/fields.js';
import { FIELD_REQUIRED } from '../contract/input/messages.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import { MAX_CONDITION_COMPILE_COST, MAX_CONDITION_DEPTH, MAX_CONDITION_NODES } from '../core/limits.js';
import type { Condition, EvaluatorRef } from './definition.js';
import { evaluatorRefSchema, selectorSchema } from './definition-members.js';

/** A parsed condition, or the problem of the tree as a whole. */
export interface ConditionReading {
  /** Undefined when an issue was reported or the tree is too large. */
  readonly condition: Condition | undefined;
  /** The limit that the tree exceeds. Nodes beyond the limit were not read. */
  readonly tooLarge: string | undefined;
}

/**
 * Reads a condition tree. Issues go to `sink`, below the path `condition`. The tree is bounded before it is walked:
 * nothing is read below MAX_CONDITION_DEPTH levels or beyond MAX_CONDITION_NODES nodes.
 */
export function readCondition(
  value: JsonValue | undefined,
  registry: EvaluatorRegistry,
  sink: IssueSink,
): ConditionReading {
  const walk = createWalk(registry, sink);
  const condition = readNode(value, ['condition'], 1, walk);
  let tooLarge: string | undefined;
  if (walk.tooDeep) tooLarge = `the condition is deeper than ${MAX_CONDITION_DEPTH} levels`;
  else if (walk.tooManyNodes) tooLarge = `the condition has more than ${MAX_CONDITION_NODES} nodes`;
  else if (tooCostly(walk)) tooLarge = 'the patterns of the condition cost too much to compile together';
  return { condition: walk.problems === 0 && tooLarge === undefined ? condition : undefined, tooLarge };
}

/** State of one walk over a tree. */
interface Walk extends IssueSink {
  readonly registry: EvaluatorRegistry;
  problems: number;
  /** Nodes encountered, read or not. */
  nodes: number;
  tooDeep: boolean;
  tooManyNodes: boolean;
  /** Total compile cost of the evaluators encountered so far. */
  compileCost: number;
}

function tooCostly(walk: Walk): boolean {
  return walk.compileCost > MAX_CONDITION_COMPILE_COST;
}

function createWalk(registry: EvaluatorRegistry, sink: IssueSink): Walk {
  const push: IssueSink['issues']['push'] = (issue) => {
    walk.problems += 1;
    return sink.issues.push(issue);
  };
  const none = { problems: 0, nodes: 1, tooDeep: false, tooManyNodes: false, compileCost: 0 };
  const walk: Walk = { registry, issues: { push }, ...none };
  return walk;
}

type Path = readonly PropertyKey[];

function readNode(
  value: JsonValue | undefined,
  path: Path,
  depth: number,
  walk: Walk,
): Condition | undefined {
  if (!isObject(value)) {
    if (value === undefined) report(walk, 'missing', FIELD_REQUIRED, value, [...path]);
    else report(walk, 'model_type', 'must be an object', value, [...path]);
    return undefined;
  }
  if (depth > MAX_CONDITION_DEPTH) {
    walk.tooDeep = true;
    return undefined;
  }
  const problemsBefore = walk.problems;
  // One entry for each form present in the node; undefined when that form is incomplete.
  const forms: (Condition | undefined)[] = [];
  readLeaf(value, path, walk, forms);
  for (const name of ['and', 'and_', 'or', 'or_'] as const) {
    const children = readChildren(member(value, name), [...path, name], depth, walk);
    if (children === undefined) continue;
    const form = name.startsWith('and') ? { and: children } : { or: children };
    forms.push(children.length > 0 ? form : undefined);
  }
  for (const name of ['not', 'not_'] as const) {
    const child = member(value, name);
    if (child === undefined || !meetNodes(1, walk)) continue;
    const not = readNode(child, [...path, name], depth + 1, walk);
    forms.push(not && { not });
  }
  // Forms are only validated for a node whose members are valid.
  if (walk.problems > problemsBefore || walk.tooDeep || walk.tooManyNodes || tooCostly(walk))
    return undefined;
  const [form] = forms;
  if (form !== undefined && forms.length === 1) return form;
  const rule = 'must have exactly one form: selector with evaluator, a non-empty and, a non-empty or, or not';
  report(walk, 'value_error', rule, value, [...path]);
  return undefined;
}

function readLeaf(node: JsonObject, path: Path, walk: Walk, forms: (Condition | undefined)[]): void {
  const sentSelector = member(node, 'selector');
  const sentEvaluator = member(node, 'evaluator');
  if (sentSelector === undefined && sentEvaluator === undefined) return;
  const selector =
    sentSelector === undefined
      ? undefined
      : readWith(selectorSchema, sentSelector, walk, [...path, 'selector']);
  const evaluator =
    sentEvaluator === undefined ? undefined : readEvaluator(sentEvaluator, [...path, 'evaluator'], walk);
  forms.push(selector !== undefined && evaluator !== undefined ? { selector, evaluator } : undefined);
}

function readEvaluator(value: JsonValue, path: Path, walk: Walk): EvaluatorRef | undefined {
  const reference = readWith(evaluatorRefSchema, value, walk, path);
  if (reference === undefined) return undefined;
  const evaluator = walk.registry.get(reference.name);
  // Deployed clients expect the members of a configuration directly below `evaluator`, without `config`.
  walk.compileCost += evaluator?.compileCost?.(reference.config) ?? 0;
  if (evaluator !== undefined && !tooCostly(walk))
    readWith(evaluator.configSchema, reference.config, walk, path);
  return reference;
}

function readChildren(
  value: JsonValue | undefined,
  path: Path,
  depth: number,
  walk: Walk,
): Condition[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    report(walk, 'list_type', 'must be a list', value, [...path]);
    return [];
  }
  if (!meetNodes(value.length, walk)) return [];
  const children: Condition[] = [];
  for (const [index, child] of value.entries()) {
    const read = readNode(child, [...path, index], depth + 1, walk);
    if (read !== undefined) children.push(read);
  }
  return children;
}

/** Counts nodes before they are read; false when the tree has too many. */
function meetNodes(count: number, walk: Walk): boolean {
  walk.nodes += count;
  if (walk.nodes > MAX_CONDITION_NODES) walk.tooManyNodes = true;
  return !walk.tooManyNodes;
}

/** An own member; undefined when it is absent or null, which are equivalent in a condition. */
function member(node: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(node, name) ? (node[name] ?? undefined) : undefined;
}
