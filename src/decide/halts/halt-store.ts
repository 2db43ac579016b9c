import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { Database } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import { findPage, newestFirst, type Page, type PageAsked } from '../../storage/database/page.js';
import { isRowId } from '../../storage/database/row-id.js';
import { columns, nullable, number, type ReadRow, select, text } from '../../storage/database/rows.js';
import type { Scoped } from '../../storage/database/scoped.js';
import { assertStorable } from '../../storage/database/text.js';
import { ACTIVE, type ActiveHalt, INSTALLATION } from './halt.js';
import type { HALT_STATES } from './halt-schemas.js';

export type HaltState = (typeof HALT_STATES)[number];

const LIFE = columns({
  createdAtMs: number,
  createdBy: text,
  liftedAtMs: nullable(number),
  liftedBy: nullable(text),
  liftReason: nullable(text),
});

/** A halt as stored. Times are in milliseconds since 1970. */
export type HaltRow = ActiveHalt & ReadRow<typeof LIFE>;

export type NewHalt = Omit<HaltRow, 'id' | 'namespace' | 'liftedAtMs' | 'liftedBy' | 'liftReason'>;

/** Selection of halts to list. */
export interface HaltFilters extends PageAsked<number> {
  /** Null for all. */
  readonly state: HaltState | null;
  readonly nowMs: number;
}

/** The halts of a namespace, and of the installation. Every method rejects with a `ServiceError` only. */
export function createHaltStore({ client, namespace }: Scoped) {
  const seen = { in: [namespace.name, INSTALLATION] };
  return {
    /** Null also for a number that cannot be the id of a halt, and for halts of other namespaces. */
    find: (id: number): Promise<HaltRow | null> =>
      withServiceErrors(async () => {
        if (!isRowId(id)) return null;
        const row = await client.halt.findUnique({ where: { id, namespace: seen } });
        return row === null ? null : toRow(row);
      }),

    /** One page, newest first. */
    list: ({ cursor, limit, state, nowMs }: HaltFilters): Promise<Page<HaltRow>> =>
      withServiceErrors(() => {
        const query = {
          from: Prisma.sql`"halts" h`,
          filters: [
            Prisma.sql`h."namespace" IN (${namespace.name}, ${INSTALLATION})`,
            ...(state === null ? [] : [isInState(state, nowMs)]),
          ],
          ...newestFirst(Prisma.sql`h."id"`, { cursor, limit }),
        };
        return findPage(client, query, async (ids) => {
          const rows = await client.halt.findMany({ where: { id: { in: ids }, namespace: seen } });
          return rows.map(toRow);
        });
      }),

    /** Number of halts in force: of the installation, or of the namespace alone. */
    countActive: (ofInstallation: boolean, nowMs: number): Promise<number> =>
      withServiceErrors(() =>
        client.halt.count({
          where: { namespace: ofInstallation ? INSTALLATION : namespace.name, ...activeAt(nowMs) },
        }),
      ),

    insert: (halt: NewHalt): Promise<HaltRow> =>
      withServiceErrors(async () => {
        for (const text of [halt.reason, halt.createdBy, halt.sessionId ?? '', halt.stepName ?? '']) {
          assertStorable(text);
        }
        const data = {
          ...halt,
          namespace: halt.scope === 'installation' ? INSTALLATION : namespace.name,
          createdAtMs: BigInt(halt.createdAtMs),
          expiresAtMs: halt.expiresAtMs === null ? null : BigInt(halt.expiresAtMs),
        };
        return toRow(await client.halt.create({ data }));
      }),

    /** The halt must be one that `find` returns. */
    lift: (id: number, atMs: number, by: string, reason: string | null): Promise<HaltRow> =>
      withServiceErrors(async () => {
        for (const text of [by, reason ?? '']) assertStorable(text);
        const data = { liftedAtMs: BigInt(atMs), liftedBy: by, liftReason: reason };
        return toRow(await client.halt.update({ where: { id, namespace: seen }, data }));
      }),
  };
}

/** From FROM on, a query for the halts of all namespaces that are in force at a time or later, with ids after `afterId`. */
export function activeHalts(nowMs: number, afterId = 0): Prisma.Sql {
  return Prisma.sql`FROM "halts" h WHERE "id" > ${afterId} AND ${isInState('active', nowMs)} ORDER BY "id"`;
}

/** The halts in force of all namespaces, read in a thread that serves no requests. Rejects with a `ServiceError` only. */
export function readActiveHalts({ bulk }: Pick<Database, 'bulk'>, nowMs: number): Promise<ActiveHalt[]> {
  return select(ACTIVE, bulk)`${activeHalts(nowMs)}`;
}

/** What of a halt decides about steps. */
export const activeOf: (row: ActiveHalt) => ActiveHalt = ACTIVE.of;

export function stateOf({ liftedAtMs, expiresAtMs }: HaltRow, nowMs: number): HaltState {
  if (liftedAtMs !== null) return 'lifted';
  return expiresAtMs !== null && expiresAtMs <= nowMs ? 'expired' : 'active';
}

function activeAt(nowMs: number) {
  return {
    liftedAtMs: null,
    OR: [{ expiresAtMs: null }, { expiresAtMs: { gt: BigInt(nowMs) } }],
  } satisfies Prisma.HaltWhereInput;
}

function isInState(state: HaltState, nowMs: number): Prisma.Sql {
  if (state === 'lifted') return Prisma.sql`h."lifted_at_ms" IS NOT NULL`;
  const ended = Prisma.sql`h."expires_at_ms" <= ${BigInt(nowMs)}`;
  if (state === 'expired') return Prisma.sql`h."lifted_at_ms" IS NULL AND ${ended}`;
  return Prisma.sql`h."lifted_at_ms" IS NULL AND (h."expires_at_ms" IS NULL OR NOT ${ended})`;
}

function toRow(row: Prisma.HaltGetPayload<object>): HaltRow {
  return { ...ACTIVE.of(row), ...LIFE.of(row) };
}
