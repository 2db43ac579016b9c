import type { SimpleCommand, Word } from '../../../shell-reader/src/index.js';
import type { Certainty, Findings, Found, Place, Span } from './findings.js';
import type { Rules } from './rules.js';
import type { Downloads, FunctionCalls, WrittenFiles } from './text-state.js';

/** Score of what may run: the value of a variable, a default, a string in code. */
export const MAY_RUN: Certainty = 0.6;
/** Score of what is almost certainly run, later, or by another program. */
export const RUNS_LATER: Certainty = 0.9;

export type Spend = (steps: number) => void;

/** What a text is checked with. */
export interface TextCheck {
  readonly rules: Rules;
  readonly found: Found;
  readonly spend: Spend;
  readonly place: Place;
  /** How many texts are around it. */
  readonly depth: number;
  readonly certainty: Certainty;
}

/** The arguments of a command that writes them. */
export interface Written {
  readonly words: readonly Word[];
  readonly start: number;
}

/** A text of a shell that is being read, for what checks its parts. */
export interface TextScope {
  readonly text: string;
  readonly check: TextCheck;
  readonly rules: Rules;
  readonly findings: Findings;
  readonly downloads: Downloads;
  readonly functions: FunctionCalls;
  /** Commands whose here-document is run; whether it is a table of cron. */
  readonly readingDocuments: Map<SimpleCommand, 'commands' | 'cron'>;
  /** Texts that the current command writes, and those that the one before has written, with its begin. */
  writes: Written | undefined;
  readonly written: Written | undefined;
  /** What commands of the text have written to files, by their paths. */
  readonly files: WrittenFiles;
  texts(words: readonly Word[]): void;
  word(word: Word, command: Span, from?: number): void;
  cron(text: string, span: Span): void;
  /** Commands in a text that is evaluated as arithmetic, a name or a prompt. */
  evaluates(value: string, span: Span): void;
  /** A text that runs for certain, at the place of the span unless another one is given. */
  nested(text: string, span: Span, place?: Place): void;
  /** A text that may run: only what is denied or forbidden in it is told. */
  guess(text: string, span: Span, certainty: Certainty): void;
}
