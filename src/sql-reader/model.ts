/**
 * What the checks know about a query: the same small model for every dialect, so that a check is written once and
 * never sees a parser's tree.
 */

/** The dialects of the configuration. */
export const DIALECTS = ['postgres', 'mysql', 'tsql', 'oracle', 'sqlite'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Something a statement does. */
export interface Operation {
  /** The name that lists and metadata use. */
  readonly name: string;
  /** Further names by which a block list may forbid it; an allow list has to name `name`. */
  readonly also: readonly string[];
  /** False for what has no operation of its own in the contract (`TABLE t`, `PRAGMA`) and still must not slip through. */
  readonly recognised: boolean;
  /** Runs text that cannot be seen from here (DO, CALL, EXECUTE …): it may do anything. */
  readonly dynamic: boolean;
}

/** A table, or a function that stands for one, that really is read or written: names of CTEs are resolved already. */
export interface TableReference {
  readonly schema: string | null;
  /** Empty when a whole schema is meant (`DROP SCHEMA s`). */
  readonly table: string;
  readonly alias: string | null;
  /** Whether it stands in FROM (or as the target) of the statement itself, not of something nested. */
  readonly topLevel: boolean;
}

export type Clause = 'select' | 'where' | 'other';

export interface ColumnReference {
  readonly name: string;
  /** The clause of the innermost SELECT, UPDATE or DELETE around it. */
  readonly clause: Clause;
  /** Whether that is the statement itself, and a plain SELECT. */
  readonly topLevel: boolean;
}

/** The number of a LIMIT; `opaque` is one that only the database knows. */
export type RowLimit =
  | { readonly kind: 'none' }
  | { readonly kind: 'opaque' }
  | { readonly kind: 'literal'; readonly value: number };

export const NO_LIMIT: RowLimit = { kind: 'none' };
export const OPAQUE_LIMIT: RowLimit = { kind: 'opaque' };

/** One SELECT, at any depth. */
export interface SelectBlock {
  readonly nested: boolean;
  readonly limit: RowLimit;
  /** 0 when there is none or it is no literal. */
  readonly offset: number;
}

/** `column = literal`, one of the terms that the top-level WHERE joins by AND. */
export interface EqualityTest {
  readonly qualifier: string | null;
  readonly column: string;
  /** The literal as text. */
  readonly text: string;
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
  /** Whether it reads or changes tables that the text does not name. */
  readonly hidesTables: boolean;
  /** The terms of the top-level WHERE that are tests for equality; null when there is no such WHERE. */
  readonly filter: readonly EqualityTest[] | null;
}

export interface ParsedQuery {
  readonly statements: readonly Statement[];
  /** As limits count them: a comment behind the last semicolon is one more. */
  readonly statementCount: number;
}

/** The text is not SQL of the dialect, or it is more than is looked at. A violation, not a failure of the evaluator. */
export class NotParsed extends Error {
  override readonly name: string = 'NotParsed';
}

/**
 * What a database would do with the text cannot be told here: it is more than is looked at, or databases of the dialect
 * differ in how they read it. The text may well be a statement.
 */
export class NotCertain extends NotParsed {
  override readonly name = 'NotCertain';
}
