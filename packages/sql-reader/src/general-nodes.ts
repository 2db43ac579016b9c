/** Elements of the trees of the general parser (sqlparser-rs): enums, names and constants. */
import { isNode, listOf, type Node } from './tree-node.js';
import { wordSet } from './word-set.js';

/** Members that name something other than a column; a bare name in them is not a column. */
export const NAME_MEMBERS = wordSet(
  'name names table_name table_names schema_name alias columns Using data_type collation ' +
    'character_set column_names object_name variable privileges grantees db_name index_name',
);
/** Statements whose `name` is that of a table. */
export const NAMED_AFTER_TABLE = wordSet(
  'CreateTable CreateView CreateVirtualTable AlterTable AlterView DropTable',
);
/** Members of any statement that name tables. */
export const TABLE_MEMBERS = wordSet(
  'table_name table_names TableName tables Tables foreign_table old_name new_name like clone to ' +
    'RenameTable AllTablesInSchema',
);

/** `Value` of an expression: its kind and content. */
export function literalValue(expression: unknown): [string, unknown] {
  const [kind, value] = variant(expression);
  return kind === 'Value' && isNode(value) ? variant(value.value) : ['', undefined];
}

export function literalNumber(expression: unknown): string | null {
  const [kind, value] = literalValue(expression);
  return kind === 'Number' && Array.isArray(value) ? String(value[0]) : null;
}

export function isNegative(expression: unknown): boolean {
  const [kind, value] = variant(expression);
  return kind === 'UnaryOp' && isNode(value) && value.op === 'Minus';
}

export function isPlainQuery(tree: unknown): boolean {
  const [kind, query] = variant(tree);
  return kind === 'Query' && isNode(query) && variant(query.body)[0] === 'Select';
}

export function isQuery(node: Node): boolean {
  return 'body' in node && 'pipe_operators' in node;
}

/** A value of a Rust enum: its name and content. */
export function variant(value: unknown): [string, unknown] {
  if (typeof value === 'string') return [value, undefined];
  if (!isNode(value) || Array.isArray(value)) return ['', undefined];
  return Object.entries(value)[0] ?? ['', undefined];
}

/** The parts of a name: a list of identifiers, bare or wrapped. */
export function identifiers(value: unknown): Node[] {
  return listOf(value).flatMap((part): Node[] => {
    if (typeof part.value === 'string') return [part];
    return isNode(part.Identifier) ? [part.Identifier] : [];
  });
}

export function isObjectName(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((part) => isNode(part) && isNode(part.Identifier))
  );
}

/** A name, a list of names, or an identifier: nothing in it is an expression. */
export function isBareName(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isBareName);
  return isNode(value) && (typeof value.value === 'string' || isNode(value.Identifier) || isNode(value.name));
}
