import { isObject, type JsonObject, type JsonValue, stringifyJson } from '../../../exact-json/src/index.js';
import { parameterOf } from './suite-schema.js';

/** A value for each name of a matrix. */
export type Combination = ReadonlyMap<string, JsonValue>;

const MAX_SHOWN = 40;

/** How many combinations a matrix has. */
export function combinationCount(matrix: Readonly<Record<string, readonly JsonValue[]>>): number {
  return Object.values(matrix).reduce((product, values) => product * values.length, 1);
}

/** All combinations of the values, those of the last name first. */
export function combinationsOf(matrix: Readonly<Record<string, readonly JsonValue[]>>): Combination[] {
  let combinations: Combination[] = [new Map()];
  for (const [name, values] of Object.entries(matrix)) {
    combinations = combinations.flatMap((one) => values.map((value) => new Map([...one, [name, value]])));
  }
  return combinations;
}

/**
 * The value with parameters replaced by values of the combination; texts with names that it does not have stay as they are.
 * `missing` is called with a path that a value lacks.
 */
export function substituted(
  value: JsonValue,
  combination: Combination,
  missing: (parameter: string) => void,
): JsonValue {
  if (Array.isArray(value)) return value.map((item) => substituted(item, combination, missing));
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, member]) => [
      name,
      substituted(member, combination, missing),
    ]);
    return Object.fromEntries(members) as JsonObject;
  }
  const parameter = parameterOf(value);
  const found = parameter === null ? undefined : combination.get(parameter.name);
  if (parameter === null || found === undefined) return value;
  let part: JsonValue | undefined = found;
  for (const member of parameter.path) {
    part = isObject(part) && Object.hasOwn(part, member) ? part[member] : undefined;
  }
  if (part !== undefined) return part;
  missing(String(value));
  return null;
}

/** As cases of the combination are named: [amount=1, currency="EUR"]. */
export function combinationText(combination: Combination): string {
  const parts = [...combination].map(([name, value]) => {
    const text = stringifyJson(value);
    return `${name}=${text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`}`;
  });
  return `[${parts.join(', ')}]`;
}
