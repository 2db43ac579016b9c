import { isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';
import { estimateCost } from '../../linear-text/src/index.js';
import { countValues } from './bounds.js';
import { own, resolveReference, SchemaWorkError } from './reference.js';

/** Deepest chain of schemas that are applied inside one another; a longer one is infinitely recursive. */
const MAX_APPLIED_DEPTH = 1_000;
/** Steps of a pattern, instruction × character, equivalent in time to one unit of work. */
const PATTERN_STEPS_PER_UNIT = 4;
/** Characters of a text counted in the time of one unit of work. */
const CHARACTERS_PER_UNIT = 32;

/** Remaining work; one unit is about one schema applied to one value. */
export interface WorkBudget {
  left: number;
}

/** Keywords whose schema, list of schemas or map of schemas is applied to the same value. */
const SAME_VALUE = ['not', 'if', 'then', 'else'] as const;
const SAME_VALUE_LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const SAME_VALUE_MAPS = ['dependentSchemas', 'dependencies'] as const;
/** Keywords whose schema is applied to items, or to members. */
const EACH_ITEM = ['items', 'additionalItems', 'contains', 'unevaluatedItems'] as const;
const EACH_MEMBER = ['additionalProperties', 'unevaluatedProperties'] as const;

/** The schemas that a schema applies. */
interface Plan {
  /** Fixed cost of each application: every name listed and every value compared. */
  readonly cost: number;
  readonly sameValue: readonly JsonValue[];
  readonly pattern: JsonValue | undefined;
  readonly comparesItems: boolean;
  readonly positional: readonly JsonValue[];
  readonly eachItem: readonly JsonValue[];
  readonly properties: JsonObject;
  readonly byPattern: readonly (readonly [string, JsonValue])[];
  readonly eachMember: readonly JsonValue[];
  readonly names: readonly JsonValue[];
}

/**
 * Subtracts from a budget at least the cost of checking values against a schema, by walking schema and value
 * like a validator that never stops early: references let a small schema require unlimited work, which its
 * text does not show. The returned function throws a SchemaWorkError when the budget is used up, or when the
 * schema recurses infinitely or refers to a missing target. The schema must have passed
 * `schemaBoundsProblem`.
 */
export function schemaWork(root: JsonObject, budget: WorkBudget): (value: JsonValue) => void {
  const plans = new Map<JsonObject, Plan>();
  const patternSizes = new Map<string, number>();

  function spend(units: number): void {
    budget.left -= units;
    if (budget.left < 0) throw new SchemaWorkError('costs too much to check');
  }

  function apply(schema: JsonValue, value: JsonValue, depth: number): void {
    if (depth > MAX_APPLIED_DEPTH) throw new SchemaWorkError('refers to itself without end');
    spend(1);
    if (!isObject(schema)) return;
    let plan = plans.get(schema);
    if (plan === undefined) {
      plan = planOf(schema, root);
      plans.set(schema, plan);
    }
    spend(plan.cost);
    for (const one of plan.sameValue) apply(one, value, depth + 1);
    if (typeof value === 'string') {
      spend(value.length / CHARACTERS_PER_UNIT);
      if (typeof plan.pattern === 'string') spend(patternCost(plan.pattern, value));
    } else if (Array.isArray(value)) applyToItems(plan, value, depth + 1);
    else if (isObject(value)) applyToMembers(plan, value, depth + 1);
  }

  function applyToItems(plan: Plan, items: JsonValue[], depth: number): void {
    // Items are compared in pairs, and comparing two takes time linear in the smaller one.
    if (plan.comparesItems) spend(items.length * countValues(items));
    for (const [index, item] of items.entries()) {
      const schema = plan.positional[index];
      if (schema !== undefined) apply(schema, item, depth);
      for (const one of plan.eachItem) apply(one, item, depth);
    }
  }

  function applyToMembers(plan: Plan, members: JsonObject, depth: number): void {
    for (const [name, member] of Object.entries(members)) {
      const schema = own(plan.properties, name);
      if (schema !== undefined) apply(schema, member, depth);
      for (const [pattern, one] of plan.byPattern) {
        spend(patternCost(pattern, name));
        apply(one, member, depth);
      }
      for (const one of plan.eachMember) apply(one, member, depth);
      for (const one of plan.names) apply(one, name, depth);
    }
  }

  function patternCost(pattern: string, text: string): number {
    let size = patternSizes.get(pattern);
    if (size === undefined) {
      size = estimateCost(pattern, false).instructions;
      patternSizes.set(pattern, size);
    }
    return (size * (text.length + 1)) / PATTERN_STEPS_PER_UNIT;
  }

  return (value) => apply(root, value, 0);
}

function planOf(schema: JsonObject, root: JsonObject): Plan {
  const reference = own(schema, '$ref');
  return {
    cost: costOf(schema),
    sameValue: [
      ...(typeof reference === 'string' ? [resolveReference(root, reference)] : []),
      ...given(schema, SAME_VALUE),
      ...SAME_VALUE_LISTS.flatMap((name) => listOf(own(schema, name))),
      ...SAME_VALUE_MAPS.flatMap((name) => Object.values(objectOf(own(schema, name)))),
    ],
    pattern: own(schema, 'pattern'),
    comparesItems: own(schema, 'uniqueItems') === true,
    positional: [...listOf(own(schema, 'prefixItems')), ...listOf(own(schema, 'items'))],
    eachItem: given(schema, EACH_ITEM),
    properties: objectOf(own(schema, 'properties')),
    byPattern: Object.entries(objectOf(own(schema, 'patternProperties'))),
    eachMember: given(schema, EACH_MEMBER),
    names: given(schema, ['propertyNames']),
  };
}

function costOf(schema: JsonObject): number {
  let cost = 0;
  for (const [name, member] of Object.entries(schema)) {
    if (name === 'enum' || name === 'const') cost += countValues(member);
    else if (Array.isArray(member)) cost += member.length;
    else if (isObject(member)) cost += Object.keys(member).length;
  }
  return cost;
}

/** The values of those members that are present. */
function given(schema: JsonObject, names: readonly string[]): JsonValue[] {
  return names.flatMap((name) => {
    const member = own(schema, name);
    return member === undefined ? [] : [member];
  });
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}
