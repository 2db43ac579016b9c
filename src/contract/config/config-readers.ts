/** Converts the text of a variable, without spaces around it, to a value. */
export interface Reader<T> {
  /** Undefined for a text that is not of the expected form. */
  read(text: string): T | undefined;
  /** Completes "VARIABLE: must be …". */
  readonly expected: string;
  /** By default, what the setting has by default. */
  readonly example?: string | undefined;
  /** Whether a blank text is read too; otherwise blank is the same as not set. */
  readonly readsBlank?: boolean;
  /** Whether the value is a secret, which can then also come from a file; see `secret-files.ts`. */
  readonly isSecret?: boolean;
}

/** Reads the same texts, as other values: seconds as milliseconds, for example. */
export function converted<T, U>(reader: Reader<T>, convert: (value: T) => U): Reader<U> {
  const read = (text: string) => {
    const value = reader.read(text);
    return value === undefined ? undefined : convert(value);
  };
  return { ...reader, read };
}

/** Reads the same texts, which are secrets. */
export function secret<T>(reader: Reader<T>): Reader<T> {
  return { ...reader, isSecret: true };
}

/** Any text. */
export const TEXT: Reader<string> = { read: (text) => text, expected: 'a text' };

/** A text for which a check holds. */
export function textWhere(
  isOne: (text: string) => boolean,
  expected: string,
  example?: string,
): Reader<string> {
  return { read: (text) => (isOne(text) ? text : undefined), expected, example };
}

/** Text that matches a pattern. */
export function textLike(pattern: RegExp, expected: string, example?: string): Reader<string> {
  return textWhere((text) => pattern.test(text), expected, example);
}

const WORDS = new Map<string, boolean>([
  ...['true', '1', 'yes', 'on', 't', 'y'].map((word): [string, boolean] => [word, true]),
  ...['false', '0', 'no', 'off', 'f', 'n'].map((word): [string, boolean] => [word, false]),
]);

/** true or false, or a common synonym. */
export const BOOLEAN: Reader<boolean> = {
  read: (text) => WORDS.get(text.toLowerCase()),
  expected: 'true or false',
  example: 'true',
};

function numberLike(pattern: RegExp, kind: string) {
  return (min: number, max: number, example?: string): Reader<number> => ({
    read: (text) => {
      const value = Number(text);
      return pattern.test(text) && value >= min && value <= max ? value : undefined;
    },
    expected: `${kind} from ${min} to ${max}`,
    example,
  });
}

/** A number within bounds, both inclusive. */
export const numberIn = numberLike(/^\d+(\.\d+)?$/, 'a number');

/** A whole number within bounds, both inclusive. */
export const integerIn = numberLike(/^\d+$/, 'a whole number');

/** Reads seconds as milliseconds. */
export function inMs(seconds: Reader<number>): Reader<number> {
  return converted(seconds, (value) => value * 1000);
}

export const MIB = 1024 * 1024;

/** One of a few words, ignoring case. */
export function wordOf<const Word extends string>(...words: readonly Word[]): Reader<Word> {
  return {
    read: (text) => words.find((word) => word === text.toLowerCase()),
    expected: `one of ${words.join(', ')}`,
    example: words[0] ?? '',
  };
}

/** The entries of a list separated by commas, trimmed. */
export function entriesOf(text: string): string[] {
  return text.split(',').map((entry) => entry.trim());
}

/** Texts separated by commas, trimmed, without blank ones. */
export const LIST: Reader<readonly string[]> = {
  read: (text) => entriesOf(text).filter((entry) => entry !== ''),
  expected: 'texts separated by commas',
};

/** The same; a list with `*` stands for everything. */
export const LIST_OR_ALL: Reader<readonly string[] | '*'> = converted(LIST, (entries) =>
  entries.includes('*') ? '*' : entries,
);

/** Texts separated by commas, for each of which a check holds. */
export function listWhere(
  isOne: (entry: string) => boolean,
  expected: string,
  example: string,
): Reader<readonly string[]> {
  const read = (text: string) => {
    const entries = LIST.read(text);
    return entries?.every(isOne) ? entries : undefined;
  };
  return { read, expected, example };
}
