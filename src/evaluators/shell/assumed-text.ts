import type { Word } from '../../../packages/shell-reader/src/index.js';

/** Whether the word is another one, or several, when no variable is set. */
export const isAssumable = ({ dynamic, assumed, value }: Word): boolean =>
  dynamic && (assumed !== '' || value.length > 1);

/** The command from a word on, as it is when no variable is set: `rm $@-rf /`, `${x:-rm} /`, `rm$IFS-rf$IFS/`. */
export const assumedText = (words: readonly Word[], from: number): string =>
  words
    .slice(from)
    .map(({ value, assumed, splits }) =>
      splits ? words_(assumed) : quoted(assumed === '' ? value : assumed),
    )
    .join(' ');

/** The words that a text without quotes becomes. */
const words_ = (text: string): string =>
  text
    .split(/[ \t\n]+/)
    .filter((word) => word !== '')
    .map(quoted)
    .join(' ');

/** A word that the text of a shell has between single quotes. */
export const quoted = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`;
