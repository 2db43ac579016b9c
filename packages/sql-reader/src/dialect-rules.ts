import type { Dialect } from './model.js';

/** Syntax of words, quotes and comments of a dialect. Sources: the lexical chapters of each manual. */
export interface DialectRules {
  /** `/*` inside a comment opens another one. */
  readonly nestedComments: boolean;
  /** `#` begins a comment. */
  readonly hashComments: boolean;
  /** `--` begins a comment only before white space or the end (MySQL: `5--1` is arithmetic). */
  readonly dashNeedsSpace: boolean;
  /** `/*!` and `/*M!` enclose text that the server executes. */
  readonly executableComments: boolean;
  /** A carriage return ends a `--` comment. Elsewhere this differs between versions, so it is rejected. */
  readonly returnEndsComment: boolean;
  /** A backslash escapes the next character of a string. */
  readonly backslashEscapes: boolean;
  /** `"` encloses a string instead of a name. */
  readonly doubleQuotedStrings: boolean;
  readonly backtickNames: boolean;
  /** `[` encloses a name: with `]]` for a bracket in it, or without an escape. */
  readonly bracketNames: 'no' | 'doubled' | 'plain';
  /** PostgreSQL: `E'…'` and `$tag$…$tag$`. */
  readonly postgresStrings: boolean;
  /** Oracle: `q'[…]'`. */
  readonly quoteOperator: boolean;
  /** Characters that words contain besides letters, digits, `_`, `$` and everything beyond ASCII. */
  readonly wordCharacters: string;
  /** The text goes to the parser of the database itself, so unusual text need not be rejected. */
  readonly exactParser: boolean;
}

const COMMON: DialectRules = {
  nestedComments: false,
  hashComments: false,
  dashNeedsSpace: false,
  executableComments: false,
  returnEndsComment: false,
  backslashEscapes: false,
  doubleQuotedStrings: false,
  backtickNames: false,
  bracketNames: 'no',
  postgresStrings: false,
  quoteOperator: false,
  wordCharacters: '',
  exactParser: false,
};

export const DIALECT_RULES: Readonly<Record<Dialect, DialectRules>> = {
  postgres: {
    ...COMMON,
    nestedComments: true,
    returnEndsComment: true,
    postgresStrings: true,
    exactParser: true,
  },
  mysql: {
    ...COMMON,
    hashComments: true,
    dashNeedsSpace: true,
    executableComments: true,
    backslashEscapes: true,
    doubleQuotedStrings: true,
    backtickNames: true,
  },
  tsql: { ...COMMON, nestedComments: true, bracketNames: 'doubled', wordCharacters: '@#' },
  oracle: { ...COMMON, quoteOperator: true, wordCharacters: '#' },
  sqlite: { ...COMMON, backtickNames: true, bracketNames: 'plain' },
};
