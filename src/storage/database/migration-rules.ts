/**
 * Which programs can work on a database after a migration. Processes of the previous release run beside those of the
 * new one during an upgrade, and alone again after a rollback, so a migration may only add to the structure.
 * A migration that has to do more states which programs it excludes, in a comment line of its SQL:
 *
 *     -- Incompatible before 20261205000000_event_steps: REASON
 *
 * Programs whose latest migration is older than the named one cannot use the changed structure.
 */
import { columnsAssigned, namesIn, splitSql, sqlStatements } from './sql-statements.js';

/** A migration that excludes older programs. */
export interface Exclusion {
  /** Name of the migration that a program must at least know. */
  readonly before: string;
  readonly reason: string;
}

const EXCLUSION = /^-- Incompatible before (\d{14}_\w+):[ \t]*(\S.*)$/m;
const NOTE = /^incompatible before (\d{14}_\w+)$/;
const ADDITIVE = 'additive';

/** The exclusion that the SQL of a migration states; null if none. */
export function exclusionOf(sql: string): Exclusion | null {
  const [, before, reason] = EXCLUSION.exec(sql) ?? [];
  return before === undefined || reason === undefined ? null : { before, reason };
}

/**
 * What is stored with an applied migration, for programs that do not know it; null if nothing is known about its
 * compatibility.
 */
export function compatibilityNote(sql: string): string | null {
  const exclusion = exclusionOf(sql);
  if (exclusion !== null) return `incompatible before ${exclusion.before}`;
  return nonAdditive(sql).length === 0 ? ADDITIVE : null;
}

/** Whether a program with these latest migration can work after an applied migration that it does not know. */
export function isCompatible(note: string | null, latest: string): boolean {
  if (note === ADDITIVE) return true;
  const before = NOTE.exec(note ?? '')?.[1];
  return before !== undefined && latest >= before;
}

/**
 * The statements that can break programs which do not know the migration, each with the reason. Everything is refused
 * that is not known to be harmless.
 */
export function nonAdditive(sql: string): string[] {
  const made = { tables: new Set<string>(), columns: new Set<string>() };
  return sqlStatements(sql).flatMap((statement) => {
    const problem = problemOf(statement, made);
    return problem === null ? [] : [`${statement.replace(/\s+/g, ' ').slice(0, 80)}: ${problem}`];
  });
}

/** What the earlier statements of a migration have created: no older program uses it. */
interface Made {
  readonly tables: Set<string>;
  /** As `table.column`. */
  readonly columns: Set<string>;
}

const CREATE_TABLE = /^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)"?\s*\(/i;
const CREATE_VIEW = /^CREATE VIEW /i;
const CREATE_INDEX = /^CREATE (UNIQUE )?INDEX (?:IF NOT EXISTS )?"?\w+"? ON "?(\w+)"?/i;
const CREATE_FUNCTION = /^CREATE FUNCTION /i;
const CREATE_TRIGGER = /^CREATE TRIGGER "?\w+"? [^;]*?\bON "?(\w+)"?/i;
const ALTER_TABLE = /^ALTER TABLE (?:ONLY )?"?(\w+)"?\s+(.*)$/is;
const CHANGE_ROWS = /^(?:INSERT INTO|DELETE FROM|UPDATE) "?(\w+)"?/i;

function problemOf(statement: string, made: Made): string | null {
  const table = CREATE_TABLE.exec(statement)?.[1];
  if (table !== undefined) {
    made.tables.add(table);
    return null;
  }
  if (CREATE_VIEW.test(statement) || CREATE_FUNCTION.test(statement)) return null;
  const watched = CREATE_TRIGGER.exec(statement)?.[1];
  if (watched !== undefined) {
    return made.tables.has(watched) ? null : 'it changes what statements of an older program do';
  }
  const [, unique, indexed] = CREATE_INDEX.exec(statement) ?? [];
  if (indexed !== undefined) {
    const isHarmless = unique === undefined || made.tables.has(indexed);
    return isHarmless ? null : 'an older program may write rows that a unique index refuses';
  }
  const [, altered, actions] = ALTER_TABLE.exec(statement) ?? [];
  if (altered !== undefined && actions !== undefined) {
    if (made.tables.has(altered)) return null;
    const problems = splitSql(actions, ',').map((action) => problemOfAction(altered, action, made));
    return problems.find((problem) => problem !== null) ?? null;
  }
  const changed = CHANGE_ROWS.exec(statement)?.[1];
  if (changed !== undefined) return problemOfRows(changed, statement, made);
  return 'it is not one of the statements that are known to be additive';
}

const ADD_COLUMN =
  /^ADD (?:COLUMN )?(?!CONSTRAINT\b|CHECK\b|UNIQUE\b|PRIMARY\b|FOREIGN\b)"?(\w+)"?\s+(.*)$/is;

function problemOfAction(table: string, action: string, made: Made): string | null {
  const [, column, definition] = ADD_COLUMN.exec(action) ?? [];
  if (column === undefined || definition === undefined) return 'it changes what an older program uses';
  made.columns.add(`${table}.${column}`);
  const words = namesIn(definition);
  if (words.includes('NOT NULL') && !words.includes('DEFAULT')) {
    return 'an older program writes no value of this column, and it has no default';
  }
  const rule = ['UNIQUE', 'PRIMARY', 'CHECK'].find((word) => words.includes(word));
  return rule === undefined ? null : `an older program may write rows that ${rule} refuses`;
}

function problemOfRows(table: string, statement: string, made: Made): string | null {
  if (made.tables.has(table)) return null;
  const columns = columnsAssigned(statement);
  const isNew = columns.length > 0 && columns.every((column) => made.columns.has(`${table}.${column}`));
  return isNew ? null : 'it changes rows that an older program uses';
}
