import { UNKNOWN, type Word } from '../../../shell-reader/src/index.js';
import type { DeniedCall } from './config.js';
import { readArguments } from './launchers/read-arguments.js';
import { grammarOf } from './launchers/rows.js';
import { baseName, canonicalFlag } from './programs.js';

/** Most arguments that are known only at run time and compared with those of a rule; with more, any may be given. */
const MAX_DYNAMIC = 20;

/** A denied call, prepared. */
interface Rule {
  readonly program: string;
  /** The words of its command; none for any. */
  readonly command: readonly string[];
  /** Each flag in its spellings, of which one must be given: a list of letters, all of them, or the flag as a whole. */
  readonly flags: readonly { readonly letters: readonly string[]; readonly whole: readonly string[] }[];
  readonly arguments: readonly string[] | undefined;
}

/** Flags and arguments of a call. */
interface Parts {
  readonly letters: ReadonlySet<string>;
  readonly whole: ReadonlySet<string>;
  /** Letters of what is a flag if the unknown begin of the word is empty. */
  readonly possible: ReadonlySet<string>;
  readonly given: ReadonlySet<string>;
  readonly dynamic: readonly string[];
  /** Whether flags may be among what is known only at run time. */
  readonly mayHaveFlags: boolean;
}

/** A call of a program. */
export interface ProgramCall {
  readonly name: string;
  /** The word that names it. */
  readonly program: Word;
  readonly args: readonly Word[];
  /** Whether more arguments come from the input of the command. */
  readonly fromInput: boolean;
}

const POSSIBLE_ARGUMENT = 0.6;
const POSSIBLE_FLAG = 0.4;

/** Denied calls, by the names of their programs. */
export function createDeniedCalls(denied: readonly DeniedCall[], normal: (name: string) => string) {
  const rules = new Map<string, Rule[]>();
  for (const call of denied) {
    const name = normal(baseName(call.program));
    rules.set(name, [...(rules.get(name) ?? []), ruleOf(call, name)]);
  }
  return {
    isNamed: (name: string) => rules.has(name),
    /** How certainly a call is denied: 1, or less when what is known only at run time decides; 0 when it is not. */
    score({ name, program, args, fromInput }: ProgramCall): number {
      const own = rules.get(name) ?? [];
      if (own.length === 0) return 0;
      const parts = partsOf(name, args);
      const command = own.some((rule) => rule.command.length > 0) ? commandOf(name, args) : [];
      const scores = own.map((rule) => {
        if (rule.program.includes('/') && normal(rule.program) !== normal(program.value)) return 0;
        const parted = Math.min(flagScore(rule, parts), argumentScore(rule, parts, fromInput));
        return Math.min(parted, commandScore(rule.command, command, fromInput));
      });
      return Math.max(...scores);
    },
  };
}

/** The words of the command of a program, with those that follow it. */
function commandOf(name: string, args: readonly Word[]): readonly Word[] {
  const grammar = grammarOf(name);
  if (grammar !== undefined && (grammar.rest.has('sub') || grammar.rest.has('verbs'))) {
    return readArguments(name, grammar, args).command;
  }
  return args.filter(({ value }) => !value.startsWith('-'));
}

/** Whether the command of a rule is the one that is called, or may be. */
function commandScore(expected: readonly string[], words: readonly Word[], moreArguments: boolean): number {
  let score = 1;
  for (const [index, word] of expected.entries()) {
    const given = words[index];
    if (given === undefined) return moreArguments ? POSSIBLE_ARGUMENT : 0;
    if (given.dynamic && mayBe(given.value, word)) score = POSSIBLE_ARGUMENT;
    else if (given.value !== word) return 0;
  }
  return score;
}

function ruleOf(call: DeniedCall, name: string): Rule {
  const flags = (call.flags ?? []).map((flag) => {
    if (!flag.startsWith('--')) {
      const letters = [...flag.slice(1)].map((letter) => canonicalFlag(name, letter));
      return { letters, whole: [flag.slice(1)] };
    }
    const long = flag.slice(2);
    const same = canonicalFlag(name, long);
    // Programs of GNU accept the begin of a long flag.
    const begins = Array.from(long, (_, index) => `-${long.slice(0, index + 1)}`).slice(1);
    return { letters: same === long ? [] : [same], whole: begins.length === 0 ? [`-${long}`] : begins };
  });
  const command = call.subcommand?.split(/\s+/).filter((word) => word !== '') ?? [];
  return { program: call.program, command, flags, arguments: call.arguments?.map(plainPath) };
}

function partsOf(name: string, args: readonly Word[]): Parts {
  const letters = new Set<string>();
  const whole = new Set<string>();
  const possible = new Set<string>();
  const given = new Set<string>();
  const dynamic: string[] = [];
  let mayHaveFlags = false;
  let ended = false;
  for (const { value, dynamic: isDynamic, splits, pattern } of args) {
    if (!ended && value === '--') ended = true;
    else if (!ended && value.startsWith('-') && value.length > 1) {
      const [flag = ''] = value.slice(1).split('=', 1);
      whole.add(flag);
      if (flag.startsWith('-')) {
        const same = canonicalFlag(name, flag.slice(1));
        if (same !== flag.slice(1)) letters.add(same);
      } else for (const letter of flag) letters.add(canonicalFlag(name, letter));
      mayHaveFlags ||= isDynamic;
    } else {
      if (isDynamic || (pattern && value.includes('{'))) dynamic.push(isDynamic ? value : UNKNOWN);
      else given.add(plainPath(value));
      mayHaveFlags ||= splits && value.startsWith(UNKNOWN) && !ended;
      // What is unknown may be empty: `$@-rf`.
      const known = isDynamic && splits && !ended ? value.replaceAll(UNKNOWN, '') : '';
      if (/^-[^-]/.test(known))
        for (const letter of known.slice(1)) possible.add(canonicalFlag(name, letter));
    }
  }
  return { letters, whole, possible, given, dynamic, mayHaveFlags };
}

function flagScore({ flags }: Rule, { letters, whole, possible, mayHaveFlags }: Parts): number {
  const isGiven = (flag: Rule['flags'][number]): boolean =>
    (flag.letters.length > 0 && flag.letters.every((letter) => letters.has(letter))) ||
    flag.whole.some((spelling) => whole.has(spelling));
  if (flags.every(isGiven)) return 1;
  const mayBeGiven = (flag: Rule['flags'][number]): boolean =>
    flag.letters.length > 0 && flag.letters.every((letter) => letters.has(letter) || possible.has(letter));
  if (possible.size > 0 && flags.every((flag) => isGiven(flag) || mayBeGiven(flag))) return POSSIBLE_ARGUMENT;
  return mayHaveFlags ? POSSIBLE_FLAG : 0;
}

function argumentScore(rule: Rule, { given, dynamic }: Parts, moreArguments: boolean): number {
  if (rule.arguments === undefined || rule.arguments.some((argument) => given.has(argument))) return 1;
  if (moreArguments || dynamic.length > MAX_DYNAMIC) return POSSIBLE_ARGUMENT;
  const possible = dynamic.some((value) => rule.arguments?.some((argument) => mayBe(value, argument)));
  return possible ? POSSIBLE_ARGUMENT : 0;
}

/** Whether the value can be the argument, whatever its unknown pieces are. */
function mayBe(value: string, argument: string): boolean {
  const pieces = value.split(UNKNOWN);
  const first = pieces[0] as string;
  const last = pieces.at(-1) as string;
  if (value.length - pieces.length + 1 > argument.length) return false;
  return argument.startsWith(first) && argument.endsWith(last);
}

/** A path without what has no effect: `//etc/./x/../` is `/etc`. Others are not changed. */
export function plainPath(path: string): string {
  if (!path.startsWith('/') || path.length > 4_096) return path;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
