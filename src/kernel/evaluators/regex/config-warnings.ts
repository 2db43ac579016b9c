import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import { alwaysMatches, matchesEveryText, neverMatches } from '../../../../packages/linear-text/src/index.js';
import { quoted } from '../../../contract/errors/quoted.js';
import { didYouMean } from '../../../contract/warnings/suggestion.js';
import type { ConfigWarning, ForegoneResult } from '../../core/evaluator.js';

/** Inline equivalents of flags that other engines have. */
const INLINE_FLAGS: Readonly<Record<string, string>> = {
  MULTILINE: '(?m)',
  M: '(?m)',
  DOTALL: '(?s)',
  S: '(?s)',
  UNGREEDY: '(?U)',
  U: '(?U)',
};

/** Whether a flag makes a search case-insensitive. */
export function ignoresCase(flag: JsonValue): boolean {
  return typeof flag === 'string' && /^(?:I|IGNORECASE)$/i.test(flag);
}

/** Warnings about a `regex` configuration. */
export function* regexWarnings({ pattern, flags }: JsonObject): Generator<ConfigWarning, void> {
  const list = Array.isArray(flags) ? flags : [];
  for (const [index, flag] of list.entries()) {
    if (typeof flag !== 'string' || ignoresCase(flag)) continue;
    yield { code: 'unknown_value', path: ['flags', index], message: unknownFlag(flag) };
  }
  if (typeof pattern !== 'string') return;
  if (neverMatches(pattern, { ignoreCase: list.some(ignoresCase) })) {
    yield { code: 'never_matches', path: ['pattern'], message: 'the pattern is found in no text' };
  }
}

function unknownFlag(flag: string): string {
  const inline = INLINE_FLAGS[flag.toUpperCase()];
  const advice =
    inline === undefined
      ? didYouMean(flag, ['IGNORECASE'])
      : `; write ${inline} at the beginning of the pattern`;
  return `the flag ${quoted(flag)} has no effect: only IGNORECASE and I are known${advice}`;
}

/** What a pattern gives that is found in no text, or in every one. */
export function regexForegone({ pattern, flags }: JsonObject, selectorPath = ''): ForegoneResult | null {
  if (typeof pattern !== 'string') return null;
  const ignoreCase = Array.isArray(flags) && flags.some(ignoresCase);
  if (neverMatches(pattern, { ignoreCase })) return { data: false, absent: false };
  // The whole step is a line of JSON; any other text may be empty, or have several lines.
  const isAlways = selectorPath === '*' ? alwaysMatches(pattern) : matchesEveryText(pattern);
  return { data: isAlways ? true : null, absent: false };
}
