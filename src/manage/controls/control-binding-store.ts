import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { TargetName } from '../../contract/call/namespace.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { inPortions } from '../../storage/database/in-portions.js';
import { findPage, newestFirst, type Page, type PageAsked } from '../../storage/database/page.js';
import { isRowId } from '../../storage/database/row-id.js';
import { columns, flag, number, type ReadRow, text } from '../../storage/database/rows.js';
import { inNamespace, type Scoped } from '../../storage/database/scoped.js';
import { FALSE, isStorable } from '../../storage/database/text.js';

const BINDING = columns({
  id: number,
  targetType: text,
  targetId: text,
  controlId: number,
  enabled: flag,
  /** Milliseconds since the epoch. */
  createdAtMs: number,
  /** Milliseconds since the epoch. */
  updatedAtMs: number,
});

/** A control that is bound to a target. */
export type BindingRow = ReadRow<typeof BINDING>;

/** Filters of a list of bindings. Null means no filter. */
export interface BindingFilters extends PageAsked<number> {
  readonly targetType: string | null;
  readonly targetId: string | null;
  readonly controlId: number | null;
}

/** The bindings of a namespace. Writing needs the client of a mutation. Rejects with a `ServiceError` only. */
export function createControlBindingStore(scope: Scoped) {
  const { client, namespace } = scope;
  const of = { namespace: namespace.name };
  const removeOfAll = (controlIds: readonly number[]): Promise<void> =>
    withServiceErrors(async () => {
      await inPortions(controlIds, async (portion) => {
        await client.controlBinding.deleteMany({ where: { controlId: { in: portion }, ...of } });
        return [];
      });
    });
  return {
    /** Null also for a number that cannot be the id of a binding. */
    find: (id: number): Promise<BindingRow | null> =>
      withServiceErrors(async () => {
        const row = isRowId(id) ? await client.controlBinding.findUnique({ where: { id, ...of } }) : null;
        return row === null ? null : BINDING.of(row);
      }),

    /** The binding of a control to a target. */
    findByKey: ({ type, id }: TargetName, controlId: number): Promise<BindingRow | null> =>
      withServiceErrors(async () => {
        if (!isRowId(controlId) || !isStorable(type) || !isStorable(id)) return null;
        const row = await client.controlBinding.findUnique({
          where: {
            namespace_targetType_targetId_controlId: { ...of, targetType: type, targetId: id, controlId },
          },
        });
        return row === null ? null : BINDING.of(row);
      }),

    /** The control must exist in the namespace, and not be bound to the target yet. */
    insert: (
      { type, id }: TargetName,
      controlId: number,
      enabled: boolean,
      nowMs: number,
    ): Promise<BindingRow> =>
      withServiceErrors(async () => {
        const own = { id: controlId, deletedAtMs: null, ...of };
        await client.control.findUniqueOrThrow({ where: own, select: { id: true } });
        const at = BigInt(nowMs);
        const times = { createdAtMs: at, updatedAtMs: at };
        const target = { targetType: type, targetId: id };
        const row = await client.controlBinding.create({
          data: { ...of, ...target, controlId, enabled, ...times },
        });
        return BINDING.of(row);
      }),

    /** The binding must exist. */
    setEnabled: (id: number, enabled: boolean, nowMs: number): Promise<void> =>
      withServiceErrors(async () => {
        const data = { enabled, updatedAtMs: BigInt(nowMs) };
        await client.controlBinding.update({ where: { id, ...of }, data, select: { id: true } });
      }),

    /** The binding must exist. */
    remove: (id: number): Promise<void> =>
      withServiceErrors(async () => {
        await client.controlBinding.delete({ where: { id, ...of }, select: { id: true } });
      }),

    /** The ids of the bindings of a control, ascending. */
    idsOf: (controlId: number): Promise<number[]> =>
      withServiceErrors(async () => {
        const where = { controlId, ...of };
        const rows = await client.controlBinding.findMany({
          where,
          select: { id: true },
          orderBy: { id: 'asc' },
        });
        return rows.map(({ id }) => id);
      }),

    /** Removes all bindings of a control. */
    removeOf: (controlId: number): Promise<void> => removeOfAll([controlId]),

    /** The same of many controls. */
    removeOfAll,

    /** One page, by id descending. */
    list: ({ cursor, limit, targetType, targetId, controlId }: BindingFilters): Promise<Page<BindingRow>> =>
      withServiceErrors(() => {
        const query = {
          from: Prisma.sql`"control_bindings" b`,
          filters: [
            inNamespace('b', scope),
            ...textFilter(Prisma.sql`b."target_type"`, targetType),
            ...textFilter(Prisma.sql`b."target_id"`, targetId),
            ...(controlId === null
              ? []
              : [isRowId(controlId) ? Prisma.sql`b."control_id" = ${controlId}` : FALSE]),
          ],
          ...newestFirst(Prisma.sql`b."id"`, { cursor, limit }),
        };
        return findPage(client, query, async (ids) => {
          const rows = await client.controlBinding.findMany({ where: { id: { in: ids }, ...of } });
          return rows.map(BINDING.of);
        });
      }),
  };
}

function textFilter(column: Prisma.Sql, wanted: string | null): Prisma.Sql[] {
  if (wanted === null) return [];
  return [isStorable(wanted) ? Prisma.sql`${column} = ${wanted}` : FALSE];
}
