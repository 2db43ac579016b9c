/** Reads the tree of the general parser (sqlparser-rs; node names as in its `ast` module) into the model. */
import {
  identifiers,
  isBareName,
  isNegative,
  isObjectName,
  isPlainQuery,
  isQuery,
  literalNumber,
  literalValue,
  NAME_MEMBERS,
  NAMED_AFTER_TABLE,
  TABLE_MEMBERS,
  variant,
} from './general-nodes.js';
import { functionOperation, statementOperations } from './general-operations.js';
import { generalFunctionRelations, generalStatementRelations } from './general-relations.js';
import { generalUses } from './general-uses.js';
import {
  type Dialect,
  type EqualityTest,
  NO_LIMIT,
  NotParsed,
  OPAQUE_LIMIT,
  type RowLimit,
  type Statement,
} from './model.js';
import { unmarked } from './plain-text.js';
import {
  below,
  type CteScope,
  isCteInScope,
  type Place,
  rootPlace,
  StatementBuilder,
} from './statement-builder.js';
import { isNode, listOf, type Node } from './tree-node.js';

export interface GeneralTreeOptions {
  readonly dialect: Dialect;
  /** Contents of the marks in the parsed text. */
  readonly strings: readonly string[];
  /** The precedence of AND is uncertain: no term of a WHERE counts as joined by it. */
  readonly uncertainConjunctions: boolean;
}

/** Reads the tree of one statement. */
export function readGeneralStatement(tree: unknown, options: GeneralTreeOptions): Statement {
  const builder = new StatementBuilder();
  const walk = new Walk(builder, options);
  walk.statement(tree, rootPlace(isPlainQuery(tree)));
  return builder.build(generalUses(tree, options.dialect));
}

function rowLimit(value: number | null): RowLimit {
  return value === null ? OPAQUE_LIMIT : { kind: 'literal', value };
}

class Walk {
  readonly #builder: StatementBuilder;
  readonly #options: GeneralTreeOptions;

  constructor(builder: StatementBuilder, options: GeneralTreeOptions) {
    this.#builder = builder;
    this.#options = options;
  }

  /** Resolves a mark in the text. */
  readonly #read = (written: string): string => unmarked(written, this.#options.strings);

  /** A statement: an object with one member named after its kind, or only that name. */
  statement(tree: unknown, place: Place): void {
    const [key, body] = variant(tree);
    const node = isNode(body) ? body : {};
    for (const { name, ...more } of statementOperations(key, node, this.#options.dialect)) {
      this.#builder.operation(place, name, more);
    }
    const { dialect } = this.#options;
    this.#builder.relations(below(place), generalStatementRelations(key, node, dialect, this.#read));
    switch (key) {
      case 'Query':
        this.#query(node, place);
        return;
      case 'Insert':
        this.#insert(node, place);
        return;
      case 'Update':
        this.#update(node, place);
        return;
      case 'Delete':
        this.#delete(node, place);
        return;
      case 'Merge':
        this.#merge(node, place);
        return;
      case 'Explain':
        this.statement(node.statement, below(place, { notRun: place.notRun || node.analyze !== true }));
        return;
      case 'Drop':
        this.#drop(node, place);
        return;
      case 'Comment':
        return;
      default:
        if (NAMED_AFTER_TABLE.has(key)) this.#table(node.name, place);
        if (
          key === 'AlterTable' &&
          /"Drop(?:Column|Constraint)"/.test(JSON.stringify(node.operations) ?? '')
        ) {
          this.#builder.operation(place, 'DROP');
        }
        this.#parts(body, below(place));
        return;
    }
  }

  /** Parts of a statement of no special kind: tables, queries, expressions and nested statements. */
  #parts(value: unknown, place: Place): void {
    if (Array.isArray(value)) {
      for (const item of value) this.#parts(item, place);
      return;
    }
    if (!isNode(value)) return;
    if (isQuery(value)) {
      this.#query(value, place);
      return;
    }
    for (const [key, child] of Object.entries(value)) {
      if (key === 'statement') this.statement(child, place);
      else if (key === 'statements' && Array.isArray(child)) {
        for (const item of child) this.statement(item, place);
      } else if (TABLE_MEMBERS.has(key)) this.#tables(child, place);
      else if (key === 'Function') this.#call(child, place);
      else if (!NAME_MEMBERS.has(key) || !isObjectName(child)) this.#parts(child, place);
    }
  }

  /** Tables in a list, or in members of its items. */
  #tables(value: unknown, place: Place): void {
    if (isObjectName(value)) {
      this.#table(value, place);
      return;
    }
    if (Array.isArray(value)) for (const item of value) this.#tables(item, place);
    else if (isNode(value)) {
      if (typeof value.value === 'string') this.#table([{ Identifier: value }], place);
      else for (const child of Object.values(value)) this.#tables(child, place);
    }
  }

  #query(query: Node, place: Place): void {
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
    this.#expression([limit, fetch, order], { ...behind, topColumns: plain && place.root });
    this.#parts(rest, behind);
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
        this.#query(body, below(place));
        return;
      case 'SetOperation':
        this.#builder.setOperation();
        this.#setExpression(body.left, below(place));
        this.#setExpression(body.right, below(place));
        return;
      case 'Values':
        this.#expression(body, below(place));
        return;
      case 'Table': {
        this.#builder.operation(place, 'SELECT', { recognised: false });
        const schema = body.schema_name;
        const name = String(body.table_name ?? '');
        if (typeof schema === 'string' || !isCteInScope(place.ctes, this.#fold(name, false))) {
          this.#builder.table(place, typeof schema === 'string' ? schema : null, name);
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
    if (isNode(top) && this.#options.dialect !== 'tsql') throw new NotParsed('TOP is no word of the dialect');
    this.#builder.operation(place, 'SELECT');
    this.#builder.select(place, this.#limit(query, top), this.#offset(query));
    const own = below(place, { depth: place.depth + 1, nested: true, topColumns: place.root });
    if (isNode(into)) {
      this.#builder.operation(place, 'CREATE');
      this.#table(into.name, below(place));
    }
    this.#expression(projection, { ...own, clause: 'select' });
    this.#from(from, { ...own, topFrom: place.root });
    this.#expression(selection, { ...own, clause: 'where' });
    this.#expression([top, others], own);
    if (place.root) this.#filter(selection);
  }

  /** A list of tables with their joins. */
  #from(value: unknown, place: Place): void {
    const items = listOf(value);
    this.#builder.join(items.length - 1);
    for (const item of items) this.#joined(item, place);
  }

  #joined(item: Node, place: Place): void {
    this.#factor(item.relation, place);
    for (const join of listOf(item.joins)) {
      this.#builder.join();
      this.#factor(join.relation, place);
      this.#expression(join.join_operator, { ...place, topFrom: false });
    }
  }

  /** One table of FROM: a name, a function, a query, or joins in brackets. */
  #factor(value: unknown, place: Place): void {
    const [kind, body] = variant(value);
    if (!isNode(body)) return;
    const inside = { ...place, topFrom: false };
    switch (kind) {
      case 'Table': {
        const alias = this.#alias(body.alias);
        if (body.args === undefined || body.args === null) this.#readTable(body.name, place, alias);
        else this.#tableFunction(body.name, body.args, place, alias);
        const { name: _, alias: __, args, ...rest } = body;
        this.#expression([args, rest], inside);
        return;
      }
      case 'Function':
        this.#tableFunction(body.name, body.args, place, this.#alias(body.alias));
        this.#expression(body.args, inside);
        return;
      case 'NestedJoin':
        if (isNode(body.table_with_joins)) this.#joined(body.table_with_joins, place);
        return;
      case 'Pivot':
      case 'Unpivot':
      case 'MatchRecognize':
        this.#factor(body.table, place);
        this.#expression({ ...body, table: undefined, alias: undefined }, inside);
        return;
      case 'Derived':
        this.#expression(body.subquery, inside);
        return;
      default:
        this.#builder.table(place, null, `${kind}(...)`, this.#alias(body.alias));
        this.#expression({ ...body, alias: undefined }, inside);
        return;
    }
  }

  #insert(insert: Node, place: Place): void {
    const inside = below(place);
    const overwrites = insert.replace_into === true || insert.or === 'Replace';
    if (overwrites) this.#builder.operation(place, 'DELETE', { also: ['REPLACE'] });
    const on = JSON.stringify(insert.on ?? null);
    if (/"(?:DuplicateKeyUpdate|DoUpdate)"/.test(on)) this.#builder.operation(place, 'UPDATE');
    const [, target] = variant(insert.table);
    this.#tables(target, { ...inside, topFrom: place.root });
    this.#expression([insert.source, insert.on, insert.returning, insert.assignments], inside);
    this.#parts(insert.multi_table_into_clauses, inside);
  }

  #update(update: Node, place: Place): void {
    const inside = below(place);
    if (isNode(update.table)) this.#target(update.table, { ...inside, topFrom: place.root });
    for (const { target, value } of listOf(update.assignments)) {
      const [, name] = variant(target);
      const column = this.#names(name).at(-1);
      if (column !== undefined) this.#builder.column(inside, column);
      this.#expression(value, inside);
    }
    const from = variant(update.from)[1];
    this.#builder.join(listOf(from).length);
    for (const item of listOf(from)) this.#joined(item, { ...inside, topFrom: place.root });
    this.#expression(update.selection, { ...inside, clause: 'where' });
    this.#expression([update.returning, update.output, update.limit, update.order_by], inside);
    if (place.root) this.#filter(update.selection);
  }

  #delete(statement: Node, place: Place): void {
    const inside = { ...below(place), topFrom: place.root };
    const from = listOf(variant(statement.from)[1]);
    this.#builder.join(from.length - 1);
    // With several tables FROM is read, and those before it are only named.
    for (const item of from) this.#target(item, inside);
    const using = listOf(statement.using);
    this.#builder.join(using.length);
    for (const item of using) this.#joined(item, inside);
    this.#expression(statement.selection, { ...below(place), clause: 'where' });
    this.#expression(
      [statement.returning, statement.output, statement.order_by, statement.limit],
      below(place),
    );
    if (place.root) this.#filter(statement.selection);
  }

  #merge(merge: Node, place: Place): void {
    const inside = below(place);
    this.#builder.join();
    this.#target({ relation: merge.table }, { ...inside, topFrom: place.root });
    this.#factor(merge.source, { ...inside, topFrom: place.root });
    this.#expression([merge.on, merge.output], inside);
    for (const clause of listOf(merge.clauses)) {
      const [action] = variant(clause.action);
      if (/^(?:Insert|Update|Delete)$/.test(action)) this.#builder.operation(place, action.toUpperCase());
      this.#expression(clause, inside);
    }
  }

  #drop(drop: Node, place: Place): void {
    const kind = String(drop.object_type);
    for (const name of Array.isArray(drop.names) ? drop.names : []) {
      const names = this.#names(name);
      if (kind === 'Schema' || kind === 'Database') this.#builder.table(place, names.at(-1) ?? '', '');
      else if (/^(?:Table|View|MaterializedView|Index|Sequence)$/.test(kind)) this.#table(name, place);
    }
  }

  /** The first target table is always a real one; T-SQL also writes through CTEs. */
  #target(item: Node, place: Place): void {
    const throughCtes = this.#options.dialect === 'tsql';
    this.#factor(item.relation, throughCtes ? place : { ...place, ctes: null });
    this.#joined({ joins: item.joins }, place);
  }

  /** An expression, or any part of a query. */
  #expression(value: unknown, place: Place): void {
    if (Array.isArray(value)) {
      for (const item of value) this.#expression(item, place);
      return;
    }
    if (!isNode(value)) return;
    if (isQuery(value)) {
      this.#query(value, below(place));
      return;
    }
    for (const [key, child] of Object.entries(value)) {
      switch (key) {
        case 'Identifier':
          if (isNode(child)) this.#builder.column(place, this.#text(child));
          break;
        case 'CompoundIdentifier': {
          const last = listOf(child).at(-1);
          if (last !== undefined) this.#builder.column(place, this.#text(last));
          break;
        }
        case 'Function':
          this.#call(child, place);
          break;
        default:
          if (!NAME_MEMBERS.has(key) || !isBareName(child)) this.#expression(child, place);
      }
    }
  }

  #call(value: unknown, place: Place): void {
    if (!isNode(value)) return;
    this.#called(this.#names(value.name).at(-1) ?? '', place);
    this.#expression({ ...value, name: undefined }, place);
  }

  #called(name: string, place: Place): void {
    const operation = functionOperation(name, this.#options.dialect);
    if (operation !== null) this.#builder.operation(place, operation.name, operation);
  }

  #tableFunction(name: unknown, args: unknown, place: Place, alias: string | null): void {
    const names = this.#names(name);
    this.#called(names.at(-1) ?? '', place);
    const schema = names.length > 1 ? (names.at(-2) ?? null) : null;
    this.#builder.table(place, schema, `${names.at(-1) ?? ''}(${this.#rendered(args)})`, alias);
    const read = generalFunctionRelations(names.at(-1) ?? '', args, this.#options.dialect, this.#read);
    this.#builder.relations(below(place), read);
  }

  /** Approximate text of arguments; only constants and names are exact. */
  #rendered(args: unknown): string {
    const items = Array.isArray(args) ? args : isNode(args) ? args.args : [];
    return listOf(items)
      .map((item) => {
        const [, unnamed] = variant(item);
        const [kind, expression] = variant(variant(unnamed)[1]);
        if (kind === 'Identifier' || kind === 'CompoundIdentifier')
          return this.#names([expression]).join('.');
        return this.#literal({ [kind]: expression }) ?? '...';
      })
      .join(', ');
  }

  #ctes(clause: unknown, place: Place, plain: boolean): CteScope | null {
    if (!isNode(clause)) return place.ctes;
    const { dialect } = this.#options;
    const names = new Set<string>();
    const scope: CteScope = { names, outer: place.ctes };
    const tables = listOf(clause.cte_tables).map((table) => {
      const name = isNode(table.alias) && isNode(table.alias.name) ? table.alias.name : {};
      return { name: this.#fold(this.#text(name), name.quote_style !== undefined), query: table.query };
    });
    // In SQLite, and elsewhere with RECURSIVE, a CTE sees itself. T-SQL and Oracle need no such word.
    const seesItself = clause.recursive === true || dialect !== 'mysql';
    if (dialect === 'sqlite') for (const { name } of tables) names.add(name);
    for (const { name, query } of tables) {
      if (seesItself) names.add(name);
      const depth = place.depth + (plain ? 1 : 0);
      this.#expression(query, below(place, { ctes: scope, depth, nested: true }));
      names.add(name);
    }
    return scope;
  }

  #readTable(name: unknown, place: Place, alias: string | null): void {
    const parts = identifiers(name);
    const last = parts.at(-1);
    if (last === undefined) return;
    const quoted = last.quote_style !== undefined && last.quote_style !== null;
    if (parts.length === 1 && isCteInScope(place.ctes, this.#fold(this.#text(last), quoted))) return;
    this.#table(name, place, alias);
    const read = generalFunctionRelations(this.#text(last), undefined, this.#options.dialect, this.#read);
    this.#builder.relations(below(place), read);
  }

  #table(name: unknown, place: Place, alias: string | null = null): void {
    const names = this.#names(name);
    const last = names.at(-1);
    if (last === undefined) return;
    // Oracle: `t@link` is the table t of another database.
    const table = this.#options.dialect === 'oracle' ? (last.split('@')[0] ?? last) : last;
    // GRANT … ON schema.*
    this.#builder.table(place, names.at(-2) ?? null, table === '*' ? '' : table, alias);
  }

  /** Normalises a CTE name: only Oracle heeds quotes. */
  #fold(name: string, quoted: boolean): string {
    return this.#options.dialect === 'oracle' && quoted ? name : name.toUpperCase();
  }

  #names(value: unknown): string[] {
    return identifiers(value).map((identifier) => this.#text(identifier));
  }

  #text(identifier: Node): string {
    return this.#read(String(identifier.value ?? ''));
  }

  #alias(value: unknown): string | null {
    return isNode(value) && isNode(value.name) ? this.#text(value.name) : null;
  }

  #limit(query: Node, top: unknown): RowLimit {
    const [kind, clause] = variant(query.limit_clause);
    const limit = isNode(clause) ? clause.limit : undefined;
    if (kind !== '' && limit !== undefined && limit !== null) {
      // SQLite: a negative LIMIT is no limit.
      if (this.#options.dialect === 'sqlite' && isNegative(limit)) return NO_LIMIT;
      return rowLimit(this.#number(limit));
    }
    if (isNode(top)) {
      const [quantity, value] = variant(top.quantity);
      if (top.percent === true) return OPAQUE_LIMIT;
      return rowLimit(quantity === 'Constant' ? Number(value) : this.#number(value));
    }
    return isNode(query.fetch) ? OPAQUE_LIMIT : NO_LIMIT;
  }

  #offset(query: Node): number {
    const clause = variant(query.limit_clause)[1];
    const offset = isNode(clause) ? clause.offset : undefined;
    return (isNode(offset) ? this.#number('value' in offset ? offset.value : offset) : null) ?? 0;
  }

  #number(expression: unknown): number | null {
    const number = literalNumber(expression);
    return number === null ? null : Number(number);
  }

  /** The text of a string or of a number; null for anything else. */
  #literal(expression: unknown): string | null {
    const number = literalNumber(expression);
    if (number !== null) return number;
    const [kind, text] = literalValue(expression);
    if (!/^(?:Single|Double|National|TripleS|TripleD)\w*String\w*$|^NationalStringLiteral$/.test(kind))
      return null;
    return typeof text === 'string' ? unmarked(text, this.#options.strings) : null;
  }

  #filter(where: unknown): void {
    if (!isNode(where)) return;
    this.#builder.filter(this.#options.uncertainConjunctions ? [] : this.#equalityTests(where));
  }

  /** The equality tests among the terms joined by AND. */
  #equalityTests(where: unknown): EqualityTest[] {
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
    const names = listOf(Array.isArray(value) ? value : [value]).map((one) => this.#text(one));
    return [{ qualifier: names.at(-2) ?? null, column: names.at(-1) ?? '', text }];
  }
}
