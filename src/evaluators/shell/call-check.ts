import { type SimpleCommand, UNKNOWN, type Word } from '../../../packages/shell-reader/src/index.js';
import { assignedName, checkValue, isReservedVariable } from './assignments.js';
import { commandsInCode } from './code-texts.js';
import { type CallRange, checkArguments } from './launched.js';
import { grammarOf, isLauncher } from './launchers/rows.js';
import { DOWNLOADERS, ELEVATING, SHELLS } from './programs.js';
import { executedBy, runsCode } from './shell-call.js';
import { isOutside } from './subset.js';
import { MAY_RUN, RUNS_LATER, type TextScope } from './text-scope.js';
import { checkUnknownProgram } from './unknown-programs.js';
import { checkWindowsShell, WINDOWS_SHELLS } from './windows-texts.js';
import { checkWritten } from './written-targets.js';

/** Most programs that run one another in one command. */
const MAX_LAYERS = 16;

/** Builtins that evaluate the names of variables they are given, or words for completion. */
const EVALUATES =
  /^(?:let|test|\[|printf|read|mapfile|readarray|unset|declare|typeset|local|export|readonly|wait|getopts|set|compgen|complete)$/;

/** Checks calls of programs, with the programs and texts that they run. */
export class CallCheck {
  constructor(private readonly text: TextScope) {}

  /** A call of the program that the word at `from` names. `layers` counts the programs around it. */
  call(command: SimpleCommand, from: number, to: number, layers: number, fromInput: boolean): void {
    const { findings, rules, downloads } = this.text;
    const { words } = command;
    const word = words[from] as Word;
    if (layers > MAX_LAYERS) {
      findings.unknown(word);
      return;
    }
    const isPattern = word.pattern && word.value !== '[';
    if (word.dynamic || isPattern || word.value === '' || (fromInput && word.value.includes('{}'))) {
      findings.unknown(word);
      // A variable may be empty, or a wrapper.
      if (word.splits && word.value === UNKNOWN && from + 1 < to) {
        this.call(command, from + 1, to, layers + 1, fromInput);
      }
      // Braces make several words, the first of which is the program.
      if (word.dynamic || !isPattern || /[*?[{]/.test(word.value)) return;
    }
    const path = rules.pathOf(word.value, this.text.text.slice(word.start, word.end));
    const name = rules.nameOf(path);
    const range: CallRange = { command, name, from, to, layers, fromInput };
    this.#program(range, word, path);
    if (WINDOWS_SHELLS.has(name)) checkWindowsShell(this.text, range);
    else if (runsCode(name)) this.shell(range);
    else if (name === '.' || name === 'source') this.#source(command, words[from + 1], word);
    else if (grammarOf(name) !== undefined) checkArguments(this.text, this, range);
    else if (path.includes('/') && downloads.has(path))
      findings.forbidden('download_and_run', word.start, word.end);
    if (!runsCode(name) && !isLauncher(name)) checkUnknownProgram(this.text, command, name, from, to);
  }

  #program({ command, name, from, to, fromInput }: CallRange, word: Word, path: string): void {
    const { rules, findings, functions, downloads } = this.text;
    const { words } = command;
    functions.call(path, command.pipeFrom >= 0);
    if (rules.isDenied(path)) findings.add('program_denied', word.start, word.end, 1);
    if (!rules.isAllowed(word.value)) findings.add('program_not_allowed', word.start, word.end, 1);
    if (ELEVATING.has(name)) findings.forbidden('sudo', word.start, word.end);
    if (name === 'eval') findings.forbidden('eval', word.start, word.end);
    const score = rules.calls.score(name, words, from, to, fromInput);
    if (score > 0) findings.add('call_denied', word.start, (words[to - 1] as Word).end, score);
    if (DOWNLOADERS.has(name)) downloads.add(command, from + 1, to);
    for (let at = from + 1; at < to; at += 1) {
      const other = words[at] as Word;
      const assigned = assignedName(other.value);
      if (assigned === undefined) continue;
      if (isReservedVariable(assigned)) findings.outside(other);
      checkValue(assigned, other.value.slice(other.value.indexOf('=') + 1), other, this.text);
    }
    if (rules.isStrict) {
      const outside = isOutside(name, words, from, to);
      if (outside !== undefined) findings.outside(outside);
    }
    if (EVALUATES.test(name)) {
      for (const { value, start, end } of words.slice(from + 1, to)) {
        if (value.includes('[') || name.startsWith('comp')) this.text.evaluates(value, { start, end });
      }
    }
    if (name === 'echo' || name === 'printf') {
      this.text.writes = { words: words.slice(from + 1, to), start: command.start };
    }
    checkWritten(name, words, from, to, findings);
  }

  /** A shell or an interpreter. */
  shell({ command, name, from, to }: CallRange): void {
    const executed = executedBy(name, command.words, from, to);
    const word = command.words[from] as Word;
    if (executed.kind === 'text') this.text.word(executed.word, command);
    else if (executed.kind === 'file') this.script(command, executed.word, word);
    else if (executed.kind === 'input') this.input(command, word, SHELLS.has(name));
    else if (executed.word !== undefined) {
      for (const each of commandsInCode(executed.word.value, name)) this.text.guess(each, word, MAY_RUN);
    }
    if (executed.kind === 'file' && executed.word.value.startsWith(UNKNOWN)) {
      this.text.findings.outside(executed.word);
    }
  }

  /** A file whose commands the shell itself runs. */
  #source(command: SimpleCommand, file: Word | undefined, word: Word): void {
    if (file !== undefined) this.text.findings.outside(word);
    this.script(command, file, word);
  }

  /** A shell that reads commands from its input, or `cron` that reads a table. */
  input(command: SimpleCommand, word: Word, isShell: boolean, kind: 'commands' | 'cron' = 'commands'): void {
    const { findings, downloads, written } = this.text;
    const input = command.redirects.findLast(({ operator }) => operator.startsWith('<'));
    if (input?.operator === '<<' || input?.operator === '<<-') {
      if (isShell) this.text.readingDocuments.set(command, kind);
    } else if (input?.operator === '<<<') {
      if (isShell && kind === 'cron') this.text.cron(input.target.value, input.target);
      else if (isShell) this.text.word(input.target, command);
    } else if (input !== undefined) this.script(command, input.target, word);
    else if (command.pipeFrom >= 0) {
      findings.forbidden('pipe_to_shell', command.start, command.end);
      if (downloads.lastAt >= command.pipeFrom) {
        findings.forbidden('download_and_run', command.pipeFrom, command.end);
      }
      if (!isShell || written === undefined || written.start !== command.pipeFrom) findings.unknown(word);
      else if (kind === 'cron') {
        const text = written.words.map(({ value }) => value).join(' ');
        this.text.cron(text, { start: command.pipeFrom, end: command.end });
      } else this.text.texts(written.words);
    }
  }

  /** A file that is run as a script. */
  script(command: SimpleCommand, file: Word | undefined, program: Word): void {
    const { findings, downloads } = this.text;
    if (file === undefined) return;
    if (file.value === '/dev/stdin' && command.pipeFrom >= 0) {
      findings.forbidden('pipe_to_shell', command.start, command.end);
    }
    if (downloads.has(file.value) || (file.substitutes && downloads.lastAt >= file.start)) {
      findings.forbidden('download_and_run', command.start, command.end);
    }
    if (file.substitutes || file.value === '/dev/stdin') findings.unknown(program);
    const written = this.text.files.take(file.value);
    if (written !== undefined) this.text.guess(written, file, RUNS_LATER);
  }
}
