import {
  type Redirect,
  readShell,
  type ShellVisitor,
  type SimpleCommand,
  UNKNOWN,
  type Word,
} from '../../../packages/shell-reader/src/index.js';
import { Downloads } from './downloads.js';
import { Findings, type Found } from './findings.js';
import { FunctionCalls } from './function-calls.js';
import { fixedAt, type Place, shiftedBy, WHOLE_TEXT } from './places.js';
import { baseName, CHANGES_PROGRAMS, DOWNLOADERS, ELEVATING, SHELLS } from './programs.js';
import type { Rules } from './rules.js';
import { executedBy, runsCode } from './shell-call.js';
import { isWrapper, unwrap } from './wrappers.js';
import { checkRedirect, checkWritten } from './written-targets.js';

/** Most programs that run one another in one command, and most texts of shells in one another. */
const MAX_LAYERS = 16;
const MAX_TEXTS = 8;
/** Search steps of some 13 ns for each character that is read. */
const STEPS_PER_CHARACTER = 3;
const FIND_EXEC = new Set(['-exec', '-execdir', '-ok', '-okdir']);

export type Spend = (steps: number) => void;

/** The arguments of a command that writes them. */
interface Written {
  readonly words: readonly Word[];
  readonly start: number;
}

/** Finds what the rules forbid in the commands of a text. Never throws on account of the text. */
export function checkShell(text: string, rules: Rules, found: Found, spend: Spend): void {
  new ShellText(text, rules, found, spend, WHOLE_TEXT, 0).read();
}

/** One text of a shell: the checked one, or one that a command in it gives to a shell. */
class ShellText implements ShellVisitor {
  readonly #findings: Findings;
  readonly #downloads = new Downloads();
  readonly #functions = new FunctionCalls();
  /** Shells that read their commands from a here-document behind the line. */
  readonly #readingDocuments = new Set<SimpleCommand>();
  /** Texts that the current command writes, and those that the one before has written, with its begin. */
  #writes: Written | undefined;
  #written: Written | undefined;

  constructor(
    private readonly text: string,
    private readonly rules: Rules,
    private readonly found: Found,
    private readonly spend: Spend,
    private readonly place: Place,
    private readonly depth: number,
  ) {
    this.#findings = new Findings(rules, place, found);
  }

  read(): void {
    this.spend(this.text.length * STEPS_PER_CHARACTER);
    const problem = readShell(this.text, this);
    if (problem === undefined) return;
    const end = Math.min(this.text.length, problem.at + 1);
    this.#findings.add('unreadable', Math.max(0, end - 1), end, this.rules.unreadableScore);
  }

  command(command: SimpleCommand): void {
    const { words, assignments, redirects } = command;
    if (this.rules.isStrict) {
      for (const { name, start, end } of assignments) {
        if (CHANGES_PROGRAMS.test(`${name}=`)) this.#findings.unknown({ start, end });
      }
    }
    this.#written = this.#writes;
    this.#writes = undefined;
    for (const redirect of redirects) this.redirect(redirect);
    if (words.length > 0) this.#call(command, 0, words.length, 0, false);
  }

  redirect(redirect: Redirect): void {
    checkRedirect(redirect, this.#findings);
  }

  substitution(start: number, end: number): void {
    this.#findings.forbidden('substitution', start, end);
  }

  decoded(command: string, start: number, end: number): void {
    this.#nested(command, fixedAt(this.place, start, end), { start, end });
  }

  background(start: number, end: number): void {
    this.#functions.background();
    this.#findings.forbidden('background', start, end);
  }

  hereDocument(command: SimpleCommand | undefined, start: number, end: number): void {
    if (command === undefined || !this.#readingDocuments.delete(command)) return;
    this.#nested(this.text.slice(start, end), shiftedBy(this.place, start), { start, end });
  }

  enterFunction(name: string): void {
    this.#functions.enter(name);
  }

  leaveFunction(start: number, end: number): void {
    if (this.#functions.leave()) this.#findings.forbidden('fork_bomb', start, end);
  }

  /** A call of the program that the word at `from` names. `layers` counts the programs around it. */
  #call(command: SimpleCommand, from: number, to: number, layers: number, fromInput: boolean): void {
    const { words } = command;
    const word = words[from] as Word;
    if (layers > MAX_LAYERS) {
      this.#findings.unknown(word);
      return;
    }
    const isPattern = word.pattern && word.value !== '[';
    if (word.dynamic || isPattern || word.value === '' || (fromInput && word.value.includes('{}'))) {
      this.#findings.unknown(word);
      // A variable may be empty, or a wrapper.
      if (word.splits && word.value === UNKNOWN && from + 1 < to) {
        this.#call(command, from + 1, to, layers + 1, fromInput);
      }
      return;
    }
    const path = word.value;
    const name = baseName(path);
    this.#program(command, word, path, name, from, to, fromInput);
    if (runsCode(name)) this.#runsCode(command, name, from, to);
    else if (name === 'eval') this.#texts(words, from + 1, to);
    else if (name === 'trap' && from + 2 < to) this.#texts(words, from + 1, from + 2);
    else if (name === '.' || name === 'source') this.#script(command, words[from + 1], word);
    else if (name === 'find') this.#foundFiles(command, from, to, layers);
    else if (isWrapper(name)) this.#wrapped(command, name, from, to, layers, fromInput || name === 'xargs');
    else if (path.includes('/') && this.#downloads.has(path))
      this.#findings.forbidden('download_and_run', word.start, word.end);
  }

  #program(
    command: SimpleCommand,
    word: Word,
    path: string,
    name: string,
    from: number,
    to: number,
    fromInput: boolean,
  ): void {
    const { rules } = this;
    const { words } = command;
    this.#functions.call(path, command.pipeFrom >= 0);
    if (rules.isDenied(path)) this.#findings.add('program_denied', word.start, word.end, 1);
    if (!rules.isAllowed(path)) this.#findings.add('program_not_allowed', word.start, word.end, 1);
    if (ELEVATING.has(name)) this.#findings.forbidden('sudo', word.start, word.end);
    if (name === 'eval') this.#findings.forbidden('eval', word.start, word.end);
    const score = rules.callScore(name, words, from, to, fromInput);
    if (score > 0) this.#findings.add('call_denied', word.start, (words[to - 1] as Word).end, score);
    if (DOWNLOADERS.has(name)) this.#downloads.add(command, from + 1, to);
    if (rules.isStrict) {
      for (let at = from + 1; at < to; at += 1) {
        const other = words[at] as Word;
        if (CHANGES_PROGRAMS.test(other.value)) this.#findings.unknown(other);
      }
    }
    if (name === 'echo' || name === 'printf') {
      this.#writes = { words: words.slice(from + 1, to), start: command.start };
    }
    checkWritten(name, words, from, to, this.#findings);
  }

  /** A shell or an interpreter. */
  #runsCode(command: SimpleCommand, name: string, from: number, to: number): void {
    const executed = executedBy(name, command.words, from, to);
    const word = command.words[from] as Word;
    if (executed.kind === 'text') this.#text(executed.word, command);
    else if (executed.kind === 'file') this.#script(command, executed.word, word);
    else if (executed.kind === 'input') this.#input(command, word, SHELLS.has(name));
  }

  /** A shell that reads commands from its input. */
  #input(command: SimpleCommand, word: Word, isShell: boolean): void {
    const input = command.redirects.findLast(({ operator }) => operator.startsWith('<'));
    if (input?.operator === '<<' || input?.operator === '<<-') {
      if (isShell) this.#readingDocuments.add(command);
    } else if (input?.operator === '<<<') {
      if (isShell) this.#text(input.target, command);
    } else if (input !== undefined) this.#script(command, input.target, word);
    else if (command.pipeFrom >= 0) {
      this.#findings.forbidden('pipe_to_shell', command.start, command.end);
      if (this.#downloads.lastAt >= command.pipeFrom) {
        this.#findings.forbidden('download_and_run', command.pipeFrom, command.end);
      }
      const written = this.#written;
      if (isShell && written !== undefined && written.start === command.pipeFrom) {
        this.#texts(written.words, 0, written.words.length);
      } else this.#findings.unknown(word);
    }
  }

  /** A file that is run as a script. */
  #script(command: SimpleCommand, file: Word | undefined, program: Word): void {
    if (file === undefined) return;
    if (file.value === '/dev/stdin' && command.pipeFrom >= 0) {
      this.#findings.forbidden('pipe_to_shell', command.start, command.end);
    }
    if (this.#downloads.has(file.value) || (file.substitutes && this.#downloads.lastAt >= file.start)) {
      this.#findings.forbidden('download_and_run', command.start, command.end);
    }
    if (file.substitutes || file.value === '/dev/stdin') this.#findings.unknown(program);
  }

  /** Words that are together a text for a shell. */
  #texts(words: readonly Word[], from: number, to: number): void {
    const first = words[from];
    if (first === undefined || from >= to) return;
    if (to - from === 1) {
      this.#text(first, first);
      return;
    }
    const span = { start: first.start, end: (words[to - 1] as Word).end };
    const text = words
      .slice(from, to)
      .map(({ value }) => value)
      .join(' ');
    if (words.slice(from, to).some(({ substitutes }) => substitutes)) this.#downloaded(span);
    this.#nested(text, fixedAt(this.place, span.start, span.end), span);
  }

  #text(word: Word, command: { readonly start: number; readonly end: number }): void {
    const { value, verbatim, start, end } = word;
    if (word.substitutes) this.#downloaded({ start: command.start, end: command.end, from: start });
    const place = verbatim < 0 ? fixedAt(this.place, start, end) : shiftedBy(this.place, verbatim);
    this.#nested(value, place, word);
  }

  #downloaded({ start, end, from = start }: { start: number; end: number; from?: number }): void {
    if (this.#downloads.lastAt >= from) this.#findings.forbidden('download_and_run', start, end);
  }

  #nested(text: string, place: Place, span: { readonly start: number; readonly end: number }): void {
    if (this.depth >= MAX_TEXTS) {
      this.#findings.unknown(span);
      return;
    }
    const written = text.replaceAll(UNKNOWN, UNKNOWN_AS_VARIABLE);
    const inside = written.length === text.length ? place : fixedAt(this.place, span.start, span.end);
    new ShellText(written, this.rules, this.found, this.spend, inside, this.depth + 1).read();
  }

  /** A program that runs another. */
  #wrapped(
    command: SimpleCommand,
    name: string,
    from: number,
    to: number,
    layers: number,
    fromInput: boolean,
  ): void {
    const { words } = command;
    const wrapped = unwrap(name, words, from, to);
    if (wrapped === null) return;
    for (const word of wrapped.texts) this.#text(word, command);
    if (!wrapped.certain) this.#findings.unknown(words[from] as Word);
    if (wrapped.at < 0) return;
    if (wrapped.joins) this.#texts(words, wrapped.at, to);
    else this.#call(command, wrapped.at, to, layers + 1, fromInput);
  }

  /** `find … -exec program … ;` */
  #foundFiles(command: SimpleCommand, from: number, to: number, layers: number): void {
    const { words } = command;
    for (let at = from + 1; at < to; at += 1) {
      if (!FIND_EXEC.has((words[at] as Word).value)) continue;
      let end = at + 1;
      while (end < to && !/^[;+]$/.test((words[end] as Word).value)) end += 1;
      if (at + 1 < end) this.#call(command, at + 1, end, layers + 1, true);
      at = end;
    }
  }
}

/** What is known only at run time is a variable in the text that the shell is given. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is a variable of a shell
const UNKNOWN_AS_VARIABLE = '${_}';
