import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import { isWordUnit, normalizeText } from '../../../../packages/linear-text/src/index.js';
import { quoted } from '../../../contract/errors/quoted.js';
import type { ConfigUse, ConfigWarning, DemandedTexts, ForegoneResult } from '../../core/evaluator.js';

/** Warnings about a `list` configuration. */
export function* listWarnings(config: JsonObject, { positive }: ConfigUse): Generator<ConfigWarning, void> {
  const { values, match_mode: mode = 'exact', match_on: matchOn, normalize } = config;
  if (!Array.isArray(values)) return;
  if (values.length === 0) {
    yield { code: 'never_matches', path: ['values'], message: 'an empty list matches nothing' };
    return;
  }
  if (matchOn === 'no_match' && positive) {
    const message =
      'no_match does not match null, missing data or []; to match those too, ' +
      'write {"not": …} around the same check with match_on "match"';
    yield { code: 'absent_data', path: ['match_on'], message };
  }
  for (const [index, value] of values.entries()) {
    if (typeof value !== 'string') continue;
    const path = ['values', index];
    if (mode === 'exact' && value.trim() !== value) {
      const message = `${quoted(value)} has blanks around it, and data are compared exactly`;
      yield { code: 'surrounding_blanks', path, message };
    } else if (mode === 'contains') {
      const message = boundaryProblem(normalize === 'nfkc' ? normalizeText(value) : value);
      if (message !== null) yield { code: 'word_boundary', path, message };
    }
  }
}

/** Sides of a `contains` value that need an adjacent ASCII word character; null if it needs none. */
function boundaryProblem(value: string): string | null {
  const sides = [
    ...(isWordUnit(value.charCodeAt(0)) ? [] : ['before']),
    ...(isWordUnit(value.charCodeAt(value.length - 1)) ? [] : ['behind']),
  ];
  if (sides.length === 0) return null;
  return (
    `${quoted(value)} is found only with a letter of a-z, a digit or "_" directly ${sides.join(' and ')} it; ` +
    'use a regex to find it anywhere'
  );
}

/** An empty list matches nothing, and no list matches absent data. */
export function listForegone({ values }: JsonObject): ForegoneResult {
  return { data: Array.isArray(values) && values.length === 0 ? false : null, absent: false };
}

/** The texts that a list demands of the type or the name of a step, which are compared as a whole. */
export function listDemands(config: JsonObject, selectorPath: string): readonly DemandedTexts[] {
  const { values, match_mode: mode = 'exact', match_on: matchOn = 'match', normalize } = config;
  if (selectorPath !== 'type' && selectorPath !== 'name') return [];
  if ((mode ?? 'exact') !== 'exact' || (matchOn ?? 'match') !== 'match' || !Array.isArray(values)) return [];
  if ((normalize ?? null) !== null || !values.every((value) => typeof value === 'string')) return [];
  const ignoresCase = config.case_sensitive !== true;
  return [{ member: selectorPath, texts: values, ignoresCase, isEnough: true }];
}
