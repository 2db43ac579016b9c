/** Elements of the trees of PostgreSQL's parser (libpg_query): members, names, constants and tests. */
import { type EqualityTest, NO_LIMIT, type RowLimit, rowLimit } from './model.js';
import { isNode, listOf, type Node } from './tree-node.js';

/** The word or symbol before the number at a position of the text, in bytes. */
export type LiteralReader = (location: number) => string;

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

export function rowLimitOf({ limitCount }: Node, literals: LiteralReader): RowLimit {
  if (!isNode(limitCount)) return NO_LIMIT;
  const constant = member(limitCount, 'A_Const');
  // LIMIT ALL and LIMIT NULL are equivalent to no LIMIT.
  if (constant?.isnull === true) return NO_LIMIT;
  return rowLimit(numberAfter('LIMIT', constant, literals));
}

/** 0 when there is none or it is not a literal. */
export function offsetOf({ limitOffset }: Node, literals: LiteralReader): number {
  return (isNode(limitOffset) ? numberAfter('OFFSET', member(limitOffset, 'A_Const'), literals) : null) ?? 0;
}

/** The number of a constant directly after a word. */
function numberAfter(word: string, constant: Node | null, literals: LiteralReader): number | null {
  if (constant === null || literals(Number(constant.location ?? 0)) !== word) return null;
  if (isNode(constant.ival)) return Number(constant.ival.ival ?? 0);
  return isNode(constant.fval) ? Number(constant.fval.fval) : null;
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
