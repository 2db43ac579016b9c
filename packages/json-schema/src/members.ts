import { isObject, type JsonObject, type JsonValue } from '../../exact-json/src/index.js';
import {
  always,
  applyTo,
  type CompileKeyword,
  type KeywordContext,
  objectOf,
  own,
  shown,
} from './keyword.js';
import type { Run, SchemaCheck } from './run.js';

/** Keywords that apply schemas to members and their names, in draft 7 and 2020-12. */
export const MEMBERS: readonly (readonly [string, CompileKeyword])[] = [
  ['properties', properties],
  ['patternProperties', patternProperties],
  ['additionalProperties', additionalProperties],
  ['propertyNames', propertyNames],
];

function properties(given: JsonValue, { check, collects }: KeywordContext): SchemaCheck {
  const entries = Object.entries(objectOf(given)).map(([name, schema]) => [name, check(schema)] as const);
  return (value, place, run) => {
    if (!isObject(value)) return true;
    run.work.spend(entries.length);
    let valid = true;
    for (const [name, one] of entries) {
      if (!Object.hasOwn(value, name)) continue;
      if (collects) run.evaluated.add(name);
      if (one(value[name] as JsonValue, run.below(place, name), run)) continue;
      valid = false;
      if (run.endsAtFirst) break;
    }
    return valid;
  };
}

function patternProperties(given: JsonValue, { check, pattern, collects }: KeywordContext): SchemaCheck {
  const entries = Object.entries(objectOf(given)).map(
    ([source, schema]) => [pattern(source), check(schema)] as const,
  );
  if (entries.length === 0) return always;
  return (value, place, run) => {
    if (!isObject(value)) return true;
    const names = Object.keys(value);
    let valid = true;
    for (const [matcher, one] of entries) {
      for (const name of names) {
        if (!matcher.search(name, run.work)) continue;
        if (collects) run.evaluated.add(name);
        if (one(value[name] as JsonValue, run.below(place, name), run)) continue;
        valid = false;
        if (run.endsAtFirst) return false;
      }
    }
    return valid;
  };
}

function additionalProperties(given: JsonValue, context: KeywordContext): SchemaCheck {
  const known = objectOf(own(context.schema, 'properties'));
  const matchers = Object.keys(objectOf(own(context.schema, 'patternProperties'))).map(context.pattern);
  return otherMembers(given, context, (value, run) =>
    Object.keys(value).filter((name) => {
      run.work.read(name, 2);
      run.work.spend(1);
      return !Object.hasOwn(known, name) && !matchers.some((matcher) => matcher.search(name, run.work));
    }),
  );
}

/** Compiled after all other keywords of its schema. */
export function unevaluatedProperties(given: JsonValue, context: KeywordContext): SchemaCheck {
  return otherMembers(given, context, (value, run) => {
    const isEvaluated = run.evaluated.reader(run.work);
    return Object.keys(value).filter((name) => {
      run.work.read(name, 2);
      return !isEvaluated(name);
    });
  });
}

/** One problem for all superfluous members together when none is allowed. */
function otherMembers(
  given: JsonValue,
  { keyword, check, collects }: KeywordContext,
  find: (value: JsonObject, run: Run) => string[],
): SchemaCheck {
  const one = check(given);
  return (value, place, run) => {
    if (!isObject(value)) return true;
    const names = find(value, run);
    if (collects) for (const name of names) run.evaluated.add(name);
    if (given === false) {
      const reason = () => `has unexpected members: ${shown(names)}`;
      return names.length === 0 || run.fail(place, keyword, reason, names);
    }
    return applyTo(names, one, value, place, run);
  };
}

function propertyNames(given: JsonValue, { check }: KeywordContext): SchemaCheck {
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
