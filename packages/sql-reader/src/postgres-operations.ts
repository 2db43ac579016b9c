import type { Operation } from './model.js';

export type NewOperation = Pick<Operation, 'name'> & Partial<Operation>;
type Node = Readonly<Record<string, unknown>>;

const command = (...also: string[]): NewOperation => ({ name: 'COMMAND', also });
const dynamic = (...also: string[]): NewOperation => ({ name: 'COMMAND', also, dynamic: true });
const NONE: readonly NewOperation[] = [];

/** Statements whose operation follows from their node name. Any other that ends in `Stmt` is a COMMAND. */
const BY_NODE: Readonly<Record<string, readonly NewOperation[]>> = {
  InsertStmt: [{ name: 'INSERT' }],
  UpdateStmt: [{ name: 'UPDATE' }],
  DeleteStmt: [{ name: 'DELETE' }],
  MergeStmt: [{ name: 'MERGE' }],
  TruncateStmt: [{ name: 'TRUNCATE' }],
  CommentStmt: [{ name: 'COMMENT' }],
  VariableSetStmt: [{ name: 'SET' }],
  ConstraintsSetStmt: [{ name: 'SET' }],
  VariableShowStmt: [command('SHOW')],
  ExplainStmt: [command('EXPLAIN')],
  LockStmt: [command('LOCK')],
  CallStmt: [dynamic('CALL')],
  ExecuteStmt: [dynamic('EXECUTE')],
  DoStmt: [dynamic('DO')],
  LoadStmt: [dynamic('LOAD')],
  PrepareStmt: [command('PREPARE')],
  DeallocateStmt: [command('DEALLOCATE')],
  DeclareCursorStmt: [command('DECLARE')],
  RefreshMatViewStmt: [command('REFRESH')],
  ReassignOwnedStmt: [command('ALTER')],
  ImportForeignSchemaStmt: [command('CREATE')],
  RenameStmt: [{ name: 'ALTER', also: ['RENAME'] }],
  ViewStmt: [{ name: 'CREATE' }],
  IndexStmt: [{ name: 'CREATE' }],
  DefineStmt: [{ name: 'CREATE' }],
  CompositeTypeStmt: [{ name: 'CREATE' }],
  RuleStmt: [{ name: 'CREATE' }],
  CreateFunctionStmt: [{ name: 'CREATE', dynamic: true }],
  ReturnStmt: NONE,
  PLAssignStmt: NONE,
};

/** The operations of a statement node; null when it is not a statement, or a SELECT. */
export function operationsOf(key: string, node: Node): readonly NewOperation[] | null {
  const known = BY_NODE[key];
  if (known !== undefined) return known;
  if (!key.endsWith('Stmt') || key === 'SelectStmt') return null;
  switch (key) {
    case 'TransactionStmt':
      return transaction(String(node.kind));
    case 'GrantStmt':
    case 'GrantRoleStmt':
      return [{ name: node.is_grant === true ? 'GRANT' : 'REVOKE' }];
    case 'VacuumStmt':
      return node.is_vacuumcmd === true ? [command('VACUUM')] : [{ name: 'ANALYZE' }];
    case 'CopyStmt':
      return copy(node);
    default:
      if (key.startsWith('Create')) return [{ name: 'CREATE' }];
      if (key.startsWith('Drop')) return [{ name: 'DROP' }];
      if (key.startsWith('Alter')) return [{ name: 'ALTER' }];
      return [command(key.slice(0, -'Stmt'.length).toUpperCase())];
  }
}

function transaction(kind: string): readonly NewOperation[] {
  if (kind === 'TRANS_STMT_COMMIT' || kind === 'TRANS_STMT_COMMIT_PREPARED') return [{ name: 'COMMIT' }];
  if (kind.startsWith('TRANS_STMT_ROLLBACK')) return [{ name: 'ROLLBACK' }];
  return kind === 'TRANS_STMT_PREPARE' ? [command()] : NONE;
}

/** The operation of COPY is its direction; a program may do anything. */
function copy(node: Node): readonly NewOperation[] {
  const also = node.is_from === true ? ['INSERT'] : ['SELECT'];
  return [{ name: 'COPY', also, dynamic: node.is_program === true }];
}

/**
 * Functions that execute SQL passed as a value, or that change a setting. Sources: PostgreSQL manual,
 * chapters 9.15 (XML), 12.4 (ts_stat, ts_rewrite), 9.28 (set_config), and F.12 dblink, F.44 tablefunc, F.49
 * xml2.
 */
const RUNS_TEXT =
  /^(?:dblink.*|query_to_xml.*|crosstab.*|connectby|ts_stat|ts_rewrite|xpath_table|postgres_fdw_.*|lo_import|lo_export|pg_read_.*|pg_file_.*)$/;

/** The operation added by calling a function, by its name in the tree. */
export function operationOfFunction(name: string): NewOperation | null {
  if (name === 'set_config') return { name: 'SET' };
  return RUNS_TEXT.test(name) ? dynamic(name.toUpperCase()) : null;
}
