import {
  type Redirect,
  readExpansions,
  readShell,
  type ShellVisitor,
  type SimpleCommand,
  UNKNOWN,
  type Word,
} from '../../../packages/shell-reader/src/index.js';
import { checkAssignment, isReservedVariable } from './assignments.js';
import { assumedText, isAssumable } from './assumed-text.js';
import { CallCheck } from './call-check.js';
import { Downloads } from './downloads.js';
import { type Certainty, Findings } from './findings.js';
import { FunctionCalls } from './function-calls.js';
import { fixedAt, type Place, shiftedBy } from './places.js';
import { isStartupFile } from './programs.js';
import type { Rules } from './rules.js';
import {
  MAY_RUN,
  RUNS_LATER,
  type Span,
  type TextCheck,
  type TextScope,
  type Written,
} from './text-scope.js';
import { WrittenFiles } from './written-files.js';
import { checkRedirect } from './written-targets.js';

/** Most texts of shells in one another. */
const MAX_TEXTS = 8;
/** Search steps of some 13 ns for each character that is read. */
const STEPS_PER_CHARACTER = 3;
/** One text of a shell: the checked one, or one that a command in it gives to a shell. */
export class ShellText implements ShellVisitor, TextScope {
  readonly findings: Findings;
  readonly downloads = new Downloads();
  readonly functions = new FunctionCalls();
  readonly files = new WrittenFiles();
  readonly readingDocuments = new Map<SimpleCommand, 'commands' | 'cron'>();
  writes: Written | undefined;
  written: Written | undefined;
  readonly #calls: CallCheck;

  constructor(
    readonly text: string,
    readonly check: TextCheck,
  ) {
    this.findings = new Findings(check.rules, check.place, check.found, check.certainty);
    this.#calls = new CallCheck(this);
  }

  get rules(): Rules {
    return this.check.rules;
  }

  /** Reads the text; `expansions` are those of a text that is evaluated as arithmetic or a prompt. */
  read(what: 'commands' | 'expansions' = 'commands'): void {
    const { length } = this.text;
    this.check.spend(length * STEPS_PER_CHARACTER);
    const problem = what === 'commands' ? readShell(this.text, this) : readExpansions(this.text, this);
    if (problem === undefined) return;
    const end = Math.min(length, problem.at + 1);
    this.findings.add('unreadable', Math.max(0, end - 1), end, this.rules.unreadableScore);
  }

  command(command: SimpleCommand): void {
    const { words, assignments, redirects } = command;
    this.findings.next();
    for (const assignment of assignments) checkAssignment(assignment, this);
    this.written = this.writes;
    this.writes = undefined;
    for (const redirect of redirects) this.redirect(redirect);
    if (words.length > 0) this.#calls.call(command, 0, words.length, 0, false);
    if (this.check.certainty === 1 && words.length > 0 && words.some(isAssumable)) {
      this.guess(assumedText(words, 0), command, MAY_RUN);
    }
    const writes = this.writes as Written | undefined;
    const output = redirects.find(({ operator }) => operator.startsWith('>'));
    if (writes !== undefined && output !== undefined) {
      if (isStartupFile(output.target.value)) this.texts(writes.words);
      else this.files.add(output.target.value, writes.words.map(({ value }) => value).join(' '));
    }
  }

  redirect(redirect: Redirect): void {
    checkRedirect(redirect, this.findings);
  }

  substitution(start: number, end: number): void {
    this.findings.forbidden('substitution', start, end);
  }

  decoded(command: string, start: number, end: number): void {
    this.nested(command, fixedAt(this.check.place, start, end), { start, end });
  }

  background(start: number, end: number): void {
    this.functions.background();
    this.findings.forbidden('background', start, end);
  }

  hereDocument(command: SimpleCommand | undefined, start: number, end: number): void {
    if (command === undefined) return;
    const kind = this.readingDocuments.get(command);
    const text = this.text.slice(start, end);
    if (kind === undefined) {
      const output = command.redirects.find(({ operator }) => operator.startsWith('>'));
      if (output === undefined) return;
      if (isStartupFile(output.target.value)) this.guess(text, { start, end }, RUNS_LATER);
      else this.files.add(output.target.value, text);
      return;
    }
    this.readingDocuments.delete(command);
    if (kind === 'cron') this.cron(text, { start, end });
    else this.nested(text, shiftedBy(this.check.place, start), { start, end });
  }

  /** Outside the subset; commands that are written in it are read. */
  evaluated(value: string, start: number, end: number): void {
    this.findings.outside({ start, end });
    this.evaluates(value, { start, end });
  }

  evaluates(value: string, { start, end }: Span): void {
    const plain = value.replace(/[\\'"]/g, '');
    if (!/\$\(|`/.test(plain) || this.check.depth >= MAX_TEXTS) return;
    this.#inner(plain, fixedAt(this.check.place, start, end), MAY_RUN).read('expansions');
  }

  assigned(name: string, start: number, end: number): void {
    if (isReservedVariable(name)) this.findings.outside({ start, end });
  }

  enterFunction(name: string): void {
    this.functions.enter(name);
  }

  leaveFunction(start: number, end: number): void {
    const { name, forks } = this.functions.leave();
    if (forks) this.findings.forbidden('fork_bomb', start, end);
    // It takes the place of a program that is allowed, or is called by the shell itself.
    if (this.rules.isAllowed(name) || /handle$|^(?:precmd|preexec|chpwd|prompt)/.test(name)) {
      this.findings.outside({ start, end });
    }
  }

  /** Words that are together a text for a shell. */
  texts(words: readonly Word[]): void {
    const [first] = words;
    if (first === undefined) return;
    if (words.length === 1) {
      this.word(first, first);
      return;
    }
    const span = { start: first.start, end: (words.at(-1) as Word).end };
    if (words.some(({ substitutes }) => substitutes)) this.#downloaded(span);
    const text = words.map(({ value }) => value).join(' ');
    this.nested(text, fixedAt(this.check.place, span.start, span.end), span);
  }

  /** A word that is a text for a shell from a place in it on, because of the command. */
  word(word: Word, command: Span, from = 0): void {
    const { verbatim, start, end } = word;
    if (word.substitutes) this.#downloaded({ start: command.start, end: command.end, from: start });
    const { place } = this.check;
    const inside = verbatim < 0 ? fixedAt(place, start, end) : shiftedBy(place, verbatim + from);
    this.nested(word.value.slice(from), inside, word);
  }

  /** The lines of a table of cron: five fields or a name, then a command. */
  cron(text: string, { start, end }: Span): void {
    const place = fixedAt(this.check.place, start, end);
    const commands = text.replace(/^[ \t]*(?:@\w+|(?:[^\s#=]+[ \t]+){5})/gm, '');
    this.nested(commands, place, { start, end });
  }

  /** A text that runs for certain. */
  nested(text: string, place: Place, span: Span): void {
    if (this.check.depth >= MAX_TEXTS) {
      this.findings.unknown(span);
      return;
    }
    const written = text.replaceAll(UNKNOWN, UNKNOWN_AS_VARIABLE);
    const inside = written.length === text.length ? place : fixedAt(this.check.place, span.start, span.end);
    this.#inner(written, inside, this.check.certainty).read();
  }

  /** A text that may run: only what is denied or forbidden in it is told. */
  guess(text: string, { start, end }: Span, certainty: Certainty): void {
    // Nothing is guessed in what is guessed: its texts would be read again and again.
    if (this.check.depth >= MAX_TEXTS || this.check.certainty < 1) return;
    this.#inner(text.replaceAll(UNKNOWN, ''), fixedAt(this.check.place, start, end), certainty).read();
  }

  #inner(text: string, place: Place, certainty: Certainty): ShellText {
    const { check } = this;
    const found = certainty < check.certainty ? this.findings.guessed() : check.found;
    const least = Math.min(certainty, check.certainty);
    return new ShellText(text, { ...check, found, place, certainty: least, depth: check.depth + 1 });
  }

  #downloaded({ start, end, from = start }: { start: number; end: number; from?: number }): void {
    if (this.downloads.lastAt >= from) this.findings.forbidden('download_and_run', start, end);
  }
}

/** What is known only at run time is a variable in the text that the shell is given. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is a variable of a shell
const UNKNOWN_AS_VARIABLE = '${_}';
