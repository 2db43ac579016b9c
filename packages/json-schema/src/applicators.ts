import { isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';
import type { Run, SchemaCheck, SchemaPlace } from './run.js';
import type { CountedPattern } from './work.js';

/** Context for compiling a keyword that applies schemas. */
export interface ApplicatorContext {
  /** The enclosing schema; `if`, `additionalProperties` and `additionalItems` depend on adjacent keywords. */
  readonly schema: JsonObject;
  readonly pattern: (source: string) => CountedPattern;
  /** The check of a subschema. */
  readonly check: (schema: JsonValue) => SchemaCheck;
}

type Compile = (given: JsonValue, context: ApplicatorContext) => SchemaCheck;

/** Keywords of JSON Schema draft 7 (validation, sections 6.4 to 6.7) that apply schemas. */
export const APPLICATORS: ReadonlyMap<string, Compile> = new Map<string, Compile>([
  ['allOf', allOf],
  ['anyOf', anyOf],
  ['oneOf', oneOf],
  ['not', not],
  ['if', conditional],
  ['properties', properties],
  ['patternProperties', patternProperties],
  ['additionalProperties', additionalProperties],
  ['propertyNames', propertyNames],
  ['dependencies', dependencies],
  ['items', items],
  ['additionalItems', additionalItems],
  ['contains', contains],
]);

/** Runs checks in order: all of them, or up to the first failure if one is enough. */
export function every(
  checks: readonly SchemaCheck[],
  value: JsonValue,
  place: SchemaPlace,
  run: Run,
): boolean {
  let valid = true;
  for (const check of checks) {
    if (check(value, place, run)) continue;
    valid = false;
    if (run.endsAtFirst) break;
  }
  return valid;
}

function allOf(given: JsonValue, { check }: ApplicatorContext): SchemaCheck {
  const checks = listOf(given).map(check);
  return (value, place, run) => every(checks, value, place, run);
}

function anyOf(given: JsonValue, { check }: ApplicatorContext): SchemaCheck {
  const checks = listOf(given).map(check);
  return (value, place, run) =>
    checks.some((one) => run.holds(one, value)) ||
    run.fail(place, () => 'satisfies none of the schemas of anyOf');
}

function oneOf(given: JsonValue, { check }: ApplicatorContext): SchemaCheck {
  const checks = listOf(given).map(check);
  return (value, place, run) => {
    let satisfied = 0;
    for (const one of checks) {
      if (run.holds(one, value)) satisfied += 1;
      if (satisfied > 1) return run.fail(place, () => 'satisfies more than one of the schemas of oneOf');
    }
    return satisfied === 1 || run.fail(place, () => 'satisfies none of the schemas of oneOf');
  };
}

function not(given: JsonValue, { check }: ApplicatorContext): SchemaCheck {
  const refused = check(given);
  return (value, place, run) =>
    !run.holds(refused, value) || run.fail(place, () => 'satisfies the schema of not');
}

function conditional(given: JsonValue, { schema, check }: ApplicatorContext): SchemaCheck {
  const condition = check(given);
  const [positive, negative] = ['then', 'else'].map((name) =>
    Object.hasOwn(schema, name) ? check(schema[name] as JsonValue) : null,
  );
  return (value, place, run) => {
    const branch = run.holds(condition, value) ? positive : negative;
    return branch?.(value, place, run) ?? true;
  };
}

function properties(given: JsonValue, { check }: ApplicatorContext): SchemaCheck {
  const entries = Object.entries(objectOf(given)).map(([name, schema]) => [name, check(schema)] as const);
  return (value, place, run) => {
    if (!isObject(value)) return true;
    run.work.spend(entries.length);
    let valid = true;
    for (const [name, one] of entries) {
      if (!Object.hasOwn(value, name)) continue;
      if (one(value[name] as JsonValue, run.below(place, name), run)) continue;
      valid = false;
      if (run.endsAtFirst) break;
    }
    return valid;
  };
}

function patternProperties(given: JsonValue, { check, pattern }: ApplicatorContext): SchemaCheck {
  const entries = Object.entries(objectOf(given)).map(
    ([source, schema]) => [pattern(source), check(schema)] as const,
  );
  return (value, place, run) => {
    if (!isObject(value)) return true;
    const names = Object.keys(value);
    let valid = true;
    for (const [matcher, one] of entries) {
      for (const name of names) {
        if (!matcher.search(name, run.work)) continue;
        if (one(value[name] as JsonValue, run.below(place, name), run)) continue;
        valid = false;
        if (run.endsAtFirst) return false;
      }
    }
    return valid;
  };
}

/** One problem for all superfluous members together when none is allowed. */
function additionalProperties(given: JsonValue, { schema, check, pattern }: ApplicatorContext): SchemaCheck {
  const known = objectOf(schema.properties);
  const matchers = Object.keys(objectOf(schema.patternProperties)).map(pattern);
  const one = check(given);
  return (value, place, run) => {
    if (!isObject(value)) return true;
    const extra = Object.keys(value).filter((name) => {
      run.work.read(name, 2);
      run.work.spend(1);
      return !Object.hasOwn(known, name) && !matchers.some((matcher) => matcher.search(name, run.work));
    });
    if (given === false) {
      return extra.length === 0 || run.fail(place, () => `has unexpected members: ${shown(extra)}`);
    }
    let valid = true;
    for (const name of extra) {
      if (one(value[name] as JsonValue, run.below(place, name), run)) continue;
      valid = false;
      if (run.endsAtFirst) break;
    }
    return valid;
  };
}

function propertyNames(given: JsonValue, { check }: ApplicatorContext): SchemaCheck {
  const one = check(given);
  return (value, place, run) => {
    if (!isObject(value)) return true;
    let valid = true;
    for (const name of Object.keys(value)) {
      if (one(name, place, run)) continue;
      valid = false;
      if (run.endsAtFirst) break;
    }
    return valid;
  };
}

function dependencies(given: JsonValue, { check }: ApplicatorContext): SchemaCheck {
  const checks = Object.entries(objectOf(given)).map(([name, dependency]): SchemaCheck => {
    if (!Array.isArray(dependency)) {
      const one = check(dependency);
      return (value, place, run) => !isObject(value) || !Object.hasOwn(value, name) || one(value, place, run);
    }
    const needed = dependency.filter((other) => typeof other === 'string');
    const lacking = needed.map(
      (other): SchemaCheck =>
        (value, place, run) =>
          (isObject(value) && Object.hasOwn(value, other)) ||
          run.fail(place, () => `lacks the member ${other}, which ${name} needs`),
    );
    return (value, place, run) => {
      if (!isObject(value) || !Object.hasOwn(value, name)) return true;
      run.work.spend(lacking.length);
      return every(lacking, value, place, run);
    };
  });
  return (value, place, run) => {
    run.work.spend(checks.length);
    return every(checks, value, place, run);
  };
}

function items(given: JsonValue, { check }: ApplicatorContext): SchemaCheck {
  if (!Array.isArray(given)) return eachItem(check(given), 0);
  const checks = given.map(check);
  return (value, place, run) => {
    if (!Array.isArray(value)) return true;
    let valid = true;
    for (const [index, one] of checks.entries()) {
      if (index >= value.length) break;
      if (one(value[index] as JsonValue, run.below(place, index), run)) continue;
      valid = false;
      if (run.endsAtFirst) break;
    }
    return valid;
  };
}

/** Applies only next to a list of schemas. One problem for all superfluous items if none is allowed. */
function additionalItems(given: JsonValue, { schema, check }: ApplicatorContext): SchemaCheck {
  const positional = schema.items;
  if (!Array.isArray(positional)) return () => true;
  const { length } = positional;
  if (given !== false) return eachItem(check(given), length);
  return (value, place, run) =>
    !Array.isArray(value) ||
    value.length <= length ||
    run.fail(place, () => `has more than the ${length} items allowed`);
}

function eachItem(one: SchemaCheck, start: number): SchemaCheck {
  return (value, place, run) => {
    if (!Array.isArray(value)) return true;
    let valid = true;
    for (let index = start; index < value.length; index += 1) {
      if (one(value[index] as JsonValue, run.below(place, index), run)) continue;
      valid = false;
      if (run.endsAtFirst) break;
    }
    return valid;
  };
}

function contains(given: JsonValue, { check }: ApplicatorContext): SchemaCheck {
  const one = check(given);
  return (value, place, run) =>
    !Array.isArray(value) ||
    value.some((item) => run.holds(one, item)) ||
    run.fail(place, () => 'has no item that contains asks for');
}

function shown(names: readonly string[]): string {
  const first = names.slice(0, 3).join(', ');
  return names.length > 3 ? `${first} and ${names.length - 3} more` : first;
}

function listOf(value: JsonValue): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}
