/**
 * The query model of the checks: the same small model for every dialect, so that a check is written once and
 * is independent of parser trees.
 */

/** The dialects of the configuration. */
export const DIALECTS = ['postgres', 'mysql', 'tsql', 'oracle', 'sqlite'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** An operation of a statement. */
export interface Operation {
  /** The name used in lists and metadata. */
  readonly name: string;
  /** Further names by which a block list may forbid it; an allow list must contain `name`. */
  readonly also: readonly string[];
  /** False if the contract has no operation for it (`TABLE t`, `PRAGMA`) but it must not pass unchecked. */
  readonly recognised: boolean;
  /** Executes text that is not visible here (DO, CALL, EXECUTE …): it may do anything. */
  readonly dynamic: boolean;
}

/** A table, or a table function, that is really read or written: names of CTEs are already resolved. */
export interface TableReference {
  readonly schema: string | null;
  /** Empty for a whole schema (`DROP SCHEMA s`). */
  readonly table: string;
  readonly alias: string | null;
  /** Whether it is in FROM (or the target) of the statement itself, not of a nested one. */
  readonly topLevel: boolean;
}

export type Clause = 'select' | 'where' | 'other';

export interface ColumnReference {
  readonly name: string;
  /** The clause of the innermost enclosing SELECT, UPDATE or DELETE. */
  readonly clause: Clause;
  /** Whether that is the statement itself, and a plain SELECT. */
  readonly topLevel: boolean;
}

/** The number of a LIMIT; `opaque` for one known only to the database. */
export type RowLimit =
  | { readonly kind: 'none' }
  | { readonly kind: 'opaque' }
  | { readonly kind: 'literal'; readonly value: number };

export const NO_LIMIT: RowLimit = { kind: 'none' };
export const OPAQUE_LIMIT: RowLimit = { kind: 'opaque' };

/** The limit of a number; null for one that is not literal. */
export function rowLimit(value: number | null): RowLimit {
  return value === null ? OPAQUE_LIMIT : { kind: 'literal', value };
}

/** One SELECT, at any depth. */
export interface SelectBlock {
  readonly nested: boolean;
  readonly limit: RowLimit;
  /** 0 when there is none or it is not a literal. */
  readonly offset: number;
}

/** `column = literal`, one of the terms joined by AND in the top-level WHERE. */
export interface EqualityTest {
  readonly qualifier: string | null;
  readonly column: string;
  /** The literal as text. */
  readonly text: string;
}

/**
 * What a statement uses beyond tables and columns. `unread` is a part outside the subset that is understood, named by
 * its kind in the parser's tree.
 */
export interface Use {
  readonly kind: 'function' | 'type' | 'operator' | 'lock' | 'assignment' | 'unread';
  /** As the dialect compares it: folded where it folds names. */
  readonly name: string;
  /** What stands before the name, joined by dots. */
  readonly schema: string | null;
}

export interface Statement {
  readonly operations: readonly Operation[];
  readonly tables: readonly TableReference[];
  readonly columns: readonly ColumnReference[];
  readonly selects: readonly SelectBlock[];
  /** Nested SELECTs on the longest path; a plain SELECT has 0. */
  readonly depth: number;
  readonly joins: number;
  readonly setOperations: number;
  /** Whether it reads or changes tables not named in the text. */
  readonly hidesTables: boolean;
  /** The equality tests among the terms of the top-level WHERE; null when there is no such WHERE. */
  readonly filter: readonly EqualityTest[] | null;
  /** Functions, types and operators that it names, row locks, assignments and unread parts, each once. */
  readonly uses: readonly Use[];
}

export interface ParsedQuery {
  readonly statements: readonly Statement[];
  /** As counted by limits: a comment after the last semicolon is one more. */
  readonly statementCount: number;
}

/** The text is not SQL of the dialect, or exceeds the limits. A violation, not a failure of the evaluator. */
export class NotParsed extends Error {
  override readonly name: string = 'NotParsed';
}

/**
 * The effect of the text in a database is undecidable here: it exceeds the limits, or databases of the
 * dialect read it differently. The text may well be a statement.
 */
export class NotCertain extends NotParsed {
  override readonly name = 'NotCertain';
}
