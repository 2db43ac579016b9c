import { isObject, type JsonValue } from '../../exact-json/src/index.js';
import { type CompileKeyword, every, type KeywordContext, listOf, objectOf, own } from './keyword.js';
import type { SchemaCheck } from './run.js';

/** Keywords that apply schemas to the same value: draft 7 and core 2020-12, section 10.2. */
export const IN_PLACE: readonly (readonly [string, CompileKeyword])[] = [
  ['allOf', allOf],
  ['anyOf', anyOf],
  ['oneOf', oneOf],
  ['not', not],
  ['if', conditional],
  ['dependencies', dependencies],
];

/** A reference: its target is applied like a subschema. */
export function reference(_given: JsonValue, { check, target }: KeywordContext): SchemaCheck {
  return check(target());
}

function allOf(given: JsonValue, { check }: KeywordContext): SchemaCheck {
  const checks = listOf(given).map(check);
  return (value, place, run) => every(checks, value, place, run);
}

function anyOf(given: JsonValue, { keyword, check, collects }: KeywordContext): SchemaCheck {
  const checks = listOf(given).map(check);
  return (value, place, run) => {
    let valid = false;
    for (const one of checks) {
      if (!run.holds(one, value)) continue;
      valid = true;
      // Every schema that holds evaluates members and items.
      if (!collects) break;
    }
    return valid || run.fail(place, keyword, () => 'satisfies none of the schemas of anyOf');
  };
}

function oneOf(given: JsonValue, { keyword, check }: KeywordContext): SchemaCheck {
  const checks = listOf(given).map(check);
  return (value, place, run) => {
    let satisfied = 0;
    for (const one of checks) {
      if (run.holds(one, value)) satisfied += 1;
      if (satisfied > 1) {
        return run.fail(place, keyword, () => 'satisfies more than one of the schemas of oneOf');
      }
    }
    return satisfied === 1 || run.fail(place, keyword, () => 'satisfies none of the schemas of oneOf');
  };
}

function not(given: JsonValue, { keyword, check }: KeywordContext): SchemaCheck {
  const refused = check(given);
  return (value, place, run) =>
    !run.holds(refused, value) || run.fail(place, keyword, () => 'satisfies the schema of not');
}

function conditional(given: JsonValue, { schema, check }: KeywordContext): SchemaCheck {
  const condition = check(given);
  const [positive, negative] = ['then', 'else'].map((name) => {
    const branch = own(schema, name);
    return branch === undefined ? null : check(branch);
  });
  return (value, place, run) => {
    const branch = run.holds(condition, value) ? positive : negative;
    return branch?.(value, place, run) ?? true;
  };
}

/** A member needs other members, or that the object satisfies a schema. */
export function dependencies(given: JsonValue, { keyword, check }: KeywordContext): SchemaCheck {
  const checks = Object.entries(objectOf(given)).map(([name, dependency]): SchemaCheck => {
    const one = Array.isArray(dependency) ? needs(name, dependency, keyword) : check(dependency);
    return (value, place, run) => !isObject(value) || !Object.hasOwn(value, name) || one(value, place, run);
  });
  return (value, place, run) => {
    run.work.spend(checks.length);
    return every(checks, value, place, run);
  };
}

function needs(name: string, others: readonly JsonValue[], keyword: string): SchemaCheck {
  const lacking = others.map(
    (other): SchemaCheck =>
      (value, place, run) =>
        (isObject(value) && Object.hasOwn(value, String(other))) ||
        run.fail(place, keyword, () => `lacks the member ${other}, which ${name} needs`),
  );
  return (value, place, run) => {
    run.work.spend(lacking.length);
    return every(lacking, value, place, run);
  };
}
