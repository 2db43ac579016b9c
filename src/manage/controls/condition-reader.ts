import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { type IssueSink, readWith, report } from '../../contract/input/fields.js';
import { FIELD_REQUIRED } from '../../contract/input/messages.js';
import {
  MAX_CONDITION_COMPILE_COST,
  MAX_CONDITION_DEPTH,
  MAX_CONDITION_NODES,
} from '../../kernel/core/condition-view.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Condition, EvaluatorRef } from './definition/definition.js';
import { evaluatorRefSchema, selectorSchema } from './definition/definition-members.js';
import { BRANCHES, member, readableReference } from './definition/readable-leaves.js';

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
  const forms: Form[] = [];
  readLeaf(value, path, walk, forms);
  for (const name of ['and', 'and_', 'or', 'or_'] as const) {
    const children = readChildren(member(value, name), [...path, name], depth, walk);
    if (children === undefined) continue;
    const node = name.startsWith('and') ? { and: children } : { or: children };
    forms.push({ node, isWhole: !isEmptyList(value[name]) });
  }
  for (const name of ['not', 'not_'] as const) {
    const child = member(value, name);
    if (child === undefined || !meetNodes(1, walk)) continue;
    const not = readNode(child, [...path, name], depth + 1, walk);
    forms.push({ node: not && { not }, isWhole: true });
  }
  if (walk.tooDeep || walk.tooManyNodes || tooCostly(walk)) return undefined;
  // Which form a member of a wrong type is meant to be is not known.
  if (BRANCHES.some((name) => isMalformed(name, member(value, name)))) return undefined;
  const [form] = forms;
  if (form?.isWhole && forms.length === 1) {
    return walk.problems > problemsBefore ? undefined : form.node;
  }
  const rule = 'must have exactly one form: selector with evaluator, a non-empty and, a non-empty or, or not';
  report(walk, 'value_error', rule, value, [...path]);
  return undefined;
}

/** A form that is present in a node. */
interface Form {
  /** Undefined when its members are invalid. */
  readonly node: Condition | undefined;
  /** Whether it has the members of its form, valid or not. */
  readonly isWhole: boolean;
}

function isMalformed(name: (typeof BRANCHES)[number], value: JsonValue | undefined): boolean {
  return value !== undefined && (name.startsWith('not') ? !isObject(value) : !Array.isArray(value));
}

function isEmptyList(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
}

function readLeaf(node: JsonObject, path: Path, walk: Walk, forms: Form[]): void {
  const sentSelector = member(node, 'selector');
  const sentEvaluator = member(node, 'evaluator');
  if (sentSelector === undefined && sentEvaluator === undefined) return;
  const selector =
    sentSelector === undefined
      ? undefined
      : readWith(selectorSchema, sentSelector, walk, [...path, 'selector']);
  const evaluator =
    sentEvaluator === undefined ? undefined : readEvaluator(sentEvaluator, [...path, 'evaluator'], walk);
  forms.push({
    node: selector !== undefined && evaluator !== undefined ? { selector, evaluator } : undefined,
    isWhole: sentSelector !== undefined && sentEvaluator !== undefined,
  });
}

function readEvaluator(value: JsonValue, path: Path, walk: Walk): EvaluatorRef | undefined {
  const reference = readWith(evaluatorRefSchema, value, walk, path);
  // The configuration is also checked if other members of the reference are invalid.
  const { name, config } = reference ?? readableReference(value) ?? {};
  const evaluator = name === undefined ? undefined : walk.registry.get(name);
  if (evaluator === undefined || config === undefined) return reference;
  // Deployed clients expect the members of a configuration directly below `evaluator`, without `config`.
  walk.compileCost += evaluator.compileCost?.(config) ?? 0;
  if (!tooCostly(walk)) readWith(evaluator.configSchema, config, walk, path);
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
