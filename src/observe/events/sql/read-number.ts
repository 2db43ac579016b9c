import type { Prisma } from '../../../../gen/prisma/sqlite/client.js';
import type { BulkDatabase } from '../../../storage/database/bulk.js';

/** Reads the one number that a query asks for; 0 when there is none. */
export async function readNumber(bulk: Pick<BulkDatabase, 'read'>, query: Prisma.Sql): Promise<number> {
  const [row] = await bulk.read('search', query);
  return Number(row?.[0] ?? 0);
}
