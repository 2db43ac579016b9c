/** What the nodes of the general parser say by themselves: names, values, limits, tests of equality. */
import { identifiers, isNegative, literalNumber, literalValue, variant } from './general-nodes.js';
import { type Dialect, type EqualityTest, NO_LIMIT, OPAQUE_LIMIT, type RowLimit, rowLimit } from './model.js';
import { unmarked } from './plain-text.js';
import { isNode, listOf, type Node } from './tree-node.js';

export interface GeneralTreeOptions {
  readonly dialect: Dialect;
  /** Contents of the marks in the parsed text. */
  readonly strings: readonly string[];
  /** The precedence of AND is uncertain: no term of a WHERE counts as joined by it. */
  readonly uncertainConjunctions: boolean;
}

/** Reads names and values, of which the text has marks instead of strings. */
export abstract class GeneralTexts {
  constructor(protected readonly options: GeneralTreeOptions) {}

  /** Resolves a mark in the text. */
  protected readonly read = (written: string): string => unmarked(written, this.options.strings);

  protected names(value: unknown): string[] {
    return identifiers(value).map((identifier) => this.text(identifier));
  }

  protected text(identifier: Node): string {
    return this.read(String(identifier.value ?? ''));
  }

  protected alias(value: unknown): string | null {
    return isNode(value) && isNode(value.name) ? this.text(value.name) : null;
  }

  /** Normalises a CTE name: only Oracle heeds quotes. */
  protected fold(name: string, quoted: boolean): string {
    return this.options.dialect === 'oracle' && quoted ? name : name.toUpperCase();
  }

  /** Approximate text of arguments; only constants and names are exact. */
  protected rendered(args: unknown): string {
    const items = Array.isArray(args) ? args : isNode(args) ? args.args : [];
    return listOf(items)
      .map((item) => {
        const [, unnamed] = variant(item);
        const [kind, expression] = variant(variant(unnamed)[1]);
        if (kind === 'Identifier' || kind === 'CompoundIdentifier') return this.names([expression]).join('.');
        return this.#literal({ [kind]: expression }) ?? '...';
      })
      .join(', ');
  }

  /** The text of a string or of a number; null for anything else. */
  #literal(expression: unknown): string | null {
    const number = literalNumber(expression);
    if (number !== null) return number;
    const [kind, text] = literalValue(expression);
    if (!/^(?:Single|Double|National|TripleS|TripleD)\w*String\w*$|^NationalStringLiteral$/.test(kind))
      return null;
    return typeof text === 'string' ? unmarked(text, this.options.strings) : null;
  }

  #number(expression: unknown): number | null {
    const number = literalNumber(expression);
    return number === null ? null : Number(number);
  }

  protected limit(query: Node, top: unknown): RowLimit {
    const [kind, clause] = variant(query.limit_clause);
    const limit = isNode(clause) ? clause.limit : undefined;
    if (kind !== '' && limit !== undefined && limit !== null) {
      // SQLite: a negative LIMIT is no limit.
      if (this.options.dialect === 'sqlite' && isNegative(limit)) return NO_LIMIT;
      return rowLimit(this.#number(limit));
    }
    if (isNode(top)) {
      const [quantity, value] = variant(top.quantity);
      if (top.percent === true) return OPAQUE_LIMIT;
      return rowLimit(quantity === 'Constant' ? Number(value) : this.#number(value));
    }
    return isNode(query.fetch) ? OPAQUE_LIMIT : NO_LIMIT;
  }

  protected offset(query: Node): number {
    const clause = variant(query.limit_clause)[1];
    const offset = isNode(clause) ? clause.offset : undefined;
    return (isNode(offset) ? this.#number('value' in offset ? offset.value : offset) : null) ?? 0;
  }

  /** The equality tests among the terms joined by AND. */
  protected equalityTests(where: unknown): EqualityTest[] {
    const tests: EqualityTest[] = [];
    const open: unknown[] = [where];
    while (open.length > 0) {
      const [kind, body] = variant(open.pop());
      if (kind === 'Nested') open.push(body);
      else if (kind === 'BinaryOp' && isNode(body)) {
        if (body.op === 'And') open.push(body.right, body.left);
        else if (body.op === 'Eq') {
          tests.push(
            ...(this.#equality(body.left, body.right) ?? this.#equality(body.right, body.left) ?? []),
          );
        }
      }
    }
    return tests;
  }

  #equality(left: unknown, right: unknown): EqualityTest[] | null {
    const text = this.#literal(right);
    const [kind, value] = variant(left);
    if (text === null || (kind !== 'Identifier' && kind !== 'CompoundIdentifier')) return null;
    const names = listOf(Array.isArray(value) ? value : [value]).map((one) => this.text(one));
    return [{ qualifier: names.at(-2) ?? null, column: names.at(-1) ?? '', text }];
  }
}
