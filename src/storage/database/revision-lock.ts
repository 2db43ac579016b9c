import { Prisma } from '../../../gen/prisma/sqlite/client.js';
import type { ChainPlace } from './audit-chain.js';
import type { DbClient } from './client.js';

/** The row that all mutations lock. */
export interface LockedState {
  readonly revision: number;
  /** The end of the chain of the audit log. */
  readonly end: ChainPlace;
}

const LOCKED = Prisma.sql`"revision", "audit_position" AS "position", "audit_hash" AS "hash"`;

/** Advances the revision, which takes the lock shared by all mutations, and returns the new one. */
export function advanceRevision(tx: DbClient): Promise<LockedState> {
  return lock(
    tx,
    Prisma.sql`UPDATE "service_state" SET "revision" = "revision" + 1 WHERE "id" = 1 RETURNING ${LOCKED}`,
  );
}

/** Takes the same lock alone. */
export function lockRevision(tx: DbClient): Promise<LockedState> {
  return lock(
    tx,
    Prisma.sql`UPDATE "service_state" SET "revision" = "revision" WHERE "id" = 1 RETURNING ${LOCKED}`,
  );
}

async function lock(tx: DbClient, statement: Prisma.Sql): Promise<LockedState> {
  const [row] = await tx.$queryRaw<{ revision: bigint; position: bigint; hash: string }[]>(statement);
  if (row === undefined) throw new Error('the row of the revision is missing');
  return { revision: Number(row.revision), end: { position: Number(row.position), hash: row.hash } };
}
