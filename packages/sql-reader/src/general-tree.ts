/** Reads the tree of the general parser (sqlparser-rs; node names as in its `ast` module) into the model. */
import {
  isObjectName,
  isPlainQuery,
  isQuery,
  NAME_MEMBERS,
  NAMED_AFTER_TABLE,
  TABLE_MEMBERS,
  variant,
} from './general-nodes.js';
import { statementOperations } from './general-operations.js';
import { GeneralQueries } from './general-queries.js';
import { generalStatementRelations } from './general-relations.js';
import type { GeneralTreeOptions } from './general-texts.js';
import { generalUses } from './general-uses.js';
import type { Statement } from './model.js';
import { below, type Place, rootPlace, StatementBuilder } from './statement-builder.js';
import { isNode, listOf, type Node } from './tree-node.js';

/** Reads the tree of one statement. */
export function readGeneralStatement(tree: unknown, options: GeneralTreeOptions): Statement {
  const builder = new StatementBuilder();
  const walk = new Statements(builder, options);
  walk.statement(tree, rootPlace(isPlainQuery(tree)));
  return builder.build(generalUses(tree, options.dialect));
}

class Statements extends GeneralQueries {
  override statement(tree: unknown, place: Place): void {
    const [key, body] = variant(tree);
    const node = isNode(body) ? body : {};
    for (const { name, ...more } of statementOperations(key, node, this.options.dialect)) {
      this.builder.operation(place, name, more);
    }
    const { dialect } = this.options;
    this.builder.relations(below(place), generalStatementRelations(key, node, dialect, this.read));
    switch (key) {
      case 'Query':
        this.query(node, place);
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
        if (NAMED_AFTER_TABLE.has(key)) this.table(node.name, place);
        if (
          key === 'AlterTable' &&
          /"Drop(?:Column|Constraint)"/.test(JSON.stringify(node.operations) ?? '')
        ) {
          this.builder.operation(place, 'DROP');
        }
        this.parts(body, below(place));
        return;
    }
  }

  protected override parts(value: unknown, place: Place): void {
    if (Array.isArray(value)) {
      for (const item of value) this.parts(item, place);
      return;
    }
    if (!isNode(value)) return;
    if (isQuery(value)) {
      this.query(value, place);
      return;
    }
    for (const [key, child] of Object.entries(value)) {
      if (key === 'statement') this.statement(child, place);
      else if (key === 'statements' && Array.isArray(child)) {
        for (const item of child) this.statement(item, place);
      } else if (TABLE_MEMBERS.has(key)) this.#tables(child, place);
      else if (key === 'Function') this.call(child, place);
      else if (!NAME_MEMBERS.has(key) || !isObjectName(child)) this.parts(child, place);
    }
  }

  /** Tables in a list, or in members of its items. */
  #tables(value: unknown, place: Place): void {
    if (isObjectName(value)) {
      this.table(value, place);
      return;
    }
    if (Array.isArray(value)) for (const item of value) this.#tables(item, place);
    else if (isNode(value)) {
      if (typeof value.value === 'string') this.table([{ Identifier: value }], place);
      else for (const child of Object.values(value)) this.#tables(child, place);
    }
  }

  #insert(insert: Node, place: Place): void {
    const inside = below(place);
    const overwrites = insert.replace_into === true || insert.or === 'Replace';
    if (overwrites) this.builder.operation(place, 'DELETE', { also: ['REPLACE'] });
    const on = JSON.stringify(insert.on ?? null);
    if (/"(?:DuplicateKeyUpdate|DoUpdate)"/.test(on)) this.builder.operation(place, 'UPDATE');
    const [, target] = variant(insert.table);
    this.#tables(target, { ...inside, topFrom: place.root });
    this.expression([insert.source, insert.on, insert.returning, insert.assignments], inside);
    this.parts(insert.multi_table_into_clauses, inside);
  }

  #update(update: Node, place: Place): void {
    const inside = below(place);
    if (isNode(update.table)) this.#target(update.table, { ...inside, topFrom: place.root });
    for (const { target, value } of listOf(update.assignments)) {
      const [, name] = variant(target);
      const column = this.names(name).at(-1);
      if (column !== undefined) this.builder.column(inside, column);
      this.expression(value, inside);
    }
    const from = variant(update.from)[1];
    this.builder.join(listOf(from).length);
    for (const item of listOf(from)) this.joined(item, { ...inside, topFrom: place.root });
    this.expression(update.selection, { ...inside, clause: 'where' });
    this.expression([update.returning, update.output, update.limit, update.order_by], inside);
    if (place.root) this.filter(update.selection);
  }

  #delete(statement: Node, place: Place): void {
    const inside = { ...below(place), topFrom: place.root };
    const from = listOf(variant(statement.from)[1]);
    this.builder.join(from.length - 1);
    // With several tables FROM is read, and those before it are only named.
    for (const item of from) this.#target(item, inside);
    const using = listOf(statement.using);
    this.builder.join(using.length);
    for (const item of using) this.joined(item, inside);
    this.expression(statement.selection, { ...below(place), clause: 'where' });
    this.expression(
      [statement.returning, statement.output, statement.order_by, statement.limit],
      below(place),
    );
    if (place.root) this.filter(statement.selection);
  }

  #merge(merge: Node, place: Place): void {
    const inside = below(place);
    this.builder.join();
    this.#target({ relation: merge.table }, { ...inside, topFrom: place.root });
    this.factor(merge.source, { ...inside, topFrom: place.root });
    this.expression([merge.on, merge.output], inside);
    for (const clause of listOf(merge.clauses)) {
      const [action] = variant(clause.action);
      if (/^(?:Insert|Update|Delete)$/.test(action)) this.builder.operation(place, action.toUpperCase());
      this.expression(clause, inside);
    }
  }

  #drop(drop: Node, place: Place): void {
    const kind = String(drop.object_type);
    for (const name of Array.isArray(drop.names) ? drop.names : []) {
      const names = this.names(name);
      if (kind === 'Schema' || kind === 'Database') this.builder.table(place, names.at(-1) ?? '', '');
      else if (/^(?:Table|View|MaterializedView|Index|Sequence)$/.test(kind)) this.table(name, place);
    }
  }

  /** The first target table is always a real one; T-SQL also writes through CTEs. */
  #target(item: Node, place: Place): void {
    const throughCtes = this.options.dialect === 'tsql';
    this.factor(item.relation, throughCtes ? place : { ...place, ctes: null });
    this.joined({ joins: item.joins }, place);
  }
}
