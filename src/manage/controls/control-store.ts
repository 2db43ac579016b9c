import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import { insertRows, tableOf } from '../../storage/database/insert-rows.js';
import type { Page } from '../../storage/database/page.js';
import { columns, nullable, number, type ReadRow } from '../../storage/database/rows.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { isStorable } from '../../storage/database/text.js';
import {
  definitionColumns,
  ID,
  indexColumns,
  NEW,
  newColumns,
  newRow,
  SET_WRITTEN,
  storable,
  WRITTEN,
} from './control-columns.js';
import { insertAllFacets, insertFacets, ofTable } from './control-facet-rows.js';
import type { ControlFilters } from './control-filters.js';
import { controlPage } from './control-page.js';
import { type ControlChange, type ControlRow, type NewControl, toControlRow } from './control-row.js';
import { type ControlEnds, createControlVersionStore, NO_VERSION } from './control-version-store.js';

export type { ControlFacet, ControlFilters } from './control-filters.js';
export {
  type ControlChange,
  type ControlColumns,
  type ControlRow,
  type NewControl,
  toControlRow,
} from './control-row.js';

/** A control of a list. */
export type ListedControlRow = ControlRow & ControlEnds;

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
        const row = await client.control.create({ data: newRow(namespace, control) });
        await insertFacets(client, row.id, facets);
        return toControlRow(row);
      }),

    /** The same for many controls with different names. */
    insertAll: (controls: readonly NewControl[]): Promise<ControlRow[]> =>
      withServiceErrors(async () => {
        const columns = controls.map((control) => newColumns(namespace, control));
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
      (await removeControls(scope, [id], deletedAtMs)) > 0,

    /** The same for many controls; returns the number of those that are known. */
    removeAll: (ids: readonly number[], deletedAtMs: number) => removeControls(scope, ids, deletedAtMs),

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

/** Marks controls as deleted, and returns how many there were. */
function removeControls(
  { client, namespace }: Scoped,
  ids: readonly number[],
  deletedAtMs: number,
): Promise<number> {
  const of = { namespace: namespace.name };
  return withServiceErrors(async () => {
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
}
