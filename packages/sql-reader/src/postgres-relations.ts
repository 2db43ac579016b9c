/** Relations named by statements and functions of PostgreSQL without a RangeVar in the tree. */
import { member, namesOf } from './postgres-nodes.js';
import { HIDDEN, type NamedRelations, type Relation } from './statement-builder.js';
import { isNode, listOf, type Node } from './tree-node.js';

const NONE: readonly Relation[] = [];

/** Relations that a statement's members name by words; the walk over its parts finds the rest. */
export function postgresStatementRelations(key: string, node: Node): NamedRelations {
  switch (key) {
    case 'DropStmt':
      return listOf(node.objects).flatMap((object) => objectRelation(String(node.removeType), object));
    case 'CommentStmt':
    case 'SecLabelStmt':
    case 'AlterExtensionContentsStmt':
      return isNode(node.object) ? objectRelation(String(node.objtype), node.object) : NONE;
    case 'RenameStmt':
      return /^OBJECT_(?:TABLE|VIEW|MATVIEW|FOREIGN_TABLE)$/.test(String(node.renameType))
        ? relation(null, node.newname)
        : NONE;
    case 'CreateSeqStmt':
    case 'AlterSeqStmt':
      return ownerOf(node);
    case 'GrantStmt':
      // Schemas, or all tables in them, are named by bare words; tables are RangeVars.
      return namesOf(node.objects).map(schemaOf);
    case 'AlterObjectSchemaStmt':
      return typeof node.newschema === 'string' ? [schemaOf(node.newschema)] : NONE;
    case 'CreateSchemaStmt':
      return typeof node.schemaname === 'string' ? [schemaOf(node.schemaname)] : NONE;
    case 'ReindexStmt':
      return node.kind === 'REINDEX_OBJECT_SCHEMA' ? [schemaOf(String(node.name))] : NONE;
    case 'AlterDefaultPrivilegesStmt':
      return options(node, 'schemas')
        .flatMap((list) => namesOf(member(list, 'List')?.items))
        .map(schemaOf);
    case 'CreatePublicationStmt':
    case 'AlterPublicationStmt':
      return publishedBy(node);
    case 'ImportForeignSchemaStmt':
      return node.list_type === 'FDW_IMPORT_SCHEMA_LIMIT_TO' ? NONE : HIDDEN;
    case 'AlterTableMoveAllStmt':
    case 'DropOwnedStmt':
    case 'ReassignOwnedStmt':
    case 'CreateSubscriptionStmt':
    case 'AlterSubscriptionStmt':
      return HIDDEN;
    default:
      return NONE;
  }
}

/** Functions that return the content of the table named by their first argument. */
const READS_TABLE = /^(?:table_to_xml(?:_and_xmlschema)?|get_raw_page)$/;
/** Functions that return the content of tables not named in the text. */
const READS_TABLES =
  /^(?:(?:schema|database|cursor)_to_xml(?:_and_xmlschema)?|pg_logical_slot_(?:get|peek)_.*|(?:bt|gist|hash|brin)_page_items.*)$/;
const PLAIN_NAME = /^(?:([a-z_][a-z0-9_]*)\.)?([a-z_][a-z0-9_]*)$/i;

/** Relations read by calling a function, by its name in the tree. */
export function postgresFunctionRelations(name: string, call: Node): NamedRelations {
  if (READS_TABLES.test(name)) return HIDDEN;
  if (!READS_TABLE.test(name)) return NONE;
  const [first = {}] = listOf(call.args);
  const cast = member(first, 'TypeCast')?.arg;
  const argument = member(isNode(cast) ? cast : first, 'A_Const');
  const text = isNode(argument?.sval) ? String(argument.sval.sval ?? '') : '';
  const [, schema, table] = PLAIN_NAME.exec(text) ?? [];
  return table === undefined ? HIDDEN : relation(schema?.toLowerCase() ?? null, table.toLowerCase());
}

function objectRelation(kind: string, object: Node): readonly Relation[] {
  const list = member(object, 'List');
  if (kind === 'OBJECT_SCHEMA') {
    const name = member(object, 'String')?.sval ?? namesOf(list?.items).at(-1);
    return typeof name === 'string' ? [schemaOf(name)] : NONE;
  }
  const names = namesOf(list?.items);
  // A column, trigger, rule, policy or constraint is the last name, after that of its table.
  if (/^OBJECT_(?:COLUMN|TRIGGER|RULE|POLICY|TABCONSTRAINT)$/.test(kind)) names.pop();
  else if (!/^OBJECT_(?:TABLE|VIEW|MATVIEW|FOREIGN_TABLE|SEQUENCE|INDEX)$/.test(kind)) return NONE;
  return relation(names.at(-2) ?? null, names.at(-1));
}

/** The table whose column a sequence belongs to. */
function ownerOf(sequence: Node): readonly Relation[] {
  return options(sequence, 'owned_by').flatMap((list) => {
    const names = namesOf(member(list, 'List')?.items);
    return names.length > 1 ? relation(names.at(-3) ?? null, names.at(-2)) : NONE;
  });
}

function publishedBy(publication: Node): NamedRelations {
  if (publication.for_all_tables === true) return HIDDEN;
  const found: Relation[] = [];
  for (const item of listOf(publication.pubobjects)) {
    const object = member(item, 'PublicationObjSpec');
    if (object?.pubobjtype === 'PUBLICATIONOBJ_TABLES_IN_CUR_SCHEMA') return HIDDEN;
    if (object?.pubobjtype === 'PUBLICATIONOBJ_TABLES_IN_SCHEMA') found.push(schemaOf(String(object.name)));
  }
  return found;
}

/** The arguments of the options named `name`. */
function options(node: Node, name: string): Node[] {
  return listOf(node.options).flatMap((option) => {
    const element = member(option, 'DefElem');
    return element?.defname === name && isNode(element.arg) ? [element.arg] : [];
  });
}

const schemaOf = (schema: string): Relation => ({ schema, table: '' });

function relation(schema: string | null, table: unknown): readonly Relation[] {
  return typeof table === 'string' ? [{ schema, table }] : NONE;
}
