import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import { insertRows, type RowOf, tableOf } from '../../storage/database/insert-rows.js';
import type { Page } from '../../storage/database/page.js';
import { columns, nullable, number, type ReadRow } from '../../storage/database/rows.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { assertStorable, hashText, isStorable } from '../../storage/database/text.js';
import type { ControlFacet, ControlFilters } from './control-filters.js';
import { controlPage } from './control-page.js';
import { type ControlEnds, createControlVersionStore, NO_VERSION } from './control-version-store.js';

export type { ControlFacet, ControlFilters } from './control-filters.js';

/** Columns stored so that lists can be filtered without reading definitions. */
export interface ControlColumns {
  readonly enabled: boolean;
  readonly execution: string | null;
  readonly templateBacked: boolean;
  /** Null when the control is not made from a template. */
  readonly templateRendered: boolean | null;
  readonly restrictsStepTypes: boolean;
  readonly restrictsStages: boolean;
  /** JSON text of the pattern of step names; null without one. */
  readonly stepNamePattern: string | null;
}

/** A control of a list. */
export type ListedControlRow = ControlRow & ControlEnds;

/** A stored control. */
export interface ControlRow extends ControlColumns {
  readonly id: number;
  readonly name: string;
  /** JSON text of the definition. */
  readonly data: string;
  /** The control that this one is a clone of; null if it is none. */
  readonly clonedFromId: number | null;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  /** Milliseconds since the epoch. */
  readonly updatedAtMs: number;
}

/** A control to be stored. */
export interface NewControl extends Omit<ControlRow, 'id'> {
  readonly facets: readonly ControlFacet[];
}

/** Changes of a control; absent members are unchanged. Given facets replace all former ones. */
export type ControlChange = Partial<Omit<NewControl, 'clonedFromId' | 'createdAtMs' | 'updatedAtMs'>> & {
  readonly updatedAtMs: number;
};

const ACTIVITY = columns({
  lastMatchedS: nullable(number),
  lastDeniedS: nullable(number),
  lastFailedS: nullable(number),
});

/** When a control last did something, in seconds since the epoch; null if it never did. */
export type ControlActivity = ReadRow<typeof ACTIVITY>;

const MIN_ID = -(2 ** 31);
const MAX_ID = 2 ** 31 - 1;

/**
 * Stored controls of a namespace. Deleted ones remain stored for their history, but no method finds them. Writing needs the
 * client of a mutation. Every method rejects with a `ServiceError` only.
 */
export function createControlStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  const newRow = (control: Omit<NewControl, 'facets'>) => {
    const { name, data, clonedFromId, createdAtMs, updatedAtMs } = control;
    return {
      name: storable(name),
      liveName: namespace.keyOf(name),
      ...of,
      clonedFromId,
      data: storable(data),
      ...indexColumns(control),
      createdAtMs: BigInt(createdAtMs),
      updatedAtMs: BigInt(updatedAtMs),
    };
  };
  const newColumns = (control: NewControl): RowOf<typeof NEW> => ({
    name: storable(control.name),
    live_name: namespace.keyOf(control.name),
    namespace: namespace.name,
    cloned_from_id: control.clonedFromId,
    ...definitionColumns(control),
    created_at_ms: BigInt(control.createdAtMs),
  });
  const removeAll = (ids: readonly number[], deletedAtMs: number): Promise<number> =>
    withServiceErrors(async () => {
      const counts = await inPortions(ids, async (portion) => {
        const { count } = await client.control.updateMany({
          where: { id: { in: portion }, deletedAtMs: null, ...of },
          data: { deletedAtMs: BigInt(deletedAtMs), liveName: null },
        });
        const ofControls = { where: { controlId: { in: portion }, control: of } };
        await client.controlFacet.deleteMany(ofControls);
        await client.agentControl.deleteMany(ofControls);
        await client.policyControl.deleteMany(ofControls);
        await client.controlShadow.deleteMany({ where: { controlId: { in: portion }, ...of } });
        return [count];
      });
      return counts.reduce((sum, count) => sum + count, 0);
    });
  return {
    find: (id: number): Promise<ControlRow | null> =>
      withServiceErrors(async () => {
        if (!Number.isInteger(id) || id < MIN_ID || id > MAX_ID) return null;
        const row = await client.control.findUnique({ where: { id, deletedAtMs: null, ...of } });
        return row === null ? null : toControlRow(row);
      }),

    findByName: (name: string): Promise<ControlRow | null> =>
      withServiceErrors(async () => {
        if (!isStorable(name)) return null;
        const row = await client.control.findUnique({ where: { liveName: namespace.keyOf(name), ...of } });
        return row === null ? null : toControlRow(row);
      }),

    /** The names of controls; one that is not found is absent. */
    namesOf: (ids: readonly number[]): Promise<Map<number, string>> =>
      withServiceErrors(async () => {
        const where = { id: { in: [...ids] }, deletedAtMs: null, ...of };
        const rows = await client.control.findMany({ where, select: { id: true, name: true } });
        return new Map(rows.map(({ id, name }) => [id, name]));
      }),

    /** The name must be free. */
    insert: ({ facets, ...control }: NewControl): Promise<ControlRow> =>
      withServiceErrors(async () => {
        const row = await client.control.create({ data: newRow(control) });
        await insertFacets(client, row.id, facets);
        return toControlRow(row);
      }),

    /** The same for many controls with different names. */
    insertAll: (controls: readonly NewControl[]): Promise<ControlRow[]> =>
      withServiceErrors(async () => {
        const columns = controls.map(newColumns);
        const returned = Prisma.sql`RETURNING "id", "name"`;
        type Returned = { readonly id: bigint | number; readonly name: string };
        const inserted = await insertRows<typeof NEW, Returned>(client, 'controls', NEW, columns, returned);
        const ids = new Map(inserted.map(({ id, name }) => [name, Number(id)]));
        const rows = controls.map((row) => ({ ...row, id: ids.get(row.name) ?? 0 }));
        await insertAllFacets(scope, rows);
        return rows.map(({ facets: _, ...row }) => row);
      }),

    /** The control must exist, and a new name must be free. */
    update: (id: number, { facets, ...change }: ControlChange): Promise<void> =>
      withServiceErrors(async () => {
        const { name, data, updatedAtMs } = change;
        await client.control.update({
          where: { id, deletedAtMs: null, ...of },
          data: {
            ...(name === undefined ? {} : { name: storable(name), liveName: namespace.keyOf(name) }),
            ...(data === undefined ? {} : { data: storable(data) }),
            ...indexColumns(change),
            updatedAtMs: BigInt(updatedAtMs),
          },
          select: { id: true },
        });
        if (facets === undefined) return;
        await client.controlFacet.deleteMany({ where: { controlId: id } });
        await insertFacets(client, id, facets);
      }),

    /** Writes the definitions of many controls, each once; names stay. Unknown ones are left out. */
    updateAll: (
      controls: readonly (Omit<ControlRow, 'name'> & Pick<NewControl, 'facets'>)[],
    ): Promise<void> =>
      withServiceErrors(async () => {
        await inPortions(controls, async (portion) => {
          const rows = tableOf(
            WRITTEN,
            portion.map((row) => ({ id: row.id, ...definitionColumns(row) })),
          );
          await client.$executeRaw`
            UPDATE "controls" SET ${SET_WRITTEN} FROM ${rows} AS w WHERE ${ofTable('controls', scope)}`;
          await client.$executeRaw`
            DELETE FROM "control_facets" WHERE "control_id" IN (
              SELECT c."id" FROM ${tableOf(ID, portion)} AS w JOIN "controls" c ON ${ofTable('c', scope)})`;
          return [];
        });
        await insertAllFacets(scope, controls);
      }),

    /**
     * Marks a control as deleted and removes its facets, links, policy entries and shadow. False if it is unknown.
     */
    remove: async (id: number, deletedAtMs: number): Promise<boolean> =>
      (await removeAll([id], deletedAtMs)) > 0,

    /** The same for many controls; returns the number of those that are known. */
    removeAll,

    /**
     * One page in the order of the filters, with versions that are at most too low, when something changes meanwhile.
     */
    list: (filters: ControlFilters): Promise<Page<ListedControlRow>> =>
      withServiceErrors(() =>
        controlPage(scope, filters, async (ids) => {
          const ends = await createControlVersionStore(scope).ends(ids);
          const rows = await client.control.findMany({
            where: { id: { in: ids }, deletedAtMs: null, ...of },
          });
          return rows.map((row) => ({ ...toControlRow(row), ...(ends.get(row.id) ?? NO_VERSION) }));
        }),
      ),

    /** When controls last did something, in seconds since the epoch; a control that never did is absent. */
    activity: (ids: readonly number[]): Promise<Map<number, ControlActivity>> =>
      withServiceErrors(async () => {
        const controls = await client.control.findMany({
          where: { id: { in: [...ids] }, ...of },
          select: { id: true },
        });
        const own = controls.map(({ id }) => id);
        const rows = await client.controlActivity.findMany({ where: { controlId: { in: own } } });
        return new Map(rows.map((row) => [row.controlId, ACTIVITY.of(row)]));
      }),
  };
}

/** Only the index columns; absent ones stay absent. */
function indexColumns<Columns extends Partial<ControlColumns>>(columns: Columns) {
  const { enabled, execution, templateBacked, templateRendered, stepNamePattern } = columns;
  const { restrictsStepTypes, restrictsStages } = columns;
  if (execution) assertStorable(execution);
  const restricts = { restrictsStepTypes, restrictsStages, stepNamePattern };
  const given = { enabled, execution, templateBacked, templateRendered, ...restricts };
  // Prisma treats an undefined member as absent, and types cannot distinguish the two here.
  return given as Pick<Columns, keyof ControlColumns>;
}

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
const ID = { id: 'INTEGER' } as const;
const WRITTEN = { ...ID, ...DEFINITION } as const;
const NEW = {
  name: 'TEXT',
  live_name: 'TEXT',
  namespace: 'TEXT',
  cloned_from_id: 'INTEGER',
  ...DEFINITION,
  created_at_ms: 'BIGINT',
} as const;
const FACET = { ...ID, kind: 'TEXT', hash: 'TEXT' } as const;
const SET_WRITTEN = Prisma.raw(
  Object.keys(DEFINITION)
    .map((name) => `"${name}" = w."${name}"`)
    .join(', '),
);

function definitionColumns(row: Omit<ControlRow, 'id' | 'name'>): RowOf<typeof DEFINITION> {
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

/** A condition that a row of `w` is one of a living control of the namespace. */
function ofTable(alias: string, scope: Scoped): Prisma.Sql {
  const of = (column: string) => Prisma.raw(`"${alias}"."${column}"`);
  return Prisma.sql`${of('id')} = w."id" AND ${inNamespace(alias, scope)} AND ${of('deleted_at_ms')} IS NULL`;
}

function storable(text: string): string {
  assertStorable(text);
  return text;
}

/** Those of unknown controls are left out. */
async function insertAllFacets(
  scope: Scoped,
  controls: readonly Pick<NewControl & ControlRow, 'id' | 'facets'>[],
): Promise<void> {
  const rows = controls.flatMap(({ id, facets }) =>
    facetRows(id, facets).map(({ kind, hash }) => ({ id, kind, hash })),
  );
  await inPortions(
    rows,
    (portion) => scope.client.$queryRaw<never[]>`
      INSERT INTO "control_facets" ("control_id", "kind", "hash") SELECT w."id", w."kind", w."hash"
      FROM ${tableOf(FACET, portion)} AS w JOIN "controls" c ON ${ofTable('c', scope)}`,
  );
}

async function insertFacets(
  client: DbClient,
  controlId: number,
  facets: readonly ControlFacet[],
): Promise<void> {
  const rows = facetRows(controlId, facets);
  if (rows.length > 0) await client.controlFacet.createMany({ data: rows });
}

function facetRows(controlId: number, facets: readonly ControlFacet[]): Prisma.ControlFacetCreateManyInput[] {
  const rows = new Map<string, Prisma.ControlFacetCreateManyInput>();
  for (const { kind, value } of facets) {
    const hash = hashText(value);
    rows.set(`${kind} ${hash}`, { controlId, kind, hash });
  }
  return [...rows.values()];
}

type StoredControl = Prisma.ControlGetPayload<Record<never, never>>;

/** A row of a control that is not deleted, with times as numbers. */
export function toControlRow(stored: StoredControl): ControlRow {
  const { createdAtMs, updatedAtMs, ...others } = stored;
  const { liveName: _liveName, deletedAtMs: _deletedAtMs, namespace: _namespace, ...row } = others;
  return { ...row, createdAtMs: Number(createdAtMs), updatedAtMs: Number(updatedAtMs) };
}
