import type { SimpleCommand, Word } from '../../../packages/shell-reader/src/index.js';
import { quoted } from './assumed-text.js';
import { commandsInCode, runsNothing } from './code-texts.js';
import { type Piece, pieceText, type Reading, readArguments } from './launchers/read-arguments.js';
import { grammarOf, isLauncher } from './launchers/rows.js';
import { isSafeSetting, outsideArgument } from './subset.js';
import { MAY_RUN, RUNS_LATER, type TextScope } from './text-scope.js';

/** A call in a command: the program at `from` with its arguments up to `to`. */
export interface CallRange {
  readonly command: SimpleCommand;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly layers: number;
  readonly fromInput: boolean;
}

/** What checks the programs that another runs. */
export interface Calls {
  call(command: SimpleCommand, from: number, to: number, layers: number, fromInput: boolean): void;
  input(command: SimpleCommand, word: Word, isShell: boolean, kind?: 'commands' | 'cron'): void;
  /** A shell with its arguments. */
  shell(range: CallRange): void;
  script(command: SimpleCommand, file: Word | undefined, program: Word): void;
}

/** Checks what a program in the tables runs: another program, texts, code. */
export function checkArguments(text: TextScope, calls: Calls, range: CallRange): void {
  const { command, name, from, to, layers, fromInput } = range;
  const { words } = command;
  const { findings } = text;
  const word = words[from] as Word;
  const grammar = grammarOf(name);
  if (grammar === undefined) return;
  const reading = readArguments(name, grammar, words, from, to);
  if (reading.queries) return;
  const { rest } = reading.grammar;
  const texts = SPLITS.test(name) ? reading.texts.slice(0, 1) : reading.texts;
  for (const piece of texts) checkText(text, range, piece);
  // Its text has the other words as well.
  if (SPLITS.test(name) && reading.texts.length > 0) return;
  for (const piece of reading.settings) checkSetting(text, name, piece);
  for (const piece of reading.codes) {
    if (!runsNothing(name, pieceText(piece)) || piece.word.dynamic) findings.outside(piece.word);
    for (const each of commandsInCode(pieceText(piece), name)) text.guess(each, piece.word, MAY_RUN);
  }
  for (const piece of reading.files) {
    findings.outside(piece.word);
    calls.script(command, piece.word, word);
  }
  for (const [start, end] of reading.inner) calls.call(command, start, end, layers + 1, true);
  const outside = outsideArgument(name, reading, words, from, to);
  if (outside !== undefined) findings.outside(outside);
  if (!reading.certain) {
    if (rest.has('builtin')) findings.outside(word);
    else findings.unknown(word);
  }
  if (name === 'git') {
    for (const other of words.slice(from + 1, to)) {
      if (other.value.startsWith('!')) text.guess(other.value.slice(1), other, MAY_RUN);
    }
  }
  // Runners of packages also run a program without a command of their own before it.
  const own = reading.command[0];
  if (own !== undefined && RUNS_ANY.test(name)) {
    text.guess(
      words
        .slice(own, to)
        .map(({ value }) => quoted(value))
        .join(' '),
      word,
      MAY_RUN,
    );
  }
  const takesMore = fromInput || rest.has('joins');
  if (rest.has('joins') && command.pipeFrom >= 0) fromWritten(text, range, reading);
  if (rest.has('input')) calls.input(command, word, true);
  if (rest.has('cron')) checkTable(calls, command, word, words.slice(from + 1, to));
  if (reading.at < 0) {
    if (takesMore && isLauncher(name) && !rest.has('joins')) findings.unknown(word);
    return;
  }
  if (reading.form === 'program') {
    if (name === 'capsh') calls.shell({ ...range, name: 'bash', from: reading.at - 1 });
    else calls.call(command, reading.at, to, layers + 1, takesMore);
    checkJoined(text, reading, words.slice(reading.at, to));
  } else if (reading.form === 'joined') text.texts(words.slice(reading.at, to));
  else for (const piece of textsOf(name, reading, words, to)) text.word(piece.word, command, piece.from);
}

/** A program that an option names, with the arguments that follow, or the program of a package: `pkgs#git`, `git@2`. */
function checkJoined(text: TextScope, { texts }: Reading, words: readonly Word[]): void {
  const [first, ...others] = words;
  if (first === undefined) return;
  const rest = others.map(({ value }) => quoted(value)).join(' ');
  const program = /^(?:.*#)?([^#@]+)(?:@.*)?$/.exec(first.value)?.[1];
  for (const piece of texts)
    text.guess(`${pieceText(piece)} ${quoted(first.value)} ${rest}`, first, RUNS_LATER);
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
function textsOf(name: string, { at, form }: Reading, words: readonly Word[], to: number): Piece[] {
  // `trap - INT` and `trap INT` only restore what a signal does.
  if (name === 'trap' && (at + 1 >= to || words[at - 1]?.value === '-')) return [];
  const all = words.slice(at, form === 'text' ? at + 1 : to);
  if (name !== 'alias') {
    return all.filter(({ value }) => !SCRIPT_NAME.test(value)).map((word) => ({ word, from: 0 }));
  }
  return all
    .filter(({ value }) => value.includes('='))
    .map((word) => ({ word, from: word.value.indexOf('=') + 1 }));
}

/** A text of an option; of `bind` it follows the keys. `env` splits it into words, options of its own and assignments among them, before the others. */
function checkText(text: TextScope, { command, name, to }: CallRange, { word, from }: Piece): void {
  if (!SPLITS.test(name)) {
    const keys = name === 'bind' ? (/^\s*"(?:[^"\\]|\\.)*"\s*:/.exec(word.value)?.[0] ?? '') : '';
    text.word(word, command, from + keys.length);
    return;
  }
  const { words } = command;
  const others = words.slice(words.indexOf(word) + 1, to).map(({ value }) => quoted(value));
  const whole = `${name} ${word.value.slice(from)} ${others.join(' ')}`;
  const place = { startOf: text.check.place.startOf, endOf: text.check.place.endOf };
  const [start, end] = [place.startOf(word.start), place.endOf(word.end)];
  text.nested(whole, { startOf: () => start, endOf: () => end }, word);
}

/** `name=value`, where the value may be a command. */
function checkSetting(text: TextScope, name: string, piece: Piece): void {
  const setting = pieceText(piece);
  if (!isSafeSetting(name, setting)) text.findings.outside(piece.word);
  const [key = ''] = setting.split(/[=\s]/, 1);
  const value = setting.slice(key.length + 1).replace(/^\s*"?!?/, '');
  if (value !== '') text.guess(value, piece.word, MAY_RUN);
}

/** `echo a b | xargs program`: the words that are written follow the program. */
function fromWritten(text: TextScope, { command, to }: CallRange, { at }: Reading): void {
  const { written } = text;
  if (written === undefined || written.start !== command.pipeFrom || at < 0) return;
  const own = command.words.slice(at, to).map(({ value }) => quoted(value));
  const more = written.words.flatMap(({ value }) => value.split(/\s+/)).filter((value) => value !== '');
  const span = { start: command.pipeFrom, end: command.end };
  text.guess([...own, ...more.map(quoted)].join(' '), span, RUNS_LATER);
}

function checkTable(calls: Calls, command: SimpleCommand, word: Word, words: readonly Word[]): void {
  const file = words.find(({ value }) => !value.startsWith('-') || value === '-');
  if (words.some(({ value }) => /^-[lre]/.test(value))) return;
  if (file === undefined || file.value === '-') calls.input(command, word, true, 'cron');
  else calls.script(command, file, word);
}
