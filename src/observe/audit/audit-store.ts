import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { isObject } from '../../../packages/exact-json/src/index.js';
import type { AuditActor, AuditEntry, ChainPlace } from '../../storage/database/audit-chain.js';
import { storedState } from '../../storage/database/audit-log.js';
import type { BulkDatabase, BulkRow, BulkValue } from '../../storage/database/bulk.js';
import { createMutex } from '../../storage/database/mutex.js';
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
        SELECT ${COLUMNS}, (SELECT COUNT(*) FROM "found") AS "considered"
        FROM "part" CROSS JOIN "audit_entries"
        WHERE "audit_entries"."position" = "part"."at" ORDER BY ${by}`,
    );
    return { entries: found.map(readEntry), hasMore: Number(found[0]?.at(-1) ?? 0) > found.length };
  }

  return {
    /** The newest entries before a position, and the number of all that match the filter without it. */
    async page(filter: AuditFilter, beforePosition: number | undefined, limit: number) {
      const where = allOf(conditionsOf(filter));
      const { entries, hasMore } = await part({ ...filter, beforePosition }, 'DESC', {
        rows: limit,
        bytes: PAGE_BYTES,
      });
      const counted = await bulk.read(
        'search',
        Prisma.sql`SELECT COUNT(*) FROM "audit_entries" WHERE ${where}`,
      );
      return { rows: entries, hasMore, total: Number(counted[0]?.[0] ?? 0) };
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
      const rows = await bulk.read(
        'search',
        Prisma.sql`
          SELECT "revision" FROM "audit_entries" WHERE "position" <= ${BigInt(position)} AND "revision" IS NOT NULL
          ORDER BY "position" DESC LIMIT 1`,
      );
      return numberOrNull(rows[0]?.[0]);
    },

    /** What the newest entry about a deletion of entries says is the anchor since then; null without one. */
    async recordedAnchor(): Promise<ChainPlace | null> {
      const [row] = await bulk.read(
        'search',
        Prisma.sql`
          SELECT "after" FROM "audit_entries"
          WHERE "resource" = 'database' AND "resource_id" IS NULL AND "action" = 'database.prune_audit'
          ORDER BY "position" DESC LIMIT 1`,
      );
      const after = storedState(String(row?.[0] ?? 'null'));
      const anchor = isObject(after) ? after.anchor : undefined;
      return isObject(anchor) ? { position: Number(anchor.position), hash: String(anchor.hash) } : null;
    },

    async chain(): Promise<ChainState> {
      const [row] = await bulk.read(
        'search',
        Prisma.sql`
          SELECT "audit_anchor_position", "audit_anchor_hash", "audit_position", "audit_hash",
            (SELECT MIN("position") FROM "audit_entries"), (SELECT MAX("position") FROM "audit_entries"), "revision"
          FROM "service_state" WHERE "id" = 1`,
      );
      if (row === undefined) throw new Error('the row of the revision is missing');
      return {
        anchor: { position: Number(row[0]), hash: String(row[1]) },
        head: { position: Number(row[2]), hash: String(row[3]) },
        first: numberOrNull(row[4]),
        last: numberOrNull(row[5]),
        revision: Number(row[6]),
      };
    },
  };
}

const COLUMNS = Prisma.raw(
  [
    ...[
      'position',
      'revision',
      'time_ms',
      'actor_kind',
      'actor_name',
      'key_fingerprint',
      'address',
      'request_id',
    ],
    ...['action', 'resource', 'resource_id', 'resource_name', 'before', 'after', 'previous_hash', 'hash'],
    'namespace',
  ]
    .map((name) => `"${name}"`)
    .join(', '),
);

function readEntry(row: BulkRow): AuditEntry {
  return {
    position: Number(row[0]),
    revision: numberOrNull(row[1]),
    timeMs: Number(row[2]),
    actor: {
      kind: String(row[3]) as AuditActor['kind'],
      name: textOrNull(row[4]),
      keyFingerprint: textOrNull(row[5]),
    },
    address: textOrNull(row[6]),
    requestId: textOrNull(row[7]),
    action: String(row[8]),
    resource: String(row[9]),
    resourceId: textOrNull(row[10]),
    resourceName: textOrNull(row[11]),
    before: textOrNull(row[12]),
    after: textOrNull(row[13]),
    previousHash: String(row[14]),
    hash: String(row[15]),
    namespace: String(row[16]),
  };
}

function textOrNull(value: BulkValue | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

function numberOrNull(value: BulkValue | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}
