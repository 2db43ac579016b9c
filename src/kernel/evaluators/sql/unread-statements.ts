import { compilePattern, type LinearPattern } from '../../../../packages/linear-text/src/index.js';
import type { Dialect } from '../../../../packages/sql-reader/src/index.js';

/**
 * Beginnings, or continuations, of statements that a dialect has and its parser here does not support. At
 * least two words, because one word begins many sentences; a blank stands for any white space. PostgreSQL is
 * read as a whole.
 */
const UNREAD: Readonly<Record<Dialect, readonly string[]>> = {
  postgres: [],
  mysql: [
    String.raw`(?:ALTER|ANALYZE|CHECK|CHECKSUM|IMPORT|LOCK|OPTIMIZE|REPAIR) (?:LOCAL |NO_WRITE_TO_BINLOG )?TABLES?\b`,
    String.raw`CACHE INDEX\b`,
    String.raw`CREATE (?:\S+ )*?(?:EVENT|FUNCTION|PROCEDURE|TRIGGER) \S`,
    String.raw`HANDLER \S+ (?:OPEN|READ|CLOSE)\b`,
    String.raw`LOAD (?:DATA|XML|INDEX)\b`,
    String.raw`PREPARE \S+ FROM\b`,
    String.raw`(?:SELECT|WITH)\b.* (?:INTO (?:OUTFILE|DUMPFILE)|LOCK IN SHARE MODE|PROCEDURE \w)\b`,
    String.raw`TABLE \S+\s*(?:;|$|\b(?:ORDER|LIMIT|INTO|UNION)\b)`,
  ],
  tsql: [
    String.raw`(?:ALTER|CREATE|DROP) (?:\S+ )*?(?:AUTHORIZATION|INDEX|POLICY|PROC|PROCEDURE|SCHEMA|STATISTICS|SYNONYM|TRIGGER) \S`,
    String.raw`(?:BACKUP|RESTORE) (?:DATABASE|LOG)\b`,
    String.raw`(?:BEGIN|WHILE)\b.*\b(?:END|SELECT|INSERT|UPDATE|DELETE|EXEC|DROP)\b`,
    String.raw`BULK INSERT\b`,
    String.raw`DBCC \w`,
    String.raw`DELETE [\w.\[\]"#@$]+\s*(?:;|$)`,
    String.raw`(?:DISABLE|ENABLE) TRIGGER\b`,
    String.raw`(?:READTEXT|UPDATETEXT|WRITETEXT) \S`,
    String.raw`(?:SELECT|WITH)\b.*\b(?:NEXT VALUE FOR|WAITFOR (?:DELAY|TIME)|OPEN(?:DATASOURCE|QUERY|ROWSET)\s*\()`,
    // A procedure of the system, also qualified or quoted: `master..xp_cmdshell`, `[sys].[sp_executesql]`.
    String.raw`(?:(?:[\w@#$]+|\[[^\]]*\]|"[^"]*")?\s*\.\s*){0,3}[\["]?(?:SP|XP)_\w`,
    String.raw`UPDATE STATISTICS\b`,
  ],
  oracle: [
    String.raw`ALTER (?:INDEX|TABLE|TRIGGER|VIEW)\b`,
    String.raw`ANALYZE (?:CLUSTER|INDEX|TABLE)\b`,
    String.raw`(?:AUDIT|NOAUDIT) \w+ ON\b`,
    String.raw`(?:BEGIN|DECLARE)\b.*\bEND\b`,
    String.raw`CREATE (?:\S+ )*?(?:CLUSTER|FUNCTION|LOG|PACKAGE|PROCEDURE|SYNONYM|TRIGGER|TYPE) \S`,
    String.raw`DROP (?:\S+ )*?SYNONYM \S`,
    String.raw`EXPLAIN PLAN\b`,
    String.raw`FLASHBACK TABLE\b`,
    String.raw`INSERT (?:ALL|FIRST)\b`,
    String.raw`PURGE (?:INDEX|RECYCLEBIN|TABLE)\b`,
    String.raw`RENAME \S+ TO\b`,
    String.raw`SELECT\b.* (?:AS OF|PARTITION\s*\()`,
  ],
  sqlite: [
    String.raw`CREATE (?:TEMP |TEMPORARY )?TRIGGER\b`,
    String.raw`CREATE VIRTUAL TABLE\b`,
    String.raw`DETACH DATABASE\b`,
    String.raw`(?:DELETE|SELECT|UPDATE)\b.* (?:INDEXED BY|NOT INDEXED)\b`,
    String.raw`PRAGMA [\w.]+\s*[(=]`,
    String.raw`REINDEX \S+\s*(?:;|$)`,
    String.raw`SELECT\b.* IN \w+\s*(?:;|$)`,
    String.raw`VACUUM (?:\S+ )?INTO\b`,
  ],
};

/** Longest inspected beginning, in UTF-16 code units. */
const LOOKED_AT = 5_000;

const compiled = new Map<Dialect, LinearPattern | null>();

/** Whether a text, from its first word on, looks like a statement unsupported by the dialect's parser. */
export function isUnreadStatement(text: string, dialect: Dialect): boolean {
  let pattern = compiled.get(dialect);
  if (pattern === undefined) {
    pattern = compile(UNREAD[dialect]);
    compiled.set(dialect, pattern);
  }
  return pattern?.test(text.slice(0, LOOKED_AT)) ?? false;
}

function compile(beginnings: readonly string[]): LinearPattern | null {
  if (beginnings.length === 0) return null;
  const either = beginnings.join('|').replaceAll(' ', String.raw`\s+`);
  return compilePattern(`(?s)^(?:${either})`, { ignoreCase: true });
}
