import type { Config } from './config.js';
import { type Database, openDatabase } from './database/database.js';
import { parseDatabaseUrl } from './database/database-url.js';
import { inspectDatabase } from './database/inspect-database.js';
import { createLogger } from './logger.js';
import { createEventPruner } from './observability/event-pruner.js';
import { countPrunable, pruningLimits } from './observability/event-pruning.js';
import { rebuildRollups } from './observability/rollup-rebuild.js';

/** What the service does to its database when it is asked to by its first argument, instead of serving. */
export interface Command {
  /** What is said before the reason when it fails. */
  readonly failure: string;
  /** Resolves with what is said in the end. */
  run(database: Database, config: Config): Promise<string>;
}

/**
 * By how much a restored database is advanced: more changes than were made since any backup, and so few that the
 * revisions of a million restores are still exact numbers.
 */
const RESTORE_GAP = 1_000_000_000;

const now = () => Date.now();

const rebuildStatistics: Command = {
  failure: 'The statistics cannot be rebuilt',
  async run(database) {
    const { hours, corrected } = await rebuildRollups({ database, now });
    return `Compared ${hours} hours with the stored events; corrected ${corrected} sums.`;
  },
};

const pruneEvents: Command = {
  failure: 'The events cannot be pruned',
  async run(database, { log, observability: { retentionDays } }) {
    const pruner = createEventPruner({ database, retentionDays, log: createLogger(log).log, now });
    const { events, rollups } = await pruner.prune();
    return `Deleted ${events} events and ${rollups} sums.`;
  },
};

const countOldEvents: Command = {
  failure: 'The events cannot be counted',
  async run(database, { observability: { retentionDays } }) {
    const { events, rollups } = await countPrunable(database.bulk, pruningLimits(now(), retentionDays));
    return `Would delete ${events} events and ${rollups} sums.`;
  },
};

const afterRestore: Command = {
  failure: 'The revision cannot be advanced',
  async run(database) {
    const revision = await database.outrun((await database.revision()) + RESTORE_GAP);
    return `The revision is ${revision}; whoever knows an earlier one loads everything anew.`;
  },
};

/** By the arguments of the process. */
const COMMANDS = new Map<string, Command>([
  ['rebuild-statistics', rebuildStatistics],
  ['prune-events', pruneEvents],
  ['prune-events --dry-run', countOldEvents],
  ['after-restore', afterRestore],
]);

/** The command that the arguments name; undefined when they name none. */
export function commandOf(words: readonly string[]): Command | undefined {
  return COMMANDS.get(words.join(' '));
}

/** Runs a command on the database of a configuration. */
export async function runOnDatabase(command: Command, config: Config): Promise<string> {
  await demandExisting(config);
  const database = await openDatabase({ url: config.databaseUrl });
  try {
    return await command.run(database, config);
  } finally {
    await database.close();
  }
}

/** Opening would create a database, which is not what was asked for. */
async function demandExisting({ databaseUrl, databaseExpected }: Config): Promise<void> {
  if (databaseExpected === 'any' || (await inspectDatabase(parseDatabaseUrl(databaseUrl))) !== 'nothing')
    return;
  throw new Error('there is no database, and SERVICE_DATABASE_EXPECTED=existing does not let one be created');
}
