/** Elements of the trees of PostgreSQL's parser (libpg_query): members, names, constants and tests. */
import type { EqualityTest } from './model.js';
import { isNode, listOf, type Node } from './tree-node.js';

/** The equality tests among the terms joined by AND. */
export function equalityTests(where: Node): EqualityTest[] {
  const conjunction = member(where, 'BoolExpr');
  if (conjunction !== null) {
    return conjunction.boolop === 'AND_EXPR' ? listOf(conjunction.args).flatMap(equalityTests) : [];
  }
  const test = member(where, 'A_Expr');
  if (test === null || test.kind !== 'AEXPR_OP') return [];
  const operator = namesOf(test.name);
  if (operator.length !== 1 || operator[0] !== '=') return [];
  return equality(test.lexpr, test.rexpr) ?? equality(test.rexpr, test.lexpr) ?? [];
}

function equality(left: unknown, right: unknown): EqualityTest[] | null {
  if (!isNode(left) || !isNode(right)) return null;
  const column = member(left, 'ColumnRef');
  const text = literalText(member(right, 'A_Const'));
  const fields = listOf(column?.fields);
  if (text === null || fields.length === 0 || fields.some((field) => !('String' in field))) return null;
  const names = namesOf(fields);
  return [{ qualifier: names.at(-2) ?? null, column: names.at(-1) ?? '', text }];
}

/** Numbers and strings; a negative number never counts. */
function literalText(constant: Node | null): string | null {
  if (constant === null) return null;
  if (isNode(constant.sval)) return String(constant.sval.sval ?? '');
  const number = isNode(constant.ival)
    ? String(constant.ival.ival ?? 0)
    : isNode(constant.fval)
      ? String(constant.fval.fval)
      : null;
  return number === null || number.startsWith('-') ? null : number;
}

/** Approximate text of an argument; only constants and names are exact. */
export function rendered(value: Node): string {
  const constant = member(value, 'A_Const');
  if (constant !== null && isNode(constant.sval)) return `'${String(constant.sval.sval ?? '')}'`;
  const column = member(value, 'ColumnRef');
  return literalText(constant) ?? (column === null ? '...' : namesOf(column.fields).join('.'));
}

export function isPlainSelect(select: Node): boolean {
  return (select.op === undefined || select.op === 'SETOP_NONE') && select.valuesLists === undefined;
}

/** `TABLE t` is `SELECT * FROM t` without a star in the text. */
export function isTableCommand(select: Node): boolean {
  const first = listOf(select.targetList)[0];
  return first !== undefined && member(first, 'ResTarget')?.location === -1;
}

export function isAnalyzed(explain: Node): boolean {
  return listOf(explain.options).some((option) => member(option, 'DefElem')?.defname === 'analyze');
}

export function aliasOf(range: Node): string | null {
  const name = isNode(range.alias) ? range.alias.aliasname : undefined;
  return typeof name === 'string' ? name : null;
}

export function namesOf(list: unknown): string[] {
  return listOf(list).flatMap((item) => {
    const name = member(item, 'String');
    return name === null ? [] : [String(name.sval ?? '')];
  });
}

export function member(node: Node, key: string): Node | null {
  const value = node[key];
  return isNode(value) ? value : null;
}
