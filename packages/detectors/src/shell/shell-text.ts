import {
  type Redirect,
  readExpansions,
  readShell,
  type ShellVisitor,
  type SimpleCommand,
  UNKNOWN,
  type Word,
} from '../../../shell-reader/src/index.js';
import { checkAssignment, isReservedVariable } from './assignments.js';
import { assumedText, isAssumable, joinedText } from './assumed-text.js';
import { CallCheck } from './call-check.js';
import { type Certainty, Findings, fixedAt, type Place, type Span, shiftedBy } from './findings.js';
import { isStartupFile } from './programs.js';
import type { Rules } from './rules.js';
import { MAY_RUN, RUNS_LATER, type TextCheck, type TextScope, type Written } from './text-scope.js';
import { Downloads, FunctionCalls, WrittenFiles } from './text-state.js';
import { checkRedirect } from './written-targets.js';

/** Most texts of shells in one another. */
const MAX_TEXTS = 8;
/** Search steps of some 13 ns for each character that is read. */
const STEPS_PER_CHARACTER = 3;
/** What is known only at run time is a variable in the text that the shell is given. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is a variable of a shell
const UNKNOWN_AS_VARIABLE = '${_}';

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
    this.findings.add('unreadable', { start: Math.max(0, end - 1), end }, this.rules.unreadableScore);
  }

  command(command: SimpleCommand): void {
    const { words, assignments, redirects } = command;
    this.findings.next();
    for (const assignment of assignments) checkAssignment(assignment, this);
    this.written = this.writes;
    this.writes = undefined;
    for (const redirect of redirects) this.redirect(redirect);
    this.#calls.call(command, words, 0, false);
    if (words.some(isAssumable)) this.guess(assumedText(words), command, MAY_RUN);
    const writes = (this.writes as Written | undefined)?.words;
    if (writes !== undefined) this.#writesFile(command, joinedText(writes), () => this.texts(writes));
  }

  /** Remembers what a command writes to a file, unless it is one that shells read when they begin: then it `runs`. */
  #writesFile({ redirects }: SimpleCommand, text: string, runs: () => void): void {
    const output = redirects.find(({ operator }) => operator.startsWith('>'))?.target.value;
    if (output === undefined) return;
    if (isStartupFile(output)) runs();
    else this.files.add(output, text);
  }

  redirect(redirect: Redirect): void {
    checkRedirect(redirect, this.findings);
  }

  substitution(start: number, end: number): void {
    this.findings.forbidden('substitution', { start, end });
  }

  decoded(command: string, start: number, end: number): void {
    this.nested(command, { start, end });
  }

  background(start: number, end: number): void {
    this.functions.background();
    this.findings.forbidden('background', { start, end });
  }

  hereDocument(command: SimpleCommand | undefined, start: number, end: number): void {
    if (command === undefined) return;
    const kind = this.readingDocuments.get(command);
    this.readingDocuments.delete(command);
    const text = this.text.slice(start, end);
    const span = { start, end };
    if (kind === 'cron') this.cron(text, span);
    else if (kind === 'commands') this.nested(text, span, shiftedBy(this.check.place, start));
    else this.#writesFile(command, text, () => this.guess(text, span, RUNS_LATER));
  }

  /** Outside the subset; commands that are written in it are read. */
  evaluated(value: string, start: number, end: number): void {
    this.findings.outside({ start, end });
    this.evaluates(value, { start, end });
  }

  evaluates(value: string, span: Span): void {
    const plain = value.replace(/[\\'"]/g, '');
    if (/\$\(|`/.test(plain) && this.check.depth < MAX_TEXTS)
      this.#inner(plain, span, MAY_RUN).read('expansions');
  }

  assigned(name: string, start: number, end: number): void {
    if (isReservedVariable(name)) this.findings.outside({ start, end });
  }

  enterFunction(name: string): void {
    this.functions.enter(name);
  }

  leaveFunction(start: number, end: number): void {
    const { name, forks } = this.functions.leave();
    if (forks) this.findings.forbidden('fork_bomb', { start, end });
    // It takes the place of a program that is allowed, or is called by the shell itself.
    if (this.rules.isAllowed(name) || /handle$|^(?:precmd|preexec|chpwd|prompt)/.test(name)) {
      this.findings.outside({ start, end });
    }
  }

  /** Words that are together a text for a shell. */
  texts(words: readonly Word[]): void {
    const [first, ...others] = words;
    const last = others.at(-1);
    if (first === undefined || last === undefined) {
      if (first !== undefined) this.word(first, first);
      return;
    }
    const span = { start: first.start, end: last.end };
    if (words.some(({ substitutes }) => substitutes)) this.#downloaded(span, first.start);
    this.nested(joinedText(words), span);
  }

  /** A word that is a text for a shell from a place in it on, because of the command. */
  word(word: Word, command: Span, from = 0): void {
    const { verbatim, value, substitutes } = word;
    if (substitutes) this.#downloaded(command, word.start);
    const inside = verbatim < 0 ? undefined : shiftedBy(this.check.place, verbatim + from);
    this.nested(value.slice(from), word, inside);
  }

  /** The lines of a table of cron: five fields or a name, then a command. */
  cron(text: string, span: Span): void {
    this.nested(text.replace(/^[ \t]*(?:@\w+|(?:[^\s#=]+[ \t]+){5})/gm, ''), span);
  }

  nested(text: string, span: Span, place?: Place): void {
    const written = text.replaceAll(UNKNOWN, UNKNOWN_AS_VARIABLE);
    const inside = written.length === text.length ? place : undefined;
    if (this.check.depth >= MAX_TEXTS) this.findings.unknown(span);
    else this.#inner(written, span, this.check.certainty, inside).read();
  }

  guess(text: string, span: Span, certainty: Certainty): void {
    // Nothing is guessed in what is guessed: its texts would be read again and again.
    if (this.check.depth >= MAX_TEXTS || this.check.certainty < 1) return;
    this.#inner(text.replaceAll(UNKNOWN, ''), span, certainty).read();
  }

  #inner(text: string, span: Span, certainty: Certainty, place = fixedAt(this.check.place, span)): ShellText {
    const { check } = this;
    const found = certainty < check.certainty ? this.findings.guessed() : check.found;
    const least = Math.min(certainty, check.certainty);
    return new ShellText(text, { ...check, found, place, certainty: least, depth: check.depth + 1 });
  }

  /** Tells that the text of the span was fetched, by a program that stands behind `from`. */
  #downloaded(span: Span, from: number): void {
    if (this.downloads.lastAt >= from) this.findings.forbidden('download_and_run', span);
  }
}
