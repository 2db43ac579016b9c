import type { Word } from '../../../shell-reader/src/index.js';

/** Whether the word is another one, or several, when no variable is set. */
export const isAssumable = ({ dynamic, assumed, value }: Word): boolean =>
  dynamic && (assumed !== '' || value.length > 1);

/** The command, as it is when no variable is set: `rm $@-rf /`, `${x:-rm} /`, `rm$IFS-rf$IFS/`. */
export const assumedText = (words: readonly Word[]): string =>
  words
    .map(({ value, assumed, splits }) =>
      // Without quotes, its blanks make it several words.
      splits
        ? [...assumed.matchAll(/[^ \t\n]+/g)].map(([word]) => quoted(word)).join(' ')
        : quoted(assumed || value),
    )
    .join(' ');

/** The words with blanks between them. */
export const joinedText = (words: readonly Word[]): string => words.map(({ value }) => value).join(' ');

/** The same as a text in which each is one word. */
export const quotedText = (words: readonly Word[]): string =>
  words.map(({ value }) => quoted(value)).join(' ');

/** A word that the text of a shell has between single quotes. */
export const quoted = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`;
