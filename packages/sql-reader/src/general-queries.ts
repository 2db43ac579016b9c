import { identifiers, isBareName, isQuery, NAME_MEMBERS, variant } from './general-nodes.js';
import { functionOperation } from './general-operations.js';
import { generalFunctionRelations } from './general-relations.js';
import { GeneralTexts, type GeneralTreeOptions } from './general-texts.js';
import { NotParsed } from './model.js';
import {
  below,
  type CteScope,
  isCteInScope,
  type Place,
  type StatementBuilder,
} from './statement-builder.js';
import { isNode, listOf, type Node } from './tree-node.js';

/** Reads queries and expressions; statements in them, and parts of a kind that is not known, are left to the statements. */
export abstract class GeneralQueries extends GeneralTexts {
  constructor(
    protected readonly builder: StatementBuilder,
    options: GeneralTreeOptions,
  ) {
    super(options);
  }

  /** A statement: an object with one member named after its kind, or only that name. */
  abstract statement(tree: unknown, place: Place): void;

  /** Parts of a statement of no special kind: tables, queries, expressions and nested statements. */
  protected abstract parts(value: unknown, place: Place): void;

  protected query(query: Node, place: Place): void {
    const [kind, body] = variant(query.body);
    const plain = kind === 'Select';
    const ctes = this.#ctes(query.with, place, plain);
    const here = { ...place, ctes };
    if (plain && isNode(body)) this.#select(body, here, query);
    else this.#setExpression(query.body, here);
    const { body: _, with: __, limit_clause: limit, fetch, order_by: order, ...rest } = query;
    const behind = below(place, {
      ctes,
      depth: place.depth + (plain ? 1 : 0),
      nested: place.nested || plain,
    });
    this.expression([limit, fetch, order], { ...behind, topColumns: plain && place.root });
    this.parts(rest, behind);
  }

  /** The body of a query other than a plain SELECT. */
  #setExpression(value: unknown, place: Place): void {
    const [kind, body] = variant(value);
    if (!isNode(body)) return;
    switch (kind) {
      case 'Select':
        this.#select(body, place, {});
        return;
      case 'Query':
        this.query(body, below(place));
        return;
      case 'SetOperation':
        this.builder.setOperation();
        this.#setExpression(body.left, below(place));
        this.#setExpression(body.right, below(place));
        return;
      case 'Values':
        this.expression(body, below(place));
        return;
      case 'Table': {
        this.builder.operation(place, 'SELECT', { recognised: false });
        const schema = body.schema_name;
        const name = String(body.table_name ?? '');
        if (typeof schema === 'string' || !isCteInScope(place.ctes, this.fold(name, false))) {
          this.builder.table(place, typeof schema === 'string' ? schema : null, name);
        }
        return;
      }
      default:
        // INSERT, UPDATE, DELETE or MERGE after WITH: the statement is in a member of its own name.
        this.statement(body, { ...place, topColumns: false });
        return;
    }
  }

  #select(select: Node, place: Place, query: Node): void {
    const { projection, from, selection, into, top, select_token: _, ...others } = select;
    // The parser accepts T-SQL's TOP in every dialect. Databases of other dialects would reject the text.
    if (isNode(top) && this.options.dialect !== 'tsql') throw new NotParsed('TOP is no word of the dialect');
    this.builder.operation(place, 'SELECT');
    this.builder.select(place, this.limit(query, top), this.offset(query));
    const own = below(place, { depth: place.depth + 1, nested: true, topColumns: place.root });
    if (isNode(into)) {
      this.builder.operation(place, 'CREATE');
      this.table(into.name, below(place));
    }
    this.expression(projection, { ...own, clause: 'select' });
    this.#from(from, { ...own, topFrom: place.root });
    this.expression(selection, { ...own, clause: 'where' });
    this.expression([top, others], own);
    if (place.root) this.filter(selection);
  }

  /** A list of tables with their joins. */
  #from(value: unknown, place: Place): void {
    const items = listOf(value);
    this.builder.join(items.length - 1);
    for (const item of items) this.joined(item, place);
  }

  protected joined(item: Node, place: Place): void {
    this.factor(item.relation, place);
    for (const join of listOf(item.joins)) {
      this.builder.join();
      this.factor(join.relation, place);
      this.expression(join.join_operator, { ...place, topFrom: false });
    }
  }

  /** One table of FROM: a name, a function, a query, or joins in brackets. */
  protected factor(value: unknown, place: Place): void {
    const [kind, body] = variant(value);
    if (!isNode(body)) return;
    const inside = { ...place, topFrom: false };
    switch (kind) {
      case 'Table': {
        const alias = this.alias(body.alias);
        if (body.args === undefined || body.args === null) this.#readTable(body.name, place, alias);
        else this.#tableFunction(body.name, body.args, place, alias);
        const { name: _, alias: __, args, ...rest } = body;
        this.expression([args, rest], inside);
        return;
      }
      case 'Function':
        this.#tableFunction(body.name, body.args, place, this.alias(body.alias));
        this.expression(body.args, inside);
        return;
      case 'NestedJoin':
        if (isNode(body.table_with_joins)) this.joined(body.table_with_joins, place);
        return;
      case 'Pivot':
      case 'Unpivot':
      case 'MatchRecognize':
        this.factor(body.table, place);
        this.expression({ ...body, table: undefined, alias: undefined }, inside);
        return;
      case 'Derived':
        this.expression(body.subquery, inside);
        return;
      default:
        this.builder.table(place, null, `${kind}(...)`, this.alias(body.alias));
        this.expression({ ...body, alias: undefined }, inside);
        return;
    }
  }

  /** An expression, or any part of a query. */
  protected expression(value: unknown, place: Place): void {
    if (Array.isArray(value)) {
      for (const item of value) this.expression(item, place);
      return;
    }
    if (!isNode(value)) return;
    if (isQuery(value)) {
      this.query(value, below(place));
      return;
    }
    for (const [key, child] of Object.entries(value)) {
      switch (key) {
        case 'Identifier':
          if (isNode(child)) this.builder.column(place, this.text(child));
          break;
        case 'CompoundIdentifier': {
          const last = listOf(child).at(-1);
          if (last !== undefined) this.builder.column(place, this.text(last));
          break;
        }
        case 'Function':
          this.call(child, place);
          break;
        default:
          if (!NAME_MEMBERS.has(key) || !isBareName(child)) this.expression(child, place);
      }
    }
  }

  protected call(value: unknown, place: Place): void {
    if (!isNode(value)) return;
    this.#called(this.names(value.name).at(-1) ?? '', place);
    this.expression({ ...value, name: undefined }, place);
  }

  #called(name: string, place: Place): void {
    const operation = functionOperation(name, this.options.dialect);
    if (operation !== null) this.builder.operation(place, operation.name, operation);
  }

  #tableFunction(name: unknown, args: unknown, place: Place, alias: string | null): void {
    const names = this.names(name);
    this.#called(names.at(-1) ?? '', place);
    const schema = names.length > 1 ? (names.at(-2) ?? null) : null;
    this.builder.table(place, schema, `${names.at(-1) ?? ''}(${this.rendered(args)})`, alias);
    const read = generalFunctionRelations(names.at(-1) ?? '', args, this.options.dialect, this.read);
    this.builder.relations(below(place), read);
  }

  #ctes(clause: unknown, place: Place, plain: boolean): CteScope | null {
    if (!isNode(clause)) return place.ctes;
    const { dialect } = this.options;
    const names = new Set<string>();
    const scope: CteScope = { names, outer: place.ctes };
    const tables = listOf(clause.cte_tables).map((table) => {
      const name = isNode(table.alias) && isNode(table.alias.name) ? table.alias.name : {};
      return { name: this.fold(this.text(name), name.quote_style !== undefined), query: table.query };
    });
    // In SQLite, and elsewhere with RECURSIVE, a CTE sees itself. T-SQL and Oracle need no such word.
    const seesItself = clause.recursive === true || dialect !== 'mysql';
    if (dialect === 'sqlite') for (const { name } of tables) names.add(name);
    for (const { name, query } of tables) {
      if (seesItself) names.add(name);
      const depth = place.depth + (plain ? 1 : 0);
      this.expression(query, below(place, { ctes: scope, depth, nested: true }));
      names.add(name);
    }
    return scope;
  }

  #readTable(name: unknown, place: Place, alias: string | null): void {
    const parts = identifiers(name);
    const last = parts.at(-1);
    if (last === undefined) return;
    const quoted = last.quote_style !== undefined && last.quote_style !== null;
    if (parts.length === 1 && isCteInScope(place.ctes, this.fold(this.text(last), quoted))) return;
    this.table(name, place, alias);
    const read = generalFunctionRelations(this.text(last), undefined, this.options.dialect, this.read);
    this.builder.relations(below(place), read);
  }

  protected table(name: unknown, place: Place, alias: string | null = null): void {
    const names = this.names(name);
    const last = names.at(-1);
    if (last === undefined) return;
    // Oracle: `t@link` is the table t of another database.
    const table = this.options.dialect === 'oracle' ? (last.split('@')[0] ?? last) : last;
    // GRANT … ON schema.*
    this.builder.table(place, names.at(-2) ?? null, table === '*' ? '' : table, alias);
  }

  protected filter(where: unknown): void {
    if (!isNode(where)) return;
    this.builder.filter(this.options.uncertainConjunctions ? [] : this.equalityTests(where));
  }
}
