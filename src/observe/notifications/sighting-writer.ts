import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import { createBatchWriter } from '../../contract/runtime/batch-writer.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { BulkTransaction } from '../../storage/database/bulk.js';
import type { Database } from '../../storage/database/database.js';
import { portionsOf } from '../../storage/database/in-portions.js';
import {
  type NotificationFact,
  type NotifyOptions,
  outboxStatements,
} from '../../storage/database/notifications.js';
import type { EvaluationWatch, Sighting } from './evaluation-watch.js';

/** Most that one transaction writes. */
const MAX_AT_ONCE = 200;
/** Part of the time of quiet within which a sighting need not be written again, and the longest such time, in milliseconds. */
const WRITTEN_SHARE = 0.05;
const LONGEST_WRITTEN_MS = 60_000;

export interface SightingWriterOptions {
  readonly database: Pick<Database, 'bulk'>;
  readonly watch: Pick<EvaluationWatch, 'take'>;
  readonly outbox: NotifyOptions;
  /** Time without a sighting after which the next one is told, in milliseconds. */
  readonly quietMs: number;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Writes what was seen, and tells of it if nothing of the kind was seen for the time of quiet: by this process or another, before
 * a restart or after. Never rejects.
 */
export function createSightingWriter(options: SightingWriterOptions): () => Promise<void> {
  const { database, watch, outbox, quietMs, failures, now } = options;
  const writtenMs = Math.min(LONGEST_WRITTEN_MS, quietMs * WRITTEN_SHARE);
  /** When a sighting was last written, by its mark. */
  const written = new Map<string, number>();

  function* take(): Iterable<Sighting[]> {
    const nowMs = now();
    for (const [mark, atMs] of written) if (nowMs - atMs > writtenMs || atMs > nowMs) written.delete(mark);
    const fresh = watch.take().filter((sighting) => !written.has(markOf(sighting)));
    yield* portionsOf(fresh, MAX_AT_ONCE);
  }

  async function store(sightings: readonly Sighting[]): Promise<void> {
    const nowMs = now();
    await database.bulk.transaction(async (tx) => {
      for (const sighting of sightings) {
        if (!(await isNews(tx, markOf(sighting), nowMs, quietMs))) continue;
        await tx.run(...outboxStatements(factOf(sighting, nowMs), outbox));
      }
    });
    for (const sighting of sightings) written.set(markOf(sighting), nowMs);
  }

  const writer = createBatchWriter({
    take,
    store,
    failed: (error) =>
      failures.failed('notification sightings', 'what evaluations have to tell cannot be stored now', error),
  });
  return writer.flush;
}

/** Removes marks that say no more than a missing one. */
export async function pruneMarks(
  { bulk }: Pick<Database, 'bulk'>,
  nowMs: number,
  quietMs: number,
): Promise<void> {
  await bulk.transaction((tx) =>
    tx.run(Prisma.sql`DELETE FROM "notification_marks" WHERE "seen_ms" <= ${BigInt(nowMs - quietMs)}`),
  );
}

function markOf({ kind, controlId }: Sighting): string {
  return `${kind} ${controlId}`;
}

/** Writes a mark; whether it had not been written for the time of quiet. */
async function isNews(tx: BulkTransaction, mark: string, nowMs: number, quietMs: number): Promise<boolean> {
  const [inserted, first] = await tx.run(
    Prisma.sql`INSERT INTO "notification_marks" ("key", "seen_ms") VALUES (${mark}, ${BigInt(nowMs)}) ON CONFLICT ("key") DO NOTHING`,
    Prisma.sql`UPDATE "notification_marks" SET "seen_ms" = ${BigInt(nowMs)}
      WHERE "key" = ${mark} AND "seen_ms" <= ${BigInt(nowMs - quietMs)}`,
    Prisma.sql`UPDATE "notification_marks" SET "seen_ms" = ${BigInt(nowMs)} WHERE "key" = ${mark} AND "seen_ms" < ${BigInt(nowMs)}`,
  );
  return inserted?.changes === 1 || first?.changes === 1;
}

function factOf(sighting: Sighting, timeMs: number): NotificationFact {
  const { kind, namespace, controlId: id, controlName: name, agentName, checks = 0, failed = 0 } = sighting;
  const control = { id, name };
  const shared = { namespace, kind, object: `control:${id}`, path: `/ui/controls/${id}`, timeMs };
  if (kind === 'control.error_rate') {
    const summary = `Control ${id} "${name}" failed in ${failed} of ${checks} checks, with agent ${agentName}`;
    return { ...shared, summary, data: { control, agent_name: agentName, checks, failed } };
  }
  const what =
    kind === 'limit.reached' ? 'has reached its limit' : 'denied its first step after a time of quiet';
  return {
    ...shared,
    summary: `Control ${id} "${name}" ${what}, of agent ${agentName}`,
    data: { control, agent_name: agentName },
  };
}
