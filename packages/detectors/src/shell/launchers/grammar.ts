/**
 * What an option is: `flag`, `value` and `two` say how many of the next words belong to it; the others run something, or nothing.
 * `text`: a text for a shell; `joined`: one if it is in the same word. `code`: a program in another language. `file`: a file with
 * commands. `name`: a variable. `setting`: `name=value`, where some names have a command as their value. `until`: a program up to
 * a word `;` or `+`. `rest`: all that follows is a program.
 */
export type OptionKind = 'flag' | 'two' | (typeof KINDS)[keyof typeof KINDS];

/** Kinds of options by the sign behind their names in a row. */
const KINDS = {
  '=': 'value',
  '?': 'optional',
  '!': 'query',
  $: 'text',
  '%': 'code',
  '~': 'file',
  '&': 'name',
  '^': 'joined',
  '@': 'setting',
  ';': 'until',
  '>': 'rest',
} as const;
const KIND_OF = new Map<string, OptionKind>(Object.entries(KINDS));

/** How a program reads its arguments. */
export interface Grammar {
  readonly short: ReadonlyMap<string, OptionKind>;
  readonly long: ReadonlyMap<string, OptionKind>;
  /** Options that are words with one dash, or without any: `-exec`. */
  readonly words: ReadonlyMap<string, OptionKind>;
  /** Words before the program. */
  readonly before: number;
  /**
   * What the words after the options are. `cmd`: a program with its arguments; `env`: after assignments. `sh`: one text for a
   * shell; `text`: the first of them is one; `texts`: each is one. `code`: the first is a program in another language, `codes`: each.
   * `dashes`: a program follows `--`. `sub`: a command of the program, which has a row of its own; `verbs`: a command without
   * one. `input`: it runs its input; `cron`: a table of cron. `lax`: options that are not listed are flags. `joins`: more words
   * come from the input. `builtin`: of the shell itself; `names`: each is the name of a variable, perhaps with a value;
   * `settings`: each is the name of an option.
   */
  readonly rest: ReadonlySet<string>;
}

/**
 * Reads a row of a table: `k|kill-after= [fv] foreground :: 1 cmd`. Options with the names of each, then what they are;
 * letters in brackets are as many options. After `::` the number of words before the program, and what it is.
 */
export function readGrammar(row: string): Grammar {
  const [options = '', rest = ''] = row.split('::');
  const short = new Map<string, OptionKind>();
  const long = new Map<string, OptionKind>();
  const words = new Map<string, OptionKind>();
  for (const token of tokens(options)) {
    const isTwo = token.endsWith('=2');
    const kind = isTwo ? 'two' : KIND_OF.get(token.at(-1) as string);
    const names = kind === undefined ? token : token.slice(0, isTwo ? -2 : -1);
    for (const name of namesOf(names)) {
      const target = name.startsWith('-') ? words : name.length === 1 ? short : long;
      target.set(name, kind ?? 'flag');
    }
  }
  const parts = tokens(rest);
  const before = parts.find((part) => /^\d$/.test(part)) ?? 0;
  return { short, long, words, before: Number(before), rest: new Set(parts) };
}

const namesOf = (names: string): string[] =>
  names.startsWith('[') ? [...names.slice(1, -1)] : names.split('|');

const tokens = (text: string): string[] => text.split(/\s+/).filter((token) => token !== '');

/** Options of GNU programs may be shortened: the kind of what the name begins, those that run something first. */
export function longKind({ long }: Grammar, name: string): OptionKind | undefined {
  const exact = long.get(name);
  if (exact !== undefined || name === '') return exact;
  let found: OptionKind | undefined;
  for (const [whole, kind] of long) {
    if (!whole.startsWith(name)) continue;
    if (RUNS.has(kind)) return kind;
    found ??= kind;
  }
  return found;
}

/** Kinds of options with which something runs. */
const RUNS: ReadonlySet<OptionKind> = new Set(['text', 'joined', 'code', 'file', 'setting', 'until', 'rest']);
