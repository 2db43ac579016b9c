import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import type { Config } from '../../contract/config/config.js';
import { createRepeatLog } from '../../contract/runtime/repeat-log.js';
import { createEventPruner } from '../../observe/events/event-pruner.js';
import { pruningLimits } from '../../observe/events/store/event-retention.js';
import type { EventStore } from '../../observe/events/store/event-store.js';
import { backUp } from '../../storage/database/backup.js';
import { type Database, openDatabase } from '../../storage/database/database.js';
import { createLogger } from '../process/logger.js';
import { originOfCommand, VERIFY_AUDIT_FAILURE, verifyAudit } from './audit-commands.js';
import { type Command, demandExisting } from './command.js';
import { createEventStore } from './event-store.js';
import { checkMigrations, migrateCommand } from './migration-commands.js';

/** Runs work on the opened database of a configuration. */
function onDatabase(work: (database: Database, config: Config) => Promise<string>): Command['run'] {
  return async (config) => {
    const { databaseUrl: url, databaseVariable: variable, migration: structure } = config;
    await demandExisting(config);
    const logger = { warn: (_details: object, message: string) => console.error(message) };
    const database = await openDatabase({ url, variable, logger, structure });
    try {
      return await work(database, config);
    } finally {
      await database.close();
    }
  };
}

/**
 * How far the revision and the position of events of a restored database are advanced at least: more than the changes
 * and events since any backup, but few enough for exact numbers even after a million restores. Both also follow the
 * clock, because a backup can be restored twice: changes are fewer than milliseconds, events fewer than microseconds.
 */
const RESTORE_GAP = 1_000_000_000;

const now = () => Date.now();

/** Runs work on the event store of a configuration. */
function onEvents(
  work: (store: EventStore, config: Config, database: Database) => Promise<string>,
): Command['run'] {
  return onDatabase(async (database, config) =>
    work(await createEventStore({ config: config.observability, database, now }), config, database),
  );
}

/** Records a command in the audit log before it changes anything that no revision counts. */
async function recordCommand(database: Database, action: string, after: JsonObject): Promise<void> {
  const fact = { action, resource: 'database', id: null, before: null, after } as const;
  const origin = originOfCommand(now());
  await database.mutateAside(async () => ({ value: undefined, audit: { ...fact, origin } }));
}

const rebuildStatistics: Command = {
  failure: 'The statistics cannot be rebuilt',
  run: onEvents(async (store, _config, database) => {
    await recordCommand(database, 'database.rebuild_statistics', {});
    const { hours, corrected } = await store.rebuildStatistics();
    return `Compared ${hours} hours with the stored events; corrected ${corrected} sums.`;
  }),
};

const pruneEvents: Command = {
  failure: 'The events cannot be pruned',
  run: onEvents(async ({ retention }, { log, observability: { retentionDays } }, database) => {
    await recordCommand(database, 'database.prune_events', { retention_days: retentionDays });
    const logger = createLogger(log).log;
    const failures = createRepeatLog({ log: logger });
    const pruner = createEventPruner({ retention, retentionDays, log: logger, failures, now });
    const { events, rollups } = await pruner.prune();
    return `Deleted ${events} events and ${rollups} sums.`;
  }),
};

const countOldEvents: Command = {
  failure: 'The events cannot be counted',
  run: onEvents(async ({ retention }, { observability: { retentionDays } }) => {
    const { events, rollups } = await retention.count(pruningLimits(now(), retentionDays));
    return `Would delete ${events} events and ${rollups} sums.`;
  }),
};

const afterRestore: Command = {
  failure: 'Revision and positions cannot be advanced',
  run: onEvents(async (store, _config, database) => {
    const nowMs = now();
    const told = Math.max((await database.revision()) + RESTORE_GAP, nowMs);
    const revision = await database.outrun(told, originOfCommand(nowMs));
    await store.skipPositions(RESTORE_GAP, nowMs * 1_000);
    return `The revision is ${revision}; processes that know an earlier one load everything anew. Events get new positions.`;
  }),
};

const backup = (targets: readonly string[]): Command => ({
  failure: 'The backup cannot be made',
  async run({ databaseUrl }) {
    const [target] = targets;
    if (target === undefined || targets.length > 1) {
      throw new Error('give the name of one file to write, for example: backup /backups/service.db');
    }
    const { path, bytes, revision, agents, controls, events } = await backUp(databaseUrl, target);
    const contents = `${agents} agents, ${controls} controls, ${events} events`;
    return `Backed up revision ${revision} (${contents}) to ${path}: ${bytes} bytes, checked.`;
  },
});

/** Commands by arguments. */
const COMMANDS = new Map<string, Command>([
  ['rebuild-statistics', rebuildStatistics],
  ['prune-events', pruneEvents],
  ['prune-events --dry-run', countOldEvents],
  ['after-restore', afterRestore],
  ['migrate', migrateCommand],
  ['migrate --check', checkMigrations],
]);

/** The command for the arguments; undefined if there is none. */
export function commandOf(words: readonly string[]): Command | undefined {
  const [first, ...others] = words;
  if (first === 'backup') return backup(others);
  if (first === 'verify-audit')
    return { failure: VERIFY_AUDIT_FAILURE, run: onDatabase(verifyAudit(others)) };
  return COMMANDS.get(words.join(' '));
}
