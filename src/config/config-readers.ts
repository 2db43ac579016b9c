import { z } from 'zod';

/** Converts the text of a variable to a value, and describes the expected form. */
export interface Reader<T> {
  readonly schema: z.ZodType<T, string>;
  /** Completes "VARIABLE: …". */
  readonly expected: string;
  readonly example: string;
}

/** Any text. */
export function textSetting(): Reader<string> {
  return { schema: z.string(), expected: 'must be a text', example: 'text' };
}

/** Text that matches a pattern. */
export function textLike(pattern: RegExp, form: string, example: string): Reader<string> {
  return { schema: z.string().regex(pattern), expected: `must be ${form}`, example };
}

const WORDS = new Map<string, boolean>([
  ...['true', '1', 'yes', 'on', 't', 'y'].map((word): [string, boolean] => [word, true]),
  ...['false', '0', 'no', 'off', 'f', 'n'].map((word): [string, boolean] => [word, false]),
]);

/** true or false, or a common synonym. */
export const BOOLEAN: Reader<boolean> = {
  schema: z.string().transform((value, context) => {
    const read = WORDS.get(value.toLowerCase());
    if (read === undefined) context.addIssue('not a boolean');
    return read ?? z.NEVER;
  }),
  expected: 'must be true or false',
  example: 'true',
};

/** A number within bounds, both inclusive. */
export function numberIn(min: number, max: number, example: string): Reader<number> {
  return {
    schema: z
      .string()
      .regex(/^\d+(\.\d+)?$/)
      .transform(Number)
      .pipe(z.number().min(min).max(max)),
    expected: `must be a number from ${min} to ${max}`,
    example,
  };
}

/** A whole number within bounds, both inclusive. */
export function integerIn(min: number, max: number, example: string): Reader<number> {
  return {
    schema: z.string().regex(/^\d+$/).transform(Number).pipe(z.number().min(min).max(max)),
    expected: `must be a whole number from ${min} to ${max}`,
    example,
  };
}

/** A whole number within bounds, both inclusive, or a word with a special meaning. */
export function integerOr<const W extends string>(
  word: W,
  min: number,
  max: number,
  example: string,
): Reader<number | W> {
  const { schema, expected } = integerIn(min, max, example);
  const isWord = z.string().transform((value, context): W => {
    if (value.toLowerCase() !== word) context.addIssue('not the word');
    return word;
  });
  return { schema: z.union([schema, isWord]), expected: `${expected}, or ${word}`, example };
}

/** One of a few words, ignoring case. */
export function oneOfWords<const T extends string>(words: readonly T[]): Reader<T> {
  return {
    schema: z.string().transform((value, context): T => {
      const found = words.find((word) => word === value.toLowerCase());
      if (found === undefined) context.addIssue('not one of the words');
      return found ?? z.NEVER;
    }),
    expected: `must be one of ${words.join(', ')}`,
    example: words[0] ?? '',
  };
}

/** Texts separated by commas, trimmed, without blank ones. A lone `wildcard` is returned as is. */
export function commaList(): Reader<readonly string[]>;
export function commaList(wildcard: '*'): Reader<readonly string[] | '*'>;
export function commaList(wildcard?: '*'): Reader<readonly string[] | '*'> {
  return {
    schema: z.string().transform((value): readonly string[] | '*' => {
      const entries = value.split(',').map((entry) => entry.trim());
      const kept = entries.filter((entry) => entry !== '');
      return wildcard !== undefined && kept.includes(wildcard) ? wildcard : kept;
    }),
    expected: 'must be texts separated by commas',
    example: 'first,second',
  };
}

/** Texts separated by commas, each matching a pattern. */
export function listSetting(
  isOne: (entry: string) => boolean,
  form: string,
  example: string,
): Reader<readonly string[]> {
  const { schema } = commaList();
  return { schema: schema.refine((entries) => entries.every(isOne)), expected: `must be ${form}`, example };
}

/** A text for which a check holds. */
export function textWhere(isOne: (text: string) => boolean, form: string, example: string): Reader<string> {
  return { schema: z.string().refine(isOne), expected: `must be ${form}`, example };
}
