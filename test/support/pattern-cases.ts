import fc from 'fast-check';

/** A pattern of RE2's syntax together with pieces of texts that match parts of it, or nearly do. */
export interface PatternCase {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly pieces: readonly string[];
}

interface Part {
  readonly pattern: string;
  readonly pieces: readonly string[];
}

/** Characters that are variants of each other, or sit next to such ones, or are special to texts or patterns. */
const CHARACTERS = [
  ...'abckst01_-@. \n',
  ...'ABKS',
  'ſ',
  '\u212a',
  'é',
  'É',
  'ß',
  'ẞ',
  'Σ',
  'ς',
  '中',
  '\u{10400}',
  '\u{10428}',
  '😀',
];
const STRAY = ['\0', '\ud83d', '\ude00', '\ud801', '\udc28', '\ufffd', '\uffff'];

const word = fc
  .array(fc.constantFrom(...CHARACTERS), { minLength: 1, maxLength: 6 })
  .map((characters) => characters.join(''));

const quote = (text: string) => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
const hex = (text: string) =>
  Array.from(text, (character) => `\\x{${character.codePointAt(0)?.toString(16)}}`).join('');

const literal: fc.Arbitrary<Part> = fc
  .tuple(
    word,
    fc.constantFrom(quote, quote, hex, (text: string) => `\\Q${text}\\E`),
  )
  .map(([text, write]) => ({ pattern: write(text), pieces: [text] }));

const characterClass: fc.Arbitrary<Part> = fc.oneof(
  fc.uniqueArray(fc.constantFrom(...CHARACTERS), { minLength: 1, maxLength: 4 }).map((members) => ({
    pattern: `[${members.map(quote).join('').replace(/-/g, '\\-')}]`,
    pieces: members,
  })),
  fc
    .constantFrom(
      '[a-c]',
      '[^a]',
      '[^\\n]',
      '\\d',
      '\\w',
      '\\W',
      '\\s',
      '\\pL',
      '\\PL',
      '[[:alpha:]]',
      '.',
      '(?s:.)',
    )
    .map((pattern) => ({ pattern, pieces: ['a', '0', ' '] })),
  fc
    .constantFrom(
      '[[:^alpha:]]',
      '[k-s]',
      '[\\x{10400}-\\x{10402}]',
      '\\x{d83d}',
      '[^\\x00-\\x{10ffff}]',
      '\\x{fffd}',
    )
    .map((pattern) => ({ pattern, pieces: ['k', '\u{10401}'] })),
);

const assertion: fc.Arbitrary<Part> = fc
  .constantFrom('^', '$', '\\A', '\\z', '\\b', '\\B', '(?m:^)', '(?m:$)', '')
  .map((pattern) => ({ pattern, pieces: [] }));

const part = fc.letrec<{ part: Part }>((tie) => {
  const inner = tie('part');
  const join = (parts: readonly Part[], between: string): Part => ({
    pattern: parts.map(({ pattern }) => pattern).join(between),
    pieces: [...parts.flatMap(({ pieces }) => pieces), parts.map(({ pieces }) => pieces[0] ?? '').join('')],
  });
  return {
    part: fc.oneof(
      { depthSize: 'small' },
      { weight: 6, arbitrary: literal },
      { weight: 2, arbitrary: characterClass },
      { weight: 1, arbitrary: assertion },
      {
        weight: 4,
        arbitrary: fc.array(inner, { minLength: 2, maxLength: 4 }).map((parts) => join(parts, '')),
      },
      {
        weight: 3,
        arbitrary: fc.array(inner, { minLength: 2, maxLength: 4 }).map((parts) => {
          const { pattern, pieces } = join(parts, '|');
          return { pattern: `(?:${pattern})`, pieces };
        }),
      },
      {
        weight: 3,
        arbitrary: fc
          .tuple(
            inner,
            fc.constantFrom('(', '(?:', '(?i:', '(?-i:', '(?s:', '(?P<n>', '(?U:'),
            fc.constantFrom('', '+', '*', '?', '+?', '*?', '{0}', '{1}', '{2}', '{0,2}', '{1,3}', '{2,}'),
          )
          .map(([{ pattern, pieces }, open, repeat]) => ({
            pattern: `${open}${pattern})${repeat}`,
            pieces: [...pieces, pieces.join('').slice(0, 40)],
          })),
      },
    ),
  };
}).part;

/** Patterns with every construct that the search for required literals tells apart. Some are not valid. */
export const patternCase: fc.Arbitrary<PatternCase> = fc
  .tuple(part, fc.boolean(), fc.constantFrom('', '', '(?i)', '(?m)', '(?s)'))
  .map(([{ pattern, pieces }, ignoreCase, flags]) => ({ pattern: flags + pattern, ignoreCase, pieces }));

/** Characters of the same case orbit, as `(?i)` sees them. */
const ORBITS = ['kK\u212a', 'sSſ', 'éÉ', 'ßẞ', 'Σσς', '\u{10400}\u{10428}', 'aA', 'bB', 'cC', 'tT'].map(
  (orbit) => Array.from(orbit),
);

/** Texts made of the pieces, whole, cut, in another case, and with something strange between. */
export function textOver(pieces: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.constantFrom(...pieces, 'a');
  const recased = fc.tuple(piece, fc.infiniteStream(fc.nat({ max: 2 }))).map(([text, choices]) =>
    Array.from(text, (character) => {
      const orbit = ORBITS.find((members) => members.includes(character));
      return orbit?.[(choices.next().value ?? 0) % orbit.length] ?? character;
    }).join(''),
  );
  const cut = fc
    .tuple(piece, fc.nat({ max: 6 }), fc.nat({ max: 6 }))
    .map(([text, start, end]) => text.slice(start, Math.max(start, text.length - end)));
  const stray = fc.constantFrom(...STRAY, ...CHARACTERS);
  return fc
    .array(
      fc.oneof(
        { weight: 3, arbitrary: piece },
        { weight: 3, arbitrary: recased },
        { weight: 1, arbitrary: cut },
        { weight: 1, arbitrary: stray },
      ),
      { maxLength: 5 },
    )
    .map((parts) => parts.join(''));
}
