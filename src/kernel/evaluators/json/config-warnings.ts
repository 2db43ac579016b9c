import { isObject, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import { neverMatches } from '../../../../packages/linear-text/src/index.js';
import { boolean } from '../../../contract/input/fields.js';
import type { ConfigWarning } from '../../core/evaluator.js';

/** Warnings about a `json` configuration. */
export function* jsonWarnings(config: JsonObject): Generator<ConfigWarning, void> {
  const constraints = isObject(config.field_constraints) ? Object.values(config.field_constraints) : [];
  const hasEnum = constraints.some((one) => isObject(one) && Array.isArray(one.enum));
  const without = (member: string, needed: string): ConfigWarning => {
    return { code: 'no_effect', path: [member], message: `has no effect without ${needed}` };
  };
  if (is(config.allow_extra_fields, false) && !isFilled(config.field_types)) {
    yield without('allow_extra_fields', 'field_types');
  }
  if (is(config.allow_null_required, true) && !isFilled(config.required_fields)) {
    yield without('allow_null_required', 'required_fields');
  }
  if (is(config.case_sensitive_enums, false) && !hasEnum) {
    yield without('case_sensitive_enums', 'an enum in field_constraints');
  }
  if (config.pattern_match_logic === 'any' && !isFilled(config.field_patterns)) {
    yield without('pattern_match_logic', 'field_patterns');
  }
  yield* patternWarnings(isObject(config.field_patterns) ? config.field_patterns : {});
}

function* patternWarnings(patterns: JsonObject): Generator<ConfigWarning, void> {
  for (const [field, given] of Object.entries(patterns)) {
    const pattern = isObject(given) ? given.pattern : given;
    const ignoreCase = isObject(given) && Array.isArray(given.flags) && given.flags.length > 0;
    if (typeof pattern !== 'string' || !neverMatches(pattern, { ignoreCase })) continue;
    const message = 'the pattern is found in no text, so no data can satisfy it';
    yield { code: 'never_matches', path: ['field_patterns', field], message };
  }
}

const flag = boolean();

/** Whether a flag, in any of its spellings, has a value. */
function is(value: JsonValue | undefined, wanted: boolean): boolean {
  return value !== undefined && flag.safeParse(value).data === wanted;
}

function isFilled(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isObject(value) && Object.keys(value).length > 0;
}
