/** Functions that Oracle calls without brackets: `pkg.wipe`, `seq.NEXTVAL`, and a name beside a table without columns. */
import { identifiers } from './general-nodes.js';
import type { UsesBuilder } from './statement-builder.js';
import { isNode, listOf } from './tree-node.js';
import { wordSet } from './word-set.js';

/** Names without a table that are known, besides the column of DUAL. */
const PSEUDO_COLUMNS = wordSet(
  'DUMMY SYSDATE SYSTIMESTAMP CURRENT_DATE CURRENT_TIMESTAMP LOCALTIMESTAMP SESSIONTIMEZONE DBTIMEZONE USER UID ' +
    'ROWNUM ROWID LEVEL CONNECT_BY_ISLEAF CONNECT_BY_ISCYCLE ORA_ROWSCN COLUMN_VALUE OBJECT_VALUE NULL TRUE FALSE DEFAULT',
);

interface Names {
  /** Tables, aliases of tables and columns, and names of CTEs: what a column can be qualified with. */
  readonly known: Set<string>;
  readonly tables: Set<string>;
  readonly compound: string[][];
  readonly bare: Set<string>;
}

/**
 * Adds the functions that are told from columns by their place: one whose qualifier is no table of the statement, a
 * sequence that is advanced, and a bare name where every table is DUAL. A bare name beside other tables may be a column.
 */
export function packageUses(tree: unknown, uses: UsesBuilder): void {
  const names: Names = { known: new Set(), tables: new Set(), compound: [], bare: new Set() };
  collect(tree, names);
  for (const parts of names.compound) {
    const last = parts.at(-1) ?? '';
    if (last === 'NEXTVAL' || last === 'CURRVAL' || !names.known.has(parts.at(-2) ?? '')) {
      uses.add(
        'function',
        parts.map((part) => part.toLowerCase()),
      );
    }
  }
  // Columns of a statement that writes are bare names, too.
  if (!isNode(tree) || !('Query' in tree) || [...names.tables].some((table) => table !== 'DUAL')) return;
  for (const name of names.bare) {
    if (!names.known.has(name) && !PSEUDO_COLUMNS.has(name) && !name.startsWith(':')) {
      uses.add('function', name.toLowerCase());
    }
  }
}

function collect(value: unknown, names: Names): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, names);
    return;
  }
  if (!isNode(value)) return;
  for (const [key, child] of Object.entries(value)) {
    if (!isNode(child)) continue;
    if (key === 'CompoundIdentifier')
      names.compound.push(listOf(child).map(({ value: name }) => upper(name)));
    else if (key === 'Identifier') names.bare.add(upper(child.value));
    else if (key === 'alias') {
      names.known.add(upper(isNode(child.name) ? child.name.value : child.value));
      for (const column of listOf(child.columns)) {
        if (isNode(column.name)) names.known.add(upper(column.name.value));
      }
    } else {
      if (key === 'Table' && 'name' in child) {
        const table = upper(identifiers(child.name).at(-1)?.value);
        names.tables.add(table);
        names.known.add(table);
      }
      // Names of tables, functions and types are wrapped like columns.
      const { name: _, data_type: __, ...rest } = child as Record<string, unknown>;
      collect(Array.isArray(child) ? child : rest, names);
    }
  }
}

const upper = (name: unknown): string => String(name ?? '').toUpperCase();
