import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { isObject } from '../../../packages/exact-json/src/index.js';
import type { AuditActor, AuditEntry, ChainPlace } from '../../storage/database/audit-chain.js';
import { storedState } from '../../storage/database/audit-log.js';
import type { BulkDatabase } from '../../storage/database/bulk.js';
import { createMutex } from '../../storage/database/mutex.js';
import {
  type Column,
  columns,
  from,
  nullable,
  number,
  type ReadRow,
  readNumber,
  select,
  text,
} from '../../storage/database/rows.js';
import { allOf } from '../../storage/database/text.js';
import { type AuditFilter, conditionsOf } from './audit-filter.js';

/** Limits of one reading: rows, and bytes of the states in them. Both at least 1; the first row is read whatever its size. */
export interface PartLimits {
  readonly rows: number;
  readonly bytes: number;
}

/** Part of a walk. Its states take a few times as much memory as they have bytes. */
const WALK_LIMITS: PartLimits = { rows: 500, bytes: 1024 * 1024 };
/** The states of a page, so that a reply stays below the limit of messages. */
const PAGE_BYTES = 1024 * 1024;

/** Entries in an order, as many as fit. */
export interface AuditPart {
  readonly entries: readonly AuditEntry[];
  readonly hasMore: boolean;
}

/** Both ends of the chain, as one statement saw them. */
export interface ChainState {
  /** The place before the first entry. */
  readonly anchor: ChainPlace;
  /** The last entry. */
  readonly head: ChainPlace;
  /** Positions of the first and last stored row; null without rows. */
  readonly first: number | null;
  readonly last: number | null;
  /** The revision of the database. */
  readonly revision: number;
}

export type AuditStore = ReturnType<typeof createAuditStore>;

/** Reads the audit log. Every method rejects with a `ServiceError` only. */
export function createAuditStore(bulk: Pick<BulkDatabase, 'read'>) {
  /** One reading at a time, so that many walks leave connections to other work. */
  const walking = createMutex();

  async function part(
    filter: AuditFilter,
    order: 'ASC' | 'DESC',
    { rows, bytes }: PartLimits,
  ): Promise<AuditPart> {
    const by = Prisma.raw(`"position" ${order}`);
    const found = await bulk.read(
      'search',
      Prisma.sql`
        WITH "found" AS MATERIALIZED (
          SELECT "position", COALESCE(octet_length("before"), 0) + COALESCE(octet_length("after"), 0) AS "bytes"
          FROM "audit_entries" WHERE ${allOf(conditionsOf(filter))} ORDER BY ${by} LIMIT ${rows + 1}),
        "part" AS MATERIALIZED (
          SELECT "position" AS "at" FROM (
            SELECT "position", "bytes", ROW_NUMBER() OVER (ORDER BY ${by}) AS "ordinal",
              SUM("bytes") OVER (ORDER BY ${by} ROWS UNBOUNDED PRECEDING) AS "total" FROM "found") AS "summed"
          WHERE "ordinal" <= ${rows} AND "total" - "bytes" < ${bytes})
        SELECT ${ENTRY.list} FROM "part" CROSS JOIN "audit_entries"
        WHERE "audit_entries"."position" = "part"."at" ORDER BY ${by}`,
    );
    const read = found.map(ENTRY.read);
    return { entries: read.map(entryOf), hasMore: (read[0]?.considered ?? 0) > read.length };
  }

  return {
    /** The newest entries before a position, and the number of all that match the filter without it. */
    async page(filter: AuditFilter, beforePosition: number | undefined, limit: number) {
      const where = allOf(conditionsOf(filter));
      const { entries, hasMore } = await part({ ...filter, beforePosition }, 'DESC', {
        rows: limit,
        bytes: PAGE_BYTES,
      });
      const total = await readNumber(bulk, Prisma.sql`SELECT COUNT(*) FROM "audit_entries" WHERE ${where}`);
      return { rows: entries, hasMore, total };
    },

    /** All entries that match, oldest first, in parts. The next part is read when it is asked for. */
    async *walk(filter: AuditFilter, limits = WALK_LIMITS): AsyncGenerator<readonly AuditEntry[]> {
      let { afterPosition } = filter;
      for (;;) {
        const release = await walking.acquire();
        let read: AuditPart;
        try {
          read = await part({ ...filter, afterPosition }, 'ASC', limits);
        } finally {
          release();
        }
        if (read.entries.length > 0) yield read.entries;
        if (!read.hasMore) return;
        afterPosition = read.entries.at(-1)?.position;
      }
    },

    /** The revision of the last entry that has one, at or before a position; null without such an entry. */
    async revisionAt(position: number): Promise<number | null> {
      const [found] = await select(REVISION, bulk)`
        FROM "audit_entries" WHERE "position" <= ${BigInt(position)} AND "revision" IS NOT NULL
        ORDER BY "position" DESC LIMIT 1`;
      return found?.revision ?? null;
    },

    /** What the newest entry about a deletion of entries says is the anchor since then; null without one. */
    async recordedAnchor(): Promise<ChainPlace | null> {
      const [row] = await select(AFTER, bulk)`
        FROM "audit_entries"
        WHERE "resource" = 'database' AND "resource_id" IS NULL AND "action" = 'database.prune_audit'
        ORDER BY "position" DESC LIMIT 1`;
      const after = storedState(row?.after ?? 'null');
      const anchor = isObject(after) ? after.anchor : undefined;
      return isObject(anchor) ? { position: Number(anchor.position), hash: String(anchor.hash) } : null;
    },

    async chain(): Promise<ChainState> {
      const [row] = await select(CHAIN, bulk)`FROM "service_state" WHERE "id" = 1`;
      if (row === undefined) throw new Error('the row of the revision is missing');
      const { auditAnchorPosition, auditAnchorHash, auditPosition, auditHash, ...others } = row;
      return {
        anchor: { position: auditAnchorPosition, hash: auditAnchorHash },
        head: { position: auditPosition, hash: auditHash },
        ...others,
      };
    },
  };
}

const ENTRY = columns({
  position: number,
  revision: nullable(number),
  timeMs: number,
  actorKind: text as Column<AuditActor['kind']>,
  actorName: nullable(text),
  keyFingerprint: nullable(text),
  address: nullable(text),
  requestId: nullable(text),
  action: text,
  resource: text,
  resourceId: nullable(text),
  resourceName: nullable(text),
  before: nullable(text),
  after: nullable(text),
  previousHash: text,
  hash: text,
  namespace: text,
  considered: from(Prisma.sql`(SELECT COUNT(*) FROM "found")`, number),
});
const REVISION = columns({ revision: number });
const AFTER = columns({ after: nullable(text) });
const CHAIN = columns({
  auditAnchorPosition: number,
  auditAnchorHash: text,
  auditPosition: number,
  auditHash: text,
  first: from(Prisma.sql`(SELECT MIN("position") FROM "audit_entries")`, nullable(number)),
  last: from(Prisma.sql`(SELECT MAX("position") FROM "audit_entries")`, nullable(number)),
  revision: number,
});

function entryOf({ actorKind, actorName, keyFingerprint, considered: _, ...entry }: ReadRow<typeof ENTRY>) {
  return { ...entry, actor: { kind: actorKind, name: actorName, keyFingerprint } } satisfies AuditEntry;
}
