/** Relations named by statements of the general parser outside the parts visited by the tree walk. */
import { identifiers, isObjectName, literalValue, variant } from './general-nodes.js';
import type { Dialect } from './model.js';
import { HIDDEN, type NamedRelations, type Relation } from './statement-builder.js';
import { isNode, listOf, type Node } from './tree-node.js';

/** Resolves the marks in the text. */
export type ReadText = (written: string) => string;

const NONE: readonly Relation[] = [];

/** Relations named by the members of a statement. `key` is its kind. */
export function generalStatementRelations(
  key: string,
  node: Node,
  dialect: Dialect,
  read: ReadText,
): NamedRelations {
  const named = (value: unknown, above = 0): readonly Relation[] => relationOf(value, above, read);
  switch (key) {
    case 'ShowCreate':
      return node.obj_type === 'Table' || node.obj_type === 'View' ? named(node.obj_name) : NONE;
    case 'ShowColumns': {
      const options = isNode(node.show_options) ? node.show_options.show_in : undefined;
      return isNode(options) ? named(options.parent_name) : NONE;
    }
    case 'ShowVariable':
      return shownRelation(node, read);
    case 'Drop':
      return droppedIndexes(node, dialect, named);
    case 'Comment':
      if (node.object_type === 'Column') return named(node.object_name, 1);
      return /^(?:Table|View|MaterializedView|Index|Sequence)$/.test(String(node.object_type))
        ? named(node.object_name)
        : NONE;
    case 'Set': {
      const parameter = isNode(node.SetSessionParam) ? node.SetSessionParam.IdentityInsert : undefined;
      return isNode(parameter) ? named(parameter.obj) : NONE;
    }
    case 'CreateSequence':
      return named(node.owned_by, 1);
    case 'OptimizeTable':
      return named(node.name);
    case 'CreateTable':
      return createdFrom(node, read);
    case 'CreateVirtualTable':
      // fts4aux, fts5vocab: the words of a table named by the arguments.
      return /(?:aux|vocab)$/i.test(moduleOf(node)) ? HIDDEN : NONE;
    case 'Pragma':
      return pragmaRelation(node, read);
    default:
      return NONE;
  }
}

/** Pragmas of SQLite that describe, or check, the table named by their argument. */
const TABLE_PRAGMAS =
  'table_info|table_xinfo|table_list|index_list|foreign_key_list|foreign_key_check|integrity_check|quick_check';
const TABLE_PRAGMA = new RegExp(`^(?:${TABLE_PRAGMAS})$`, 'i');
/** Functions in FROM that read the table named by their first argument, by dialect. */
const READS_TABLE: Readonly<Record<Dialect, RegExp>> = {
  postgres: /^$/,
  mysql: /^$/,
  tsql: /^(?:containstable|freetexttable|changetable|semantic\w*table)$/i,
  oracle: /^only$/i,
  sqlite: new RegExp(`^pragma_(?:${TABLE_PRAGMAS})$`, 'i'),
};
/** As a table without arguments it only lists all tables, like sqlite_master. */
const LISTS_TABLES = /^pragma_table_list$/i;

/** Relations read by a function in FROM besides those in its arguments; `args` is undefined without any. */
export function generalFunctionRelations(
  name: string,
  args: unknown,
  dialect: Dialect,
  read: ReadText,
): NamedRelations {
  if (!READS_TABLE[dialect].test(name)) return NONE;
  const given = isNode(args) && !Array.isArray(args) ? args.args : args;
  const [first, second] = listOf(given).map((item) => variant(item)[1]);
  if (first === undefined) return LISTS_TABLES.test(name) ? NONE : HIDDEN;
  const table = argumentRelation(first, dialect, read);
  if (table === null) return HIDDEN;
  // pragma_table_info('t', 's')
  const schema = dialect === 'sqlite' ? argumentRelation(second, dialect, read) : null;
  return [{ schema: schema?.table ?? table.schema, table: table.table }];
}

/** The relation that an argument names, by name or text; null when undecidable. */
function argumentRelation(argument: unknown, dialect: Dialect, read: ReadText): Relation | null {
  const expression = isNode(argument) ? argument.Expr : undefined;
  const [kind, value] = variant(expression);
  // In SQLite a compound name is a column, whose value is the name.
  if (kind === 'Identifier' || (kind === 'CompoundIdentifier' && dialect !== 'sqlite')) {
    return relationOf(Array.isArray(value) ? value : [value], 0, read)[0] ?? null;
  }
  const [literal, text] = literalValue(expression);
  return /String/.test(literal) && typeof text === 'string' ? { schema: null, table: read(text) } : null;
}

/** MySQL: SHOW INDEX FROM t FROM s is parsed as a list of words. */
function shownRelation(node: Node, read: ReadText): readonly Relation[] {
  const words = identifiers(node.variable);
  const upper = words.map(({ value, quote_style: quote }) => (quote ? '' : String(value).toUpperCase()));
  const start = upper.findIndex((word) => /^(?:INDEX|INDEXES|KEYS|COLUMNS|FIELDS)$/.test(word));
  const isIn = (at: number) => upper[at] === 'FROM' || upper[at] === 'IN';
  const table = words[start + 2];
  if (start < 0 || !isIn(start + 1) || table === undefined) return NONE;
  const schema = isIn(start + 3) ? words[start + 4] : undefined;
  return relationOf(schema === undefined ? [table] : [schema, table], 0, read);
}

function droppedIndexes(
  node: Node,
  dialect: Dialect,
  named: (value: unknown, above?: number) => readonly Relation[],
): readonly Relation[] {
  if (node.object_type !== 'Index') return NONE;
  const on = named(node.table);
  if (on.length > 0 || dialect !== 'tsql') return on;
  // The older form of T-SQL: DROP INDEX table.index.
  return (Array.isArray(node.names) ? node.names : []).flatMap((name) => named(name, 1));
}

/** MySQL: CREATE TABLE x (LIKE t), which the parser reads as a column, and the tables of a MERGE table. */
function createdFrom(node: Node, read: ReadText): readonly Relation[] {
  const found: Relation[] = [];
  for (const { name, data_type: type } of listOf(node.columns)) {
    if (!isNode(name) || name.quote_style || String(name.value).toUpperCase() !== 'LIKE') continue;
    const custom = isNode(type) && Array.isArray(type.Custom) ? type.Custom[0] : undefined;
    if (isObjectName(custom)) found.push(...relationOf(custom, 0, read));
  }
  const options = isNode(node.table_options) ? listOf(node.table_options.Plain) : [];
  for (const { NamedParenthesizedList: list } of options) {
    if (!isNode(list) || !isNode(list.key) || String(list.key.value).toUpperCase() !== 'UNION') continue;
    for (const table of listOf(list.values)) found.push(...relationOf([table], 0, read));
  }
  return found;
}

function pragmaRelation(node: Node, read: ReadText): readonly Relation[] {
  const names = identifiers(node.name).map(({ value }) => read(String(value)));
  const [kind, text] = isNode(node.value) ? variant(node.value.value) : ['', undefined];
  if (!TABLE_PRAGMA.test(names.at(-1) ?? '') || !/String/.test(kind) || typeof text !== 'string') return NONE;
  return [{ schema: names.at(-2) ?? null, table: read(text) }];
}

function moduleOf(node: Node): string {
  return isNode(node.module_name) ? String(node.module_name.value) : '';
}

/** The relation of a name whose last `above` parts are an element of it. */
function relationOf(value: unknown, above: number, read: ReadText): readonly Relation[] {
  const names = identifiers(value).map((identifier) => read(String(identifier.value ?? '')));
  const table = names.at(-1 - above);
  return table === undefined ? NONE : [{ schema: names.at(-2 - above) ?? null, table }];
}
