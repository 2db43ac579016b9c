import type { Prisma } from '../../gen/prisma/sqlite/client.js';
import type { DbClient } from '../database/database.js';
import { withServiceErrors } from '../database/errors.js';
import type { Page } from '../database/page.js';
import type { Scoped } from '../database/scoped.js';
import { assertStorable, hashText, isStorable } from '../database/text.js';
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

/** When a control last did something, in seconds since the epoch; null if it never did. */
export interface ControlActivity {
  readonly lastMatchedS: number | null;
  readonly lastDeniedS: number | null;
  readonly lastFailedS: number | null;
}

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

    /** The name must be free. */
    insert: ({ facets, ...control }: NewControl): Promise<ControlRow> =>
      withServiceErrors(async () => {
        const { name, data, clonedFromId, createdAtMs, updatedAtMs } = control;
        const row = await client.control.create({
          data: {
            name: storable(name),
            liveName: namespace.keyOf(name),
            ...of,
            clonedFromId,
            data: storable(data),
            ...indexColumns(control),
            createdAtMs: BigInt(createdAtMs),
            updatedAtMs: BigInt(updatedAtMs),
          },
        });
        await insertFacets(client, row.id, facets);
        return toControlRow(row);
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

    /**
     * Marks a control as deleted and removes its facets, links and policy entries. False if it is unknown.
     */
    remove: (id: number, deletedAtMs: number): Promise<boolean> =>
      withServiceErrors(async () => {
        const { count } = await client.control.updateMany({
          where: { id, deletedAtMs: null, ...of },
          data: { deletedAtMs: BigInt(deletedAtMs), liveName: null },
        });
        const ofControl = { where: { controlId: id, control: of } };
        await client.controlFacet.deleteMany(ofControl);
        await client.agentControl.deleteMany(ofControl);
        await client.policyControl.deleteMany(ofControl);
        return count > 0;
      }),

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
        return new Map(
          rows.map(({ controlId, lastMatchedS, lastDeniedS, lastFailedS }) => [
            controlId,
            {
              lastMatchedS: numberOrNull(lastMatchedS),
              lastDeniedS: numberOrNull(lastDeniedS),
              lastFailedS: numberOrNull(lastFailedS),
            },
          ]),
        );
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

function numberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}

function storable(text: string): string {
  assertStorable(text);
  return text;
}

async function insertFacets(
  client: DbClient,
  controlId: number,
  facets: readonly ControlFacet[],
): Promise<void> {
  const rows = new Map<string, Prisma.ControlFacetCreateManyInput>();
  for (const { kind, value } of facets) {
    const hash = hashText(value);
    rows.set(`${kind} ${hash}`, { controlId, kind, hash });
  }
  if (rows.size > 0) await client.controlFacet.createMany({ data: [...rows.values()] });
}

type StoredControl = Prisma.ControlGetPayload<Record<never, never>>;

/** A row of a control that is not deleted, with times as numbers. */
export function toControlRow(stored: StoredControl): ControlRow {
  const { createdAtMs, updatedAtMs, ...others } = stored;
  const { liveName: _liveName, deletedAtMs: _deletedAtMs, namespace: _namespace, ...row } = others;
  return { ...row, createdAtMs: Number(createdAtMs), updatedAtMs: Number(updatedAtMs) };
}
