/** Reads the tree of PostgreSQL's parser (libpg_query; node names as in PostgreSQL's parsenodes.h) into the model. */
import type { Statement } from './model.js';
import {
  aliasOf,
  equalityTests,
  isAnalyzed,
  isPlainSelect,
  isTableCommand,
  type LiteralReader,
  member,
  namesOf,
  offsetOf,
  rendered,
  rowLimitOf,
} from './postgres-nodes.js';
import { operationOfFunction, operationsOf } from './postgres-operations.js';
import { postgresFunctionRelations, postgresStatementRelations } from './postgres-relations.js';
import { postgresUses } from './postgres-uses.js';
import {
  below,
  type CteScope,
  isCteInScope,
  type Place,
  rootPlace,
  StatementBuilder,
} from './statement-builder.js';
import { isNode, listOf, type Node } from './tree-node.js';

/** Reads the tree of one statement. */
export function readPostgresStatement(tree: Node, literals: LiteralReader): Statement {
  const builder = new StatementBuilder();
  const select = member(tree, 'SelectStmt');
  const plain = select !== null && isPlainSelect(select);
  new Walk(builder, literals).node(tree, rootPlace(plain));
  return builder.build(postgresUses(tree));
}

const LOWER_CASE_A = 97;

class Walk {
  readonly #builder: StatementBuilder;
  readonly #literals: LiteralReader;

  constructor(builder: StatementBuilder, literals: LiteralReader) {
    this.#builder = builder;
    this.#literals = literals;
  }

  /** Any value of the tree. */
  node(value: unknown, place: Place): void {
    if (Array.isArray(value)) {
      for (const item of value) this.node(item, place);
    } else if (isNode(value)) {
      // A RangeVar is bare where the grammar allows nothing else.
      if (typeof value.relname === 'string') this.#table(value, place);
      // Trees come from JSON.parse: they have own members only.
      else for (const key in value) this.#member(key, value[key], place);
    }
  }

  #member(key: string, child: unknown, place: Place): void {
    if (!isNode(child)) return;
    // Names of node kinds begin with a capital, member names do not.
    if (key.charCodeAt(0) >= LOWER_CASE_A) this.#plainMember(key, child, place);
    else this.#kind(key, child, place);
  }

  #plainMember(key: string, child: Node, place: Place): void {
    if (key === 'intoClause' || key === 'into') {
      if (key === 'intoClause') this.#builder.operation(place, 'CREATE');
      this.#target(child.rel, below(place));
    } else if (key !== 'lockingClause') {
      // FOR UPDATE OF names aliases.
      this.node(child, place);
    }
  }

  #kind(key: string, child: Node, place: Place): void {
    const operations = operationsOf(key, child);
    for (const operation of operations ?? []) this.#builder.operation(place, operation.name, operation);
    if (operations !== null) this.#builder.relations(below(place), postgresStatementRelations(key, child));
    switch (key) {
      case 'SelectStmt':
        this.#select(child, place);
        return;
      case 'InsertStmt':
        this.#insert(child, place);
        return;
      case 'UpdateStmt':
        this.#change(child, place, 'fromClause');
        return;
      case 'DeleteStmt':
        this.#change(child, place, 'usingClause');
        return;
      case 'MergeStmt':
        this.#merge(child, place);
        return;
      case 'ExplainStmt':
        this.node(child.query, below(place, { notRun: place.notRun || !isAnalyzed(child) }));
        return;
      case 'ColumnRef':
        this.#column(child, place);
        return;
      case 'FuncCall':
        this.#call(child, place);
        return;
      case 'RangeFunction':
      case 'RangeTableFunc':
      case 'JsonTable':
        this.#tableFunction(key, child, place);
        return;
      case 'RangeSubselect':
        this.node(child.subquery, place);
        return;
      case 'JoinExpr':
        this.#builder.join();
        this.node(child.larg, place);
        this.node(child.rarg, place);
        this.node(child.quals, { ...place, topFrom: false });
        return;
      case 'AlterTableCmd':
        if (/^AT_Drop(?:Column|Constraint)$/.test(String(child.subtype)))
          this.#builder.operation(place, 'DROP');
        this.node(child, below(place));
        return;
      default:
        // All parts of other statements and expressions are treated alike; they keep their enclosing clause.
        this.node(child, operations === null ? place : below(place));
        return;
    }
  }

  #select(select: Node, place: Place): void {
    const ctes = this.#ctes(select, place);
    const { larg, rarg, op, withClause: _, ...rest } = select;
    if (isNode(larg) && isNode(rarg) && op !== 'SETOP_NONE') {
      this.#builder.setOperation();
      const branch = below(place, { ctes });
      this.#select(larg, branch);
      this.#select(rarg, branch);
      this.node({ sort: rest.sortClause, limit: rest.limitCount, offset: rest.limitOffset }, branch);
      return;
    }
    const inside = below(place, { ctes, depth: place.depth + 1, nested: true });
    if (rest.valuesLists !== undefined) {
      this.node(rest, below(place, { ctes }));
      return;
    }
    const own = { ...inside, topFrom: false, topColumns: place.root };
    this.#builder.operation(place, 'SELECT', { recognised: !isTableCommand(rest) });
    this.#builder.select(place, rowLimitOf(rest, this.#literals), offsetOf(rest, this.#literals));
    const { targetList, fromClause, whereClause, intoClause, lockingClause: __, ...others } = rest;
    this.node(targetList, { ...own, clause: 'select' });
    this.#from(fromClause, { ...own, topFrom: place.root });
    this.node(whereClause, { ...own, clause: 'where' });
    if (isNode(intoClause)) this.#member('intoClause', intoClause, place);
    this.node(others, own);
    if (place.root) this.#filter(whereClause);
  }

  #from(fromClause: unknown, place: Place): void {
    if (Array.isArray(fromClause)) this.#builder.join(fromClause.length - 1);
    this.node(fromClause, place);
  }

  #insert(insert: Node, place: Place): void {
    const ctes = this.#ctes(insert, place);
    const inside = below(place, { ctes });
    this.#target(insert.relation, { ...inside, topFrom: place.root });
    this.node(insert.selectStmt, inside);
    const conflict = insert.onConflictClause;
    if (isNode(conflict)) {
      if (conflict.action === 'ONCONFLICT_UPDATE') this.#builder.operation(place, 'UPDATE');
      this.node(conflict, inside);
    }
    this.node(insert.returningClause, inside);
  }

  /** UPDATE and DELETE. */
  #change(change: Node, place: Place, from: 'fromClause' | 'usingClause'): void {
    const ctes = this.#ctes(change, place);
    const inside = below(place, { ctes });
    const { relation, targetList, whereClause, withClause: _, [from]: sources, ...others } = change;
    this.#target(relation, { ...inside, topFrom: place.root });
    if (Array.isArray(targetList)) {
      for (const item of targetList) this.#assignment(item, inside);
    }
    if (Array.isArray(sources)) this.#builder.join(sources.length);
    this.node(sources, { ...inside, topFrom: place.root });
    this.node(whereClause, { ...inside, clause: 'where' });
    this.node(others, inside);
    if (place.root) this.#filter(whereClause);
  }

  #merge(merge: Node, place: Place): void {
    const ctes = this.#ctes(merge, place);
    const inside = below(place, { ctes });
    this.#builder.join();
    this.#target(merge.relation, { ...inside, topFrom: place.root });
    this.node(merge.sourceRelation, { ...inside, topFrom: place.root });
    this.node(merge.joinCondition, inside);
    for (const item of listOf(merge.mergeWhenClauses)) {
      const clause = member(item, 'MergeWhenClause') ?? {};
      const action = /^CMD_(INSERT|UPDATE|DELETE)$/.exec(String(clause.commandType))?.[1];
      if (action !== undefined) this.#builder.operation(place, action);
      for (const target of listOf(clause.targetList)) this.#assignment(target, inside);
      this.node([clause.condition, clause.values], inside);
    }
    this.node(merge.returningClause, inside);
  }

  #assignment(item: unknown, place: Place): void {
    const target = isNode(item) ? member(item, 'ResTarget') : null;
    if (target === null) return;
    if (typeof target.name === 'string') this.#builder.column(place, target.name);
    this.node([target.indirection, target.val], place);
  }

  /** Reads WITH and returns the scope of the rest. */
  #ctes(statement: Node, place: Place): CteScope | null {
    const clause = statement.withClause;
    if (!isNode(clause)) return place.ctes;
    const tables = listOf(clause.ctes).flatMap((item): Node[] => {
      const table = member(item, 'CommonTableExpr');
      return table === null ? [] : [table];
    });
    const names = new Set<string>();
    const scope: CteScope = { names, outer: place.ctes };
    // Only with RECURSIVE a CTE sees itself and later ones: otherwise the name is that of a real table.
    if (clause.recursive === true) for (const table of tables) names.add(String(table.ctename));
    const depth = place.depth + (isPlainSelect(statement) && statement.op !== undefined ? 1 : 0);
    for (const { ctename, ...rest } of tables) {
      this.node(rest, below(place, { ctes: scope, depth, nested: true }));
      names.add(String(ctename));
    }
    return scope;
  }

  #table(range: Node, place: Place): void {
    const name = String(range.relname);
    const schema = typeof range.schemaname === 'string' ? range.schemaname : null;
    if (schema === null && isCteInScope(place.ctes, name)) return;
    this.#builder.table(place, schema, name, aliasOf(range));
  }

  /** The target of a write is never a CTE. */
  #target(range: unknown, place: Place): void {
    this.node(range, { ...place, ctes: null });
  }

  #column(reference: Node, place: Place): void {
    const name = namesOf(reference.fields).at(-1);
    const last = listOf(reference.fields).at(-1);
    if (name !== undefined && last !== undefined && 'String' in last) this.#builder.column(place, name);
  }

  #call(call: Node, place: Place): void {
    const name = namesOf(call.funcname).at(-1) ?? '';
    const operation = operationOfFunction(name);
    if (operation !== null) this.#builder.operation(place, operation.name, operation);
    this.#builder.relations(below(place), postgresFunctionRelations(name, call));
    const { funcname: _, ...rest } = call;
    this.node(rest, { ...place, topFrom: false });
  }

  /** A table function counts as a table, named by its call. */
  #tableFunction(key: string, range: Node, place: Place): void {
    const calls = key === 'RangeFunction' ? listOf(range.functions) : [];
    if (calls.length === 0) this.#builder.table(place, null, `${key}()`, aliasOf(range));
    for (const item of calls) {
      const first = listOf(member(item, 'List')?.items)[0];
      const call = first === undefined ? null : member(first, 'FuncCall');
      const names = namesOf(call?.funcname);
      const schema = names.length > 1 ? (names.at(-2) ?? null) : null;
      const parameters = listOf(call?.args).map(rendered).join(', ');
      this.#builder.table(place, schema, `${names.at(-1) ?? 'function'}(${parameters})`, aliasOf(range));
    }
    this.node({ ...range, alias: undefined }, { ...place, topFrom: false });
  }

  #filter(where: unknown): void {
    if (isNode(where)) this.#builder.filter(equalityTests(where));
  }
}
