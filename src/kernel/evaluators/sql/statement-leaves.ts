import { isObject, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import { DIALECT_RULES, DIALECTS, type Dialect } from '../../../../packages/sql-reader/src/index.js';
import type { DataTexts } from '../../core/data-texts.js';
import { isImpliedCall } from './implied-call.js';
import { type ProseStatement, proseStatements } from './prose-statements.js';
import { wrappedTexts } from './wrapped-texts.js';

/** A string value that begins like a statement, or that may contain one. */
export interface StatementLeaf {
  /** Path in the data: names and indexes joined by dots. */
  readonly path: string;
  readonly text: string;
  readonly begins: boolean;
  /** Where a statement may stand in it, between other words. */
  readonly places: readonly ProseStatement[];
}

/** Most parsed texts besides the query. Data with more of them match. */
export const MAX_STATEMENT_LEAVES = 256;
/** Longest reported path, in UTF-16 code units. */
const MAX_PATH_LENGTH = 100;

/** Words that begin a statement in several dialects. */
const COMMON_WORDS =
  'SELECT INSERT UPDATE DELETE MERGE CREATE DROP ALTER TRUNCATE COMMENT GRANT REVOKE COMMIT ROLLBACK SET SHOW USE ' +
  'DESCRIBE DESC COPY LOCK ANALYZE WITH VALUES TABLE EXPLAIN CALL EXECUTE EXEC DO VACUUM DECLARE REPLACE PREPARE ' +
  'DEALLOCATE BEGIN START SAVEPOINT RELEASE RENAME FETCH LOAD';

/** Words that begin one in a single dialect; from the manuals' chapters on statements. */
const DIALECT_WORDS: Readonly<Record<Dialect, string>> = {
  postgres:
    'ABORT ANALYSE CHECKPOINT CLOSE CLUSTER DISCARD END IMPORT LISTEN MOVE NOTIFY REASSIGN REFRESH REINDEX RESET SECURITY UNLISTEN',
  mysql:
    'BINLOG CACHE CHANGE CHECK CHECKSUM CLONE FLUSH HANDLER HELP IMPORT INSTALL KILL OPTIMIZE PURGE REPAIR RESET ' +
    'RESTART SHUTDOWN SIGNAL STOP UNINSTALL UNLOCK XA',
  tsql:
    'ADD BACKUP BULK CHECKPOINT CLOSE DBCC DENY DISABLE ENABLE END GO GOTO IF KILL OPEN PRINT RAISERROR READTEXT ' +
    'DUMP RECEIVE RECONFIGURE RESTORE RETURN REVERT SAVE SEND SETUSER SHUTDOWN THROW UPDATETEXT WAITFOR WHILE WRITETEXT',
  oracle: 'ADMINISTER ASSOCIATE AUDIT DISASSOCIATE FLASHBACK NOAUDIT PURGE',
  sqlite: 'ATTACH DETACH END PRAGMA REINDEX',
};

const FIRST_WORDS = new Map(
  DIALECTS.map((dialect) => [dialect, new Set(`${COMMON_WORDS} ${DIALECT_WORDS[dialect]}`.split(' '))]),
);

/**
 * Text that may precede a statement: blanks of all kinds, empty statements, brackets, and the escape syntax of drivers,
 * `{call p}` and `{? = call p}`, which ODBC and JDBC execute in every dialect.
 */
const LEAD = /[\s\p{Control}\p{Format};({?=]*/uy;
/** Labels of T-SQL (`retry:`) and of blocks of Oracle (`<<outer>>`). */
const LABELS: Partial<Readonly<Record<Dialect, RegExp>>> = {
  tsql: /(?:[\p{L}_#@][\p{L}\p{N}_#@$]*|\[[^\]]*\]|"[^"]*")\s*:(?!:)/uy,
  oracle: /<<\s*(?:"[^"]*"|[^\s>"]+)\s*>>/y,
};
const WORD = /[A-Za-z][A-Za-z_]*/y;
/** The text up to what any database treats as the end of a line. */
const LINE = /[^\r\n\v\f\u0085\u2028\u2029]*/y;
/** A comment whose content MySQL and MariaDB execute. */
const EXECUTABLE = /\/\*M?!/y;
/** Beginnings of compound statements that MariaDB executes outside of procedures, a label included. */
const COMPOUND =
  /(?:[\w$]+\s*:\s*)?(?:IF\b.*\bTHEN\b|CASE\b.*\bWHEN\b|WHILE\b.*\bDO\b|FOR\b.*\bDO\b|(?:BEGIN|LOOP|REPEAT)\b.*\bEND\b)/isy;
/** Longest inspected beginning of a compound statement, in UTF-16 code units. */
const COMPOUND_LOOKED_AT = 5_000;

/**
 * Whether a text begins, after blanks, comments and labels, with the first word of a statement, or calls a procedure by
 * its name alone. Whether it is a statement is decided by the parser. If false, the text is no statement of the dialect.
 */
export function beginsStatement(text: string, dialect: Dialect): boolean {
  const at = statementStart(text, dialect);
  if (at < 0) return true;
  const isFirst = (word: string): boolean => FIRST_WORDS.get(dialect)?.has(word) === true;
  if (isFirst(text.slice(at, endOf(WORD, text, at) ?? at).toUpperCase())) return true;
  if (dialect === 'tsql') return isImpliedCall(text.slice(at), isFirst);
  return dialect === 'mysql' && endOf(COMPOUND, text.slice(at, at + COMPOUND_LOOKED_AT), 0) !== null;
}

/** The index after what a sticky expression matches at a place; null when it does not match there. */
function endOf(sticky: RegExp, text: string, at: number): number | null {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : null;
}

/** The index of the first word of a text, after blanks, comments and labels; -1 when a comment is executed. */
export function statementStart(text: string, dialect: Dialect): number {
  let at = 0;
  for (;;) {
    at = endOf(LEAD, text, at) ?? at;
    const label = LABELS[dialect];
    const end = commentEnd(text, at, dialect) ?? (label === undefined ? null : endOf(label, text, at));
    if (end === null || end < 0) return end ?? at;
    at = end;
  }
}

/** The index after a comment at `at`; null when there is none, -1 when its content is executed. */
function commentEnd(text: string, at: number, dialect: Dialect): number | null {
  const rules = DIALECT_RULES[dialect];
  if (text.startsWith('/*', at)) {
    if (rules.executableComments && endOf(EXECUTABLE, text, at) !== null) return -1;
    return blockEnd(text, at, rules.nestedComments);
  }
  if (!text.startsWith('--', at) && !(rules.hashComments && text[at] === '#')) return null;
  return endOf(LINE, text, at);
}

function blockEnd(text: string, start: number, nested: boolean): number {
  let depth = 0;
  for (let at = start; at < text.length - 1; at += 1) {
    if (text[at] === '*' && text[at + 1] === '/') {
      depth -= 1;
      at += 1;
      if (depth <= 0) return at + 1;
    } else if (text[at] === '/' && text[at + 1] === '*') {
      if (nested || depth === 0) depth += 1;
      at += 1;
    }
  }
  return text.length;
}

/** Leaves of checked data, by dialect: the sql controls of an agent check the same data in turn. */
const known = new WeakMap<DataTexts, Map<Dialect, readonly StatementLeaf[]>>();

/**
 * The string values of an object, at any depth, that begin like a statement or may contain one, except its own member
 * `query`; and those that are wrapped in its string values, as JSON, in quotes or in a fenced block.
 * At most MAX_STATEMENT_LEAVES plus one. `texts` are those of the object.
 */
export function statementLeaves(
  data: JsonObject,
  texts: DataTexts,
  dialect: Dialect,
): readonly StatementLeaf[] {
  const byDialect = known.get(texts) ?? new Map<Dialect, readonly StatementLeaf[]>();
  known.set(texts, byDialect);
  const leaves = byDialect.get(dialect) ?? findLeaves(data, dialect);
  byDialect.set(dialect, leaves);
  return leaves;
}

function findLeaves(data: JsonObject, dialect: Dialect): readonly StatementLeaf[] {
  const leaves: StatementLeaf[] = [];
  const seen = new Set<string>();
  const path: (string | number)[] = [];
  const look = (text: string): void => {
    if (leaves.length > MAX_STATEMENT_LEAVES || seen.has(text)) return;
    seen.add(text);
    const begins = beginsStatement(text, dialect);
    const places = proseStatements(text, dialect);
    if (!begins && places.length === 0) return;
    leaves.push({ path: path.join('.').slice(0, MAX_PATH_LENGTH), text, begins, places });
  };
  const visit = (value: JsonValue): void => {
    if (typeof value === 'string') {
      look(value);
      for (const inner of wrappedTexts(value)) look(inner);
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visitBelow(index, item);
    } else if (isObject(value)) {
      for (const name of Object.keys(value)) visitBelow(name, value[name] as JsonValue);
    }
  };
  const visitBelow = (key: string | number, value: JsonValue): void => {
    path.push(key);
    visit(value);
    path.pop();
  };
  for (const name of Object.keys(data)) {
    // A `query` that is not a string is checked by its text, and its content like any other member.
    if (name !== 'query' || typeof data[name] !== 'string') visitBelow(name, data[name] as JsonValue);
  }
  return leaves;
}
