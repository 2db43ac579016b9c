import { deny, input, leaf, list, many, regex } from './definitions.js';
import type { HostileCase } from './hostile-case.js';

const ANSWERED = { lists: ['non_matches', 'matches', 'errors'] } as const;
const UNMATCHED = { lists: ['non_matches', 'errors'] } as const;
const TOO_LARGE = { status: 422, says: /too large|too much to compile|characters, more than/ } as const;

/** A pattern that is accepted, and a text that would keep a back-tracking engine busy for longer than the world lasts. */
function slow(name: string, pattern: string, text: () => string, flags: string[] = []): HostileCase {
  return {
    name: `pattern: ${name}`,
    expected: UNMATCHED,
    definition: () => regex(pattern, flags),
    step: () => input(text()),
  };
}

function refused(name: string, pattern: () => string, says = TOO_LARGE.says): HostileCase {
  return { name: `pattern: ${name}`, expected: { status: 422, says }, definition: () => regex(pattern()) };
}

/** Regular expressions and lists of words. */
export const PATTERN_CASES: readonly HostileCase[] = [
  slow('nested plus', '(a+)+$', () => `${'a'.repeat(200_000)}!`),
  slow('overlapping alternatives', '^(a|aa)+$', () => `${'a'.repeat(200_000)}!`),
  slow('nested star over words', '^(\\w+\\s?)*$', () => `${'word '.repeat(40_000)}!`),
  slow('adjacent plus', '(x+x+)+y', () => 'x'.repeat(200_000)),
  slow('many stars', '.*.*.*.*.*.*=.*;', () => 'x'.repeat(200_000)),
  slow(
    'an e-mail address',
    '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}$',
    () => `${'a.'.repeat(100_000)}!`,
  ),
  slow('counted choices', '(?:[ab]*a[ab]{18}){50}c', () => 'abaabbab'.repeat(6_250)),
  slow('counted repeats behind a star', '(?:.*a){25}!', () => 'a'.repeat(50_000)),
  slow('optional and required', '(?:a?){500}a{500}b', () => 'a'.repeat(20_000)),
  slow('an automaton of 2^20 states', '(?:a|b)*a(?:a|b){20}c', () => randomText(100_000, 'ab')),
  slow('the same without regard to case', '(?:k|s)*k(?:k|s){24}c', () => randomText(100_000, 'kKsSſK'), [
    'I',
  ]),
  slow('Unicode classes', '(?:\\pL*\\pN){30}!', () => 'é1'.repeat(50_000)),
  slow('beyond the basic plane', '(?:[😀-😿]*😀){20}!', () => '😀😁'.repeat(25_000)),
  slow('half surrogates', '(?:.\\x{1F600}?)+$^x', () => '\ud83d'.repeat(100_000)),
  slow('word boundaries', '(?:\\b\\w+\\b\\W?)*\\b!$', () => 'ab '.repeat(60_000)),
  slow('8 MB of text', '(a|b|ab)*c', () => 'ab'.repeat(3_900_000)),
  {
    name: 'pattern: 5,000 alternatives',
    expected: ANSWERED,
    definition: () => regex(many(5_000, (i) => `word${i}x`).join('|')),
    step: () => input('word1word2word3'.repeat(10_000)),
  },
  refused('repeats of repeats', () => '((a{100}){100}){100}'),
  refused('one repeat after the other', () => 'a{1000}'.repeat(1_300)),
  refused('repeats of a class', () => '(?:[a-z]{500}|\\pL{500}){100}'),
  refused('Unicode classes without end', () => '[\\pL\\PN]'.repeat(5_000)),
  refused('classes that fold', () => `(?i)${'[\\x{0}-\\x{10FFFF}]'.repeat(3_000)}`),
  refused('65,537 characters', () => 'a'.repeat(65_537)),
  refused('a million alternatives', () => many(1_000_000, () => 'a').join('|')),
  refused('groups that nest', () => `${'('.repeat(30_000)}a${')'.repeat(30_000)}`, /pattern/),
  refused('classes that are never closed', () => '[[:'.repeat(20_000), /pattern|missing|invalid/),
  refused('a look-ahead', () => '(?=a)', /pattern/),
  refused('a back-reference', () => '(a)\\1', /pattern/),
  {
    name: 'pattern: 1,500 large ones together',
    expected: TOO_LARGE,
    definition: () => deny({ or: many(1_500, (i) => leaf('regex', { pattern: `(?:a${i}){800}` })) }),
  },
  {
    name: 'pattern: 1,500 with Unicode classes together',
    expected: TOO_LARGE,
    definition: () =>
      deny({ or: many(1_500, (i) => leaf('regex', { pattern: `${'\\pL'.repeat(80)}${i}` })) }),
  },
  {
    name: 'pattern: of a step name',
    expected: { status: 422, says: /step_name_regex/ },
    definition: () =>
      deny(leaf('regex', { pattern: 'x' }), { scope: { step_name_regex: '((a{100}){100}){100}' } }),
  },
  {
    name: 'list: 10,000 values in a long text',
    expected: ANSWERED,
    definition: () => list({ values: many(10_000, (i) => `value ${i}`), match_mode: 'contains' }),
    step: () => input('value value 1 valu'.repeat(50_000)),
  },
  {
    name: 'list: values that share everything but their ends',
    expected: { lists: ['non_matches'] },
    definition: () =>
      list({
        values: many(1_000, (i) => `${'a'.repeat(900)}${i}`),
        match_mode: 'contains',
        case_sensitive: true,
      }),
    step: () => input('a'.repeat(1_000_000)),
  },
  {
    name: 'list: letters with many case variants',
    expected: { lists: ['non_matches'] },
    definition: () => list({ values: many(1_000, (i) => `${'ſK'.repeat(50)}${i}`), match_mode: 'contains' }),
    step: () => input('sSſkKK'.repeat(100_000)),
  },
  {
    name: 'list: 100,000 items against 100,000 values',
    expected: { lists: ['matches', 'non_matches'] },
    definition: () => list({ values: many(100_000, (i) => i) }),
    step: () => input(many(100_000, (i) => i + 0.5)),
  },
  {
    name: 'list: more items than are compared',
    expected: { lists: ['errors'] },
    definition: () => list({ values: ['a'] }),
    step: () => input(many(100_001, (i) => i)),
  },
  {
    name: 'list: too many characters to look for',
    expected: { status: 422, says: /values/ },
    definition: () => list({ values: many(2_000, (i) => `${'x'.repeat(600)}${i}`), match_mode: 'contains' }),
  },
  {
    name: 'list: 200,000 values that are none',
    expected: { status: 422, says: /values/ },
    definition: () => list({ values: many(200_000, () => ' ') }),
  },
];

/** A text without a pattern in it, the same in every run. */
function randomText(length: number, letters: string): string {
  const choices = [...letters];
  let state = 1;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    text += choices[(state >> 16) % choices.length];
  }
  return text;
}
