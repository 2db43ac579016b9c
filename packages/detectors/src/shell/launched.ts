import type { SimpleCommand, Word } from '../../../shell-reader/src/index.js';
import { quoted, quotedText } from './assumed-text.js';
import { commandsInCode, runsNothing } from './code-texts.js';
import type { ProgramCall } from './denied-calls.js';
import { type Piece, pieceOf, type Reading, readArguments } from './launchers/read-arguments.js';
import { grammarOf, isLauncher } from './launchers/rows.js';
import { isSafeSetting, outsideArgument } from './subset.js';
import { MAY_RUN, RUNS_LATER, type TextScope } from './text-scope.js';

/** A call in a command, with the programs around it counted. */
export interface Call extends ProgramCall {
  readonly command: SimpleCommand;
  readonly layers: number;
}

/** What checks the programs that another runs. */
export interface Calls {
  /** A call of the program that the first of the words names, if there is one. `layers` counts the programs around it. */
  call(command: SimpleCommand, words: readonly Word[], layers: number, fromInput: boolean): void;
  /** A shell that reads commands from its input, or `cron` that reads a table. */
  input(command: SimpleCommand, program: Word, isShell: boolean, kind?: 'commands' | 'cron'): void;
  /** A shell or an interpreter. */
  shell(call: Call): void;
  /** A file that is run as a script. */
  script(command: SimpleCommand, file: Word | undefined, program: Word): void;
}

/** Checks what a program in the tables runs: another program, texts, code. */
export function checkArguments(text: TextScope, calls: Calls, call: Call): void {
  const { command, name, program, args, layers, fromInput } = call;
  const { findings } = text;
  const grammar = grammarOf(name);
  if (grammar === undefined) return;
  const reading = readArguments(name, grammar, args);
  if (reading.queries) return;
  const { pieces } = reading;
  const { rest } = reading.grammar;
  const [first] = pieces.text;
  if (first !== undefined && SPLITS.test(name)) {
    // The text that it splits, with options and assignments, stands before the other words.
    const others = quotedText(args.slice(args.indexOf(first.word) + 1));
    text.nested(`${name} ${first.text} ${others}`, first.word);
    return;
  }
  for (const piece of pieces.text) checkText(text, call, piece);
  for (const piece of pieces.setting) checkSetting(text, name, piece);
  for (const { word, text: code } of pieces.code) {
    if (!runsNothing(name, code) || word.dynamic) findings.outside(word);
    for (const each of commandsInCode(code, name)) text.guess(each, word, MAY_RUN);
  }
  for (const { word } of pieces.file) {
    findings.outside(word);
    calls.script(command, word, program);
  }
  for (const words of reading.inner) calls.call(command, words, layers + 1, true);
  const outside = outsideArgument(name, reading, args);
  if (outside !== undefined) findings.outside(outside);
  if (!reading.certain) {
    if (rest.has('builtin')) findings.outside(program);
    else findings.unknown(program);
  }
  if (name === 'git') {
    for (const word of args) if (word.value.startsWith('!')) text.guess(word.value.slice(1), word, MAY_RUN);
  }
  // Runners of packages also run a program without a command of their own before it.
  const [own] = reading.command;
  if (own !== undefined && RUNS_ANY.test(name)) {
    text.guess(quotedText(args.slice(args.indexOf(own))), program, MAY_RUN);
  }
  const joins = rest.has('joins');
  if (joins && command.pipeFrom >= 0) fromWritten(text, call, reading);
  if (rest.has('input')) calls.input(command, program, true);
  if (rest.has('cron')) checkTable(calls, call);
  if (reading.at < 0) {
    if (fromInput && isLauncher(name) && !joins) findings.unknown(program);
    return;
  }
  const inner = args.slice(reading.at);
  if (reading.form === 'program') {
    if (name === 'capsh')
      calls.shell({ ...call, name: 'bash', program: args[reading.at - 1] ?? program, args: inner });
    else calls.call(command, inner, layers + 1, fromInput || joins);
    checkJoined(text, reading, inner);
  } else if (reading.form === 'joined') text.texts(inner);
  else for (const piece of textsOf(name, reading, args)) text.word(piece.word, command, piece.from);
}

/** A program that an option names, with the arguments that follow, or the program of a package: `pkgs#git`, `git@2`. */
function checkJoined(text: TextScope, { pieces }: Reading, words: readonly Word[]): void {
  const [first, ...others] = words;
  if (first === undefined) return;
  const rest = quotedText(others);
  const program = /^(?:.*#)?([^#@]+)(?:@.*)?$/.exec(first.value)?.[1];
  for (const { text: option } of pieces.text)
    text.guess(`${option} ${quoted(first.value)} ${rest}`, first, RUNS_LATER);
  if (program !== undefined && program !== first.value) {
    text.guess(`${quoted(program)} ${rest.replace(/^'--'/, '')}`, first, RUNS_LATER);
  }
}

/** Programs that split a text into words, before the words that follow. */
const SPLITS = /^g?env$/;
const RUNS_ANY = /^(?:yarn|pnpm|bun|mise|rtx)$/;
/** A script of a package, as `concurrently` names it. */
const SCRIPT_NAME = /^(?:npm|pnpm|yarn|bun|node|deno):\S*$/;

/** The texts that the words from the first on are. */
function textsOf(name: string, { at, form }: Reading, args: readonly Word[]): Piece[] {
  // `trap - INT` and `trap INT` only restore what a signal does.
  if (name === 'trap' && (at + 1 >= args.length || args[at - 1]?.value === '-')) return [];
  const all = args.slice(at, form === 'text' ? at + 1 : undefined);
  if (name !== 'alias')
    return all.filter(({ value }) => !SCRIPT_NAME.test(value)).map((word) => pieceOf(word));
  return all.flatMap((word) => (word.value.includes('=') ? pieceOf(word, word.value.indexOf('=') + 1) : []));
}

/** A text of an option; of `bind` it follows the keys. */
function checkText(text: TextScope, { command, name }: Call, { word, from }: Piece): void {
  const keys = name === 'bind' ? (/^\s*"(?:[^"\\]|\\.)*"\s*:/.exec(word.value)?.[0] ?? '') : '';
  text.word(word, command, from + keys.length);
}

/** `name=value`, where the value may be a command. */
function checkSetting(text: TextScope, name: string, { word, text: setting }: Piece): void {
  if (!isSafeSetting(name, setting)) text.findings.outside(word);
  const [key = ''] = setting.split(/[=\s]/, 1);
  const value = setting.slice(key.length + 1).replace(/^\s*"?!?/, '');
  if (value !== '') text.guess(value, word, MAY_RUN);
}

/** `echo a b | xargs program`: the words that are written follow the program. */
function fromWritten(text: TextScope, { command, args }: Call, { at }: Reading): void {
  const { written } = text;
  if (written?.start !== command.pipeFrom || at < 0) return;
  const more = written.words.flatMap(({ value }) => value.split(/\s+/)).filter((value) => value !== '');
  const span = { start: command.pipeFrom, end: command.end };
  text.guess([quotedText(args.slice(at)), ...more.map(quoted)].join(' '), span, RUNS_LATER);
}

function checkTable(calls: Calls, { command, program, args }: Call): void {
  const file = args.find(({ value }) => !value.startsWith('-') || value === '-');
  if (args.some(({ value }) => /^-[lre]/.test(value))) return;
  if (file === undefined || file.value === '-') calls.input(command, program, true, 'cron');
  else calls.script(command, file, program);
}
