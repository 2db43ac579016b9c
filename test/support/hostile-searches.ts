/** A pattern and a text made to take long together. */
export interface HostileSearch {
  readonly name: string;
  readonly pattern: string;
  /** A text of about so many code units. */
  readonly text: (length: number) => string;
}

/** Repeatable choices (xorshift), so that a report can be reproduced. */
function choices(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const random = (alphabet: string) => (length: number) => {
  const next = choices(2_463_534_242);
  let text = '';
  while (text.length < length) text += alphabet.charAt(next(alphabet.length));
  return text;
};
const repeated = (unit: string) => (length: number) => unit.repeat(Math.ceil(length / unit.length));
const anyLetters = (length: number) => {
  const next = choices(88_172_645);
  let text = '';
  while (text.length < length) text += String.fromCharCode(0x100 + next(0xd000));
  return text;
};

/** Searches that are slow in engines of other kinds, or that make an automaton build as many states as it can. */
export const hostileSearches: readonly HostileSearch[] = [
  { name: 'nested repetition', pattern: '(a+)+$', text: (length) => `${'a'.repeat(length)}!` },
  {
    name: 'nested repetition of alternatives',
    pattern: '(?:a|aa)+$',
    text: (length) => `${'a'.repeat(length)}!`,
  },
  { name: 'nested stars', pattern: '(?:(?:a*)*)*b$', text: repeated('a') },
  { name: 'bounded repetitions of nothing', pattern: '(?:a{0,9}b?){0,9}c$', text: repeated('ab') },
  { name: 'overlapping classes', pattern: '\\w*\\d*\\w*\\d*\\w*x$', text: random('a1_') },
  { name: 'a delayed choice', pattern: '[ab]*a[ab]{12}c$', text: random('ab') },
  { name: 'many delayed choices', pattern: '(?:[ab]*a[ab]{18}){50}c?$', text: random('ab') },
  { name: 'many delayed choices, regular text', pattern: '(?:[ab]*a[ab]{18}){50}c?!', text: repeated('ab') },
  { name: 'optional characters', pattern: '(?:.?){900}x(?:.?){90}!', text: random('ab') },
  { name: 'optional pairs', pattern: '(?:a?b?){900}!', text: random('ab') },
  { name: 'optional runs', pattern: '(?:a{0,30}b{0,30}){15}!', text: random('ab') },
  { name: 'assertions', pattern: '(?m:(?:^|$|[ab]\\b){900}!)', text: random('ab\n ') },
  { name: 'word boundaries', pattern: '(?:\\b[ab ]*\\B[ab ]){300}!', text: random('ab ') },
  { name: 'classes of all letters', pattern: '(?:\\pL|\\pN|\\pP|[^\\x{4e00}]){80}!', text: anyLetters },
  {
    name: 'different negated classes',
    pattern: `${Array.from({ length: 3_000 }, (_, index) => `[^${String.fromCharCode(0x4e00 + index)}]`).join('')}!`,
    text: anyLetters,
  },
  {
    name: 'different ranges',
    pattern: `(?:${Array.from({ length: 900 }, (_, index) => {
      const first = String.fromCharCode(0x100 + index * 11);
      return `[${first}-\\x{${(0x5000 + index * 7).toString(16)}}]{${(index % 5) + 1}}`;
    }).join('|')})*!`,
    text: anyLetters,
  },
  {
    name: 'alternatives with one beginning',
    pattern: `(?:${Array.from({ length: 1_500 }, (_, index) => `[ab]{${(index % 9) + 1}}${index}x`).join('|')})!`,
    text: random('ab0123456789'),
  },
  { name: 'groups in groups', pattern: `${'('.repeat(300)}a?${')*'.repeat(300)}!`, text: repeated('a') },
  { name: 'an early gap', pattern: '(?s)a.{0,900}b.{0,900}!', text: random('ab') },
  { name: 'many beginnings', pattern: `(?:${'x*'.repeat(200)}[^!]){4}!`, text: repeated('x') },
];
