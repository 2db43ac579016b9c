import { parse } from 'yaml';
import { corpusFile, type Half, isIn, type Labelled } from '../corpus.support.js';

/** A line of the corpus: a text, or one that is brought into a form first. */
type Line =
  | string
  | {
      readonly as: keyof typeof FORMS;
      readonly text: string;
      readonly around?: readonly [before: string, behind: string];
    };

const FORMS = {
  base64: (text: string) => Buffer.from(text, 'utf8').toString('base64'),
  /** The tag characters of Unicode that stand for ASCII. */
  tags: (text: string) =>
    String.fromCodePoint(...[...text].map((one) => 0xe0000 + (one.codePointAt(0) ?? 0))),
  /** A variation selector for each byte, behind the character in front. */
  selectors: (text: string) => String.fromCodePoint(...[...Buffer.from(text)].map((byte) => 0xe0100 + byte)),
  /** A zero-width character for each bit. */
  zero_width_bits: (text: string) =>
    [...Buffer.from(text)]
      .flatMap((byte) => [...byte.toString(2).padStart(8, '0')])
      .map((bit) => (bit === '1' ? '\u200b' : '\u200c'))
      .join(''),
};

function textOfLine(line: Line): string {
  if (typeof line === 'string') return line;
  const [before, behind] = line.around ?? ['', ''];
  return before + FORMS[line.as](line.text) + behind;
}

function lists(name: string): [string, Line[]][] {
  return Object.entries(parse(corpusFile(`injection/${name}`)) as Record<string, Line[]>);
}

/** A half of the corpus. */
export function injectionCorpus(half: Half): Labelled[] {
  const read = (name: string, kindsOf: (list: string) => string[]) =>
    lists(name).flatMap(([list, lines]) =>
      lines
        .filter((_, index) => isIn(half, index))
        .map((line) => ({ text: textOfLine(line), kinds: kindsOf(list) })),
    );
  return [...read('positives.yaml', (list) => [list]), ...read('negatives.yaml', () => [])];
}
