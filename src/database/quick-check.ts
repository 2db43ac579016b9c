import { statSync } from 'node:fs';
import { openSqliteConnection } from './sqlite-connection.js';
import { createSqliteThread } from './sqlite-thread.js';
import type { Result } from './sqlite-worker.js';
import { StorageError } from './storage-health/storage-state.js';

/** Files up to this size are checked as a whole, in bytes: it takes about a second, on a slow disk some ten. */
const WHOLE_LIMIT_BYTES = 256 * 1024 * 1024;
/** Files up to this size are checked by the calling thread, in bytes: it takes some milliseconds. */
const HERE_LIMIT_BYTES = 4 * 1024 * 1024;
const BUSY_TIMEOUT_MS = 5_000;
/** In larger files, what verdicts depend on: all tables but those of events, which may have any size. */
const TABLES = [
  'agents',
  'agent_controls',
  'agent_policies',
  'changes',
  'control_facets',
  'control_versions',
  'controls',
  'policies',
  'policy_controls',
  'service_state',
  '_prisma_migrations',
];
const MISSING = /no such table/;

/** What was looked at. */
export type CheckedPart = 'all' | 'without events';

/**
 * Reads a SQLite file and rejects with a `StorageError` when it is damaged. Of a large file it reads only the tables
 * that verdicts depend on, so that it takes a bounded time.
 */
export async function quickCheck(path: string): Promise<CheckedPart> {
  const { size } = statSync(path);
  if (size <= HERE_LIMIT_BYTES) {
    const connection = openSqliteConnection(path, 'reader');
    try {
      demandSound(connection.execute('PRAGMA quick_check(1)'));
    } finally {
      connection.close();
    }
    return 'all';
  }
  const isSmall = size <= WHOLE_LIMIT_BYTES;
  await inThread(
    path,
    isSmall ? ['PRAGMA quick_check(1)'] : TABLES.map((name) => `PRAGMA quick_check('${name}')`),
  );
  return isSmall ? 'all' : 'without events';
}

async function inThread(path: string, checks: readonly string[]): Promise<void> {
  const options = { path, busyTimeoutMs: BUSY_TIMEOUT_MS, pragmas: ['query_only = ON'] };
  const thread = createSqliteThread(options, () => {});
  try {
    for (const sql of checks) {
      const [result] = await thread
        .run({ transaction: '', statements: [{ sql, args: [] }], end: '' })
        // A file of an earlier version lacks some of them.
        .catch((error: Error) => {
          if (MISSING.test(error.message)) return [];
          throw error;
        });
      if (result !== undefined) demandSound(result);
    }
  } finally {
    await thread.close();
  }
}

function demandSound({
  rows,
}: Pick<Result, 'rows'> | { readonly rows: readonly (readonly unknown[])[] }): void {
  const found = rows.map(([text]) => String(text)).filter((text) => text !== 'ok');
  if (found.length > 0) {
    throw new StorageError('CORRUPT', { particular: 'its check failed', cause: new Error(found.join('; ')) });
  }
}
