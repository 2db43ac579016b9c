import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { Namespace } from '../../contract/call/namespace.js';
import type { RowOf } from '../../storage/database/insert-rows.js';
import { assertStorable } from '../../storage/database/text.js';
import type { ControlColumns, ControlRow, NewControl } from './control-row.js';

/** Columns that a definition decides. */
const DEFINITION = {
  data: 'TEXT',
  enabled: 'BOOLEAN',
  execution: 'TEXT',
  template_backed: 'BOOLEAN',
  template_rendered: 'BOOLEAN',
  restricts_step_types: 'BOOLEAN',
  restricts_stages: 'BOOLEAN',
  step_name_pattern: 'TEXT',
  updated_at_ms: 'BIGINT',
} as const;
export const ID = { id: 'INTEGER' } as const;
export const WRITTEN = { ...ID, ...DEFINITION } as const;
export const NEW = {
  name: 'TEXT',
  live_name: 'TEXT',
  namespace: 'TEXT',
  cloned_from_id: 'INTEGER',
  ...DEFINITION,
  created_at_ms: 'BIGINT',
} as const;
export const SET_WRITTEN = Prisma.raw(
  Object.keys(DEFINITION)
    .map((name) => `"${name}" = w."${name}"`)
    .join(', '),
);

/** The row of a new control. */
export function newRow(namespace: Namespace, control: Omit<NewControl, 'facets'>) {
  const { name, data, clonedFromId, createdAtMs, updatedAtMs } = control;
  return {
    name: storable(name),
    liveName: namespace.keyOf(name),
    namespace: namespace.name,
    clonedFromId,
    data: storable(data),
    ...indexColumns(control),
    createdAtMs: BigInt(createdAtMs),
    updatedAtMs: BigInt(updatedAtMs),
  };
}

/** The same for many rows in one statement. */
export function newColumns(namespace: Namespace, control: NewControl): RowOf<typeof NEW> {
  return {
    name: storable(control.name),
    live_name: namespace.keyOf(control.name),
    namespace: namespace.name,
    cloned_from_id: control.clonedFromId,
    ...definitionColumns(control),
    created_at_ms: BigInt(control.createdAtMs),
  };
}

/** Only the index columns; absent ones stay absent. */
export function indexColumns<Columns extends Partial<ControlColumns>>(columns: Columns) {
  const { enabled, execution, templateBacked, templateRendered, stepNamePattern } = columns;
  const { restrictsStepTypes, restrictsStages } = columns;
  if (execution) assertStorable(execution);
  const restricts = { restrictsStepTypes, restrictsStages, stepNamePattern };
  const given = { enabled, execution, templateBacked, templateRendered, ...restricts };
  // Prisma treats an undefined member as absent, and types cannot distinguish the two here.
  return given as Pick<Columns, keyof ControlColumns>;
}

export function definitionColumns(row: Omit<ControlRow, 'id' | 'name'>): RowOf<typeof DEFINITION> {
  return {
    data: storable(row.data),
    enabled: row.enabled,
    execution: row.execution,
    template_backed: row.templateBacked,
    template_rendered: row.templateRendered,
    restricts_step_types: row.restrictsStepTypes,
    restricts_stages: row.restrictsStages,
    step_name_pattern: row.stepNamePattern,
    updated_at_ms: BigInt(row.updatedAtMs),
  };
}

export function storable(text: string): string {
  assertStorable(text);
  return text;
}
