/** What a statement of PostgreSQL uses: functions, types, operators, row locks, and parts that are not understood. */
import type { Use } from './model.js';
import { member, namesOf } from './postgres-nodes.js';
import { UsesBuilder } from './statement-builder.js';
import { isNode, listOf, type Node } from './tree-node.js';
import { wordSet } from './word-set.js';

/** Statements whose parts must be understood; the others are told by their operations. */
const READ_STATEMENTS = /^(?:Select|Insert|Update|Delete|Merge)Stmt$/;
/** Kinds of nodes that only compute, or whose names are looked at here. */
const UNDERSTOOD = wordSet(
  'SelectStmt InsertStmt UpdateStmt DeleteStmt MergeStmt MergeWhenClause ResTarget ColumnRef A_Star A_Const ParamRef ' +
    'A_Expr BoolExpr NullTest BooleanTest SubLink CaseExpr CaseWhen CoalesceExpr MinMaxExpr RowExpr A_ArrayExpr ' +
    'A_Indices A_Indirection TypeCast TypeName CollateClause FuncCall NamedArgExpr WindowDef SortBy RangeVar ' +
    'RangeSubselect RangeFunction RangeTableFunc RangeTableFuncCol RangeTableSample JoinExpr Alias WithClause ' +
    'CommonTableExpr CTESearchClause CTECycleClause GroupingSet GroupingFunc LockingClause IntoClause ColumnDef ' +
    'SQLValueFunction XmlExpr XmlSerialize SetToDefault MultiAssignRef InferClause IndexElem OnConflictClause ' +
    'ReturningClause ReturningOption String Integer Float Boolean BitString List JsonFuncExpr JsonValueExpr JsonFormat ' +
    'JsonReturning JsonOutput JsonTable JsonTableColumn JsonTablePathSpec JsonKeyValue JsonObjectConstructor ' +
    'JsonArrayConstructor JsonArrayQueryConstructor JsonObjectAgg JsonArrayAgg JsonAggConstructor JsonIsPredicate ' +
    'JsonParseExpr JsonScalarExpr JsonSerializeExpr JsonBehavior JsonArgument',
);
/** Tests of A_Expr whose name is no operator of the text. */
const KEYWORD_TESTS = /^AEXPR_(?:LIKE|ILIKE|SIMILAR|(?:NOT_)?BETWEEN(?:_SYM)?)$/;
const LOWER_CASE_A = 97;

/** The uses of one statement, wherever in it. */
export function postgresUses(tree: Node): readonly Use[] {
  const uses = new UsesBuilder();
  visit(tree, uses, false);
  return uses.build();
}

/** `whole` where each kind of node must be understood. */
function visit(value: unknown, uses: UsesBuilder, whole: boolean): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, uses, whole);
    return;
  }
  if (!isNode(value)) return;
  for (const key in value) {
    const child = value[key];
    if (!isNode(child)) continue;
    const isKind = key.charCodeAt(0) < LOWER_CASE_A;
    const inside = whole || (isKind && READ_STATEMENTS.test(key));
    if (isKind) {
      if (inside && !UNDERSTOOD.has(key)) uses.add('unread', key);
      readKind(key, child, uses);
    } else if (key === 'typeName' || key === 'argType') readType(child, uses);
    visit(child, uses, inside);
  }
}

function readKind(key: string, node: Node, uses: UsesBuilder): void {
  if (key === 'FuncCall') uses.add('function', namesOf(node.funcname));
  else if (key === 'ColumnRef') {
    // `t.f` is f(t) where t has no column f; of PostgreSQL's own functions only some of these have effects.
    const names = namesOf(node.fields);
    if (names.length > 1 && names.at(-1)?.startsWith('pg_') === true) uses.add('unread', names.join('.'));
  } else if (key === 'A_Expr') {
    if (!KEYWORD_TESTS.test(String(node.kind))) uses.add('operator', namesOf(node.name));
  } else if (key === 'SubLink' || key === 'SortBy') {
    const operator = node[key === 'SubLink' ? 'operName' : 'useOp'];
    if (Array.isArray(operator)) uses.add('operator', namesOf(operator));
  } else if (key === 'TypeName') readType(node, uses);
  else if (key === 'RangeTableSample') {
    const method = namesOf(node.method);
    if (!/^(?:system|bernoulli)$/.test(method.join('.'))) uses.add('function', method);
  } else if (key === 'LockingClause') uses.add('lock', 'FOR UPDATE or FOR SHARE');
  else if (key === 'A_Indirection') {
    // `('/etc/passwd'::text).pg_read_file` calls the function: only a catalog tells it from a member.
    for (const name of listOf(node.indirection)) {
      if (member(name, 'String') !== null) uses.add('unread', `(...).${namesOf([name])[0]}`);
    }
  }
}

function readType(node: Node, uses: UsesBuilder): void {
  const names = namesOf(node.names);
  if (names.length > 0) uses.add('type', names);
}
