import { statSync } from 'node:fs';
import { withServiceErrors } from './errors.js';
import { openSqliteConnection } from './sqlite-connection.js';
import { createSqliteThread } from './sqlite-thread.js';
import type { Result } from './sqlite-worker.js';
import { StorageError } from './storage-health/storage-state.js';

/** Bounds of the size of a file, in bytes. */
export interface QuickCheckLimits {
  /** Files up to this size are checked as a whole: it takes about a second, on a slow disk some ten. */
  readonly wholeBytes: number;
  /** Files up to this size are checked by the calling thread: it takes some milliseconds. */
  readonly hereBytes: number;
}

const LIMITS: QuickCheckLimits = { wholeBytes: 256 * 1024 * 1024, hereBytes: 4 * 1024 * 1024 };
const BUSY_TIMEOUT_MS = 5_000;
/** Tables checked in every file: all but those that no verdict depends on, which may have any size. */
export const CHECKED_TABLES: readonly string[] = [
  'agents',
  'agent_controls',
  'agent_labels',
  'agent_policies',
  'api_keys',
  'applied_objects',
  'approval_controls',
  'approval_votes',
  'approvals',
  'changes',
  'control_bindings',
  'control_facets',
  'control_shadows',
  'control_versions',
  'controls',
  'ended_sessions',
  'halts',
  'idempotency_keys',
  'memory_clock',
  'memory_rules',
  'namespaces',
  'pack_controls',
  'pack_installations',
  'policies',
  'policy_controls',
  'policy_labels',
  'replicas',
  'sampling_rules',
  'service_state',
  'storage_probe',
  '_prisma_migrations',
];
/** Tables not checked in larger files. */
export const UNCHECKED_TABLES: readonly string[] = [
  'agent_activity',
  'agent_coverage',
  'agent_expectations',
  'agent_uses',
  'audit_entries',
  'control_activity',
  'evaluation_count_writers',
  'evaluation_counting',
  'evaluation_counts',
  'event_control_names',
  'event_log',
  'event_namespaces',
  'event_rollups',
  'event_segments',
  'event_sinks',
  'event_store_lease',
  'events',
  'false_positives',
  'memory_cells',
  'memory_entries',
  'memory_evictions',
  'notification_deliveries',
  'notification_destinations',
  'notification_marks',
  'shadow_differences',
  'step_samples',
];
const WHOLE_CHECK = 'PRAGMA quick_check(1)';
const MISSING = /no such table/;

/** The checked part. */
export type CheckedPart = 'all' | 'without events';

/**
 * Reads a SQLite file and rejects with a `StorageError` when it is damaged. Of a large file it reads only the
 * tables that verdicts depend on, to bound the time.
 */
export function quickCheck(path: string, limits: QuickCheckLimits = LIMITS): Promise<CheckedPart> {
  return withServiceErrors(async () => {
    const { size } = statSync(path);
    if (size <= limits.hereBytes) {
      const connection = openSqliteConnection(path, 'reader');
      try {
        demandSound(connection.execute(WHOLE_CHECK));
      } finally {
        connection.close();
      }
      return 'all';
    }
    const isSmall = size <= limits.wholeBytes;
    const checks = isSmall ? [WHOLE_CHECK] : CHECKED_TABLES.map((name) => `PRAGMA quick_check('${name}')`);
    await inThread(path, checks);
    return isSmall ? 'all' : 'without events';
  });
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
