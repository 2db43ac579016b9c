import type { Dialect, Operation } from './model.js';

type NewOperation = Pick<Operation, 'name'> & Partial<Operation>;
type Node = Readonly<Record<string, unknown>>;

const command = (...also: string[]): NewOperation => ({ name: 'COMMAND', also });
const dynamic = (...also: string[]): NewOperation => ({ name: 'COMMAND', also, dynamic: true });
/** For statements without an operation in the contract that must not pass a list that would forbid them. */
const silent = (name: string): NewOperation => ({ name, recognised: false });

const BY_STATEMENT: Readonly<Record<string, readonly NewOperation[]>> = {
  Insert: [{ name: 'INSERT' }],
  Update: [{ name: 'UPDATE' }],
  Delete: [{ name: 'DELETE' }],
  Merge: [{ name: 'MERGE' }],
  Truncate: [{ name: 'TRUNCATE' }],
  Comment: [{ name: 'COMMENT' }],
  Grant: [{ name: 'GRANT' }],
  Revoke: [{ name: 'REVOKE' }],
  Deny: [{ name: 'REVOKE', also: ['DENY', 'GRANT'] }],
  Commit: [{ name: 'COMMIT' }],
  Rollback: [{ name: 'ROLLBACK' }],
  Use: [{ name: 'USE' }],
  ExplainTable: [{ name: 'DESCRIBE' }],
  Copy: [{ name: 'COPY', also: ['INSERT', 'SELECT'] }],
  CopyIntoSnowflake: [{ name: 'COPY', also: ['INSERT', 'SELECT'] }],
  Analyze: [{ name: 'ANALYZE' }],
  RenameTable: [{ name: 'ALTER', also: ['RENAME'] }],
  CreateFunction: [{ name: 'CREATE', dynamic: true }],
  CreateProcedure: [{ name: 'CREATE', dynamic: true }],
  Call: [dynamic('CALL')],
  Execute: [dynamic('EXECUTE', 'EXEC')],
  Install: [dynamic('INSTALL')],
  Load: [dynamic('LOAD')],
  AttachDatabase: [command('ATTACH', 'CREATE')],
  Lock: [command('LOCK')],
  LockTables: [command('LOCK')],
  UnlockTables: [command('LOCK')],
  LoadData: [command('LOAD', 'INSERT')],
  Directory: [command('INSERT')],
  Pragma: [silent('SET')],
  Query: [],
  StartTransaction: [],
  Savepoint: [],
  ReleaseSavepoint: [],
  If: [],
  While: [],
  Case: [],
};

/** The operations of a statement, by the parser's name of its kind. */
export function statementOperations(key: string, node: Node, dialect: Dialect): readonly NewOperation[] {
  const known = BY_STATEMENT[key];
  if (known !== undefined) return known;
  if (key.startsWith('Create')) return [{ name: 'CREATE' }];
  if (key.startsWith('Drop')) return [{ name: 'DROP' }];
  if (key.startsWith('Alter')) return [{ name: 'ALTER' }];
  if (key.startsWith('Set')) return [{ name: 'SET' }];
  if (key.startsWith('Show')) return [dialect === 'mysql' ? { name: 'SHOW' } : command('SHOW')];
  if (key === 'Explain') {
    // MySQL treats EXPLAIN, DESCRIBE and DESC as synonyms.
    return [dialect === 'mysql' ? { name: 'DESCRIBE', also: ['EXPLAIN'] } : command('EXPLAIN')];
  }
  // `Kill` → KILL, `WaitFor` → WAITFOR.
  return [typeof node.name === 'string' ? command(key.toUpperCase(), node.name) : command(key.toUpperCase())];
}

/** Functions that execute SQL, or read data without a table name, by dialect. Lower case, no package. */
const RUNS_TEXT: Readonly<Record<Dialect, RegExp>> = {
  postgres: /^$/,
  mysql: /^(?:sys_exec|sys_eval|load_file)$/,
  tsql: /^(?:openrowset|openquery|opendatasource|openxml)$/,
  oracle:
    /^(?:getxml|getxmltype|newcontext|execute_immediate|parse|xmltype|dburitype|httpuritype|extractvalue)$/,
  sqlite: /^(?:load_extension|writefile|readfile|edit|eval|fts3_tokenizer)$/,
};

/** The operation added by a function call; null for none. */
export function functionOperation(name: string, dialect: Dialect): NewOperation | null {
  return RUNS_TEXT[dialect].test(name.toLowerCase()) ? dynamic(name.toUpperCase()) : null;
}
