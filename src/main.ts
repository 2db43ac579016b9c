import './harden.js';
import cluster from 'node:cluster';
import { createApp } from './app.js';
import { helpText } from './cli.js';
import { createPrimary, type Primary } from './cluster/primary.js';
import { runWorker } from './cluster/worker.js';
import { type Config, ConfigError, loadEnvironment, readConfig } from './config.js';
import { type Database, openDatabase } from './database/database.js';
import { createLogger, type ServiceLog } from './logger.js';
import { createEventPruner } from './observability/event-pruner.js';
import { countPrunable, pruningLimits } from './observability/event-pruning.js';
import { rebuildRollups } from './observability/rollup-rebuild.js';
import { explanation, isOurMistake } from './start-error.js';
import { VERSION } from './version.js';

/** Whoever holds a session token can try out secrets at leisure; a random one of this length is out of reach. */
const SAFE_SECRET_LENGTH = 32;

/**
 * By how much a restored database is advanced: more changes than were made since any backup, and so few that the
 * revisions of a million restores are still exact numbers.
 */
const RESTORE_GAP = 1_000_000_000;

const [argument, option] = process.argv.slice(2);
if (cluster.isWorker) runWorker();
else if (argument === '--help' || argument === '-h') console.log(helpText());
else if (argument === '--version' || argument === '-v') console.log(VERSION);
else if (argument === 'rebuild-statistics') await rebuildStatistics();
else if (argument === 'prune-events' && (option === undefined || option === '--dry-run')) {
  await pruneEvents(option !== undefined);
} else if (argument === 'after-restore') await afterRestore();
else if (argument !== undefined) usageError(argument === 'prune-events' ? `${option}` : argument);
else await serve();

function usageError(unknown: string): void {
  console.error(`Unknown argument ${unknown}; see --help.`);
  process.exitCode = 2;
}

/** The configuration; undefined, and told, when it cannot be used. */
function configuration(): Config | undefined {
  try {
    return readConfig(loadEnvironment(process.env));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
    return undefined;
  }
}

/** Runs a command on the database and ends with what it says, or why it could not. */
async function command(
  work: (database: Database, config: Config) => Promise<string>,
  failed: string,
): Promise<void> {
  const config = configuration();
  if (config === undefined) return;
  try {
    const database = await openDatabase({ url: config.databaseUrl });
    try {
      console.log(await work(database, config));
    } finally {
      await database.close();
    }
  } catch (error) {
    console.error(`${failed}: ${explanation(error)}`);
    process.exitCode = 1;
  }
}

function rebuildStatistics(): Promise<void> {
  return command(async (database) => {
    const { hours, corrected } = await rebuildRollups({ database, now: () => Date.now() });
    return `Compared ${hours} hours with the stored events; corrected ${corrected} sums.`;
  }, 'The statistics cannot be rebuilt');
}

function pruneEvents(dryRun: boolean): Promise<void> {
  return command(async (database, { log, observability: { retentionDays } }) => {
    const now = () => Date.now();
    if (dryRun) {
      const { events, rollups } = await countPrunable(database.bulk, pruningLimits(now(), retentionDays));
      return `Would delete ${events} events and ${rollups} sums.`;
    }
    const pruner = createEventPruner({ database, retentionDays, log: createLogger(log).log, now });
    const { events, rollups } = await pruner.prune();
    return `Deleted ${events} events and ${rollups} sums.`;
  }, 'The events cannot be pruned');
}

function afterRestore(): Promise<void> {
  return command(async (database) => {
    const revision = await database.outrun((await database.revision()) + RESTORE_GAP);
    return `The revision is ${revision}; whoever knows an earlier one loads everything anew.`;
  }, 'The revision cannot be advanced');
}

async function serve(): Promise<void> {
  const config = configuration();
  if (config === undefined) return;
  const isShared = config.workers > 1;
  const serviceLog = createLogger(config.log, isShared ? process.pid : undefined);
  const { log } = serviceLog;
  for (const name of config.unknownVariables) log.warn({}, `${name} is not a variable of this service`);
  if (!config.auth.enabled) {
    log.warn(
      {},
      'API keys are off: anyone who reaches this port may do everything (SERVICE_API_KEY_ENABLED)',
    );
  }
  if ((config.auth.sessionSecret?.length ?? SAFE_SECRET_LENGTH) < SAFE_SECRET_LENGTH) {
    log.warn(
      {},
      `SERVICE_SESSION_SECRET is short: with ${SAFE_SECRET_LENGTH} random characters or more nobody guesses it`,
    );
  }
  try {
    const app = isShared ? primary(config, serviceLog) : await createApp({ config, log });
    stopOnSignals(app, serviceLog);
    const address = await app.listen();
    const facts = { address, version: VERSION, ...(isShared ? { workers: config.workers } : {}) };
    log.info(facts, 'ready for REST, gRPC, gRPC-Web and Connect');
  } catch (error) {
    log.fatal(isOurMistake(error) ? { err: error } : {}, `the service cannot start: ${explanation(error)}`);
    process.exitCode = 1;
    // Whatever was opened before must not keep a service alive that does not serve.
    void serviceLog.flushed().then(() => process.exit());
  }
}

/** Several processes. When they do not live, whoever started this one has to know. */
function primary(config: Config, { log, flushed }: ServiceLog): Primary {
  const created = createPrimary({
    config,
    log,
    onHopeless() {
      log.fatal({}, 'workers end as soon as they are started; giving up');
      created.close().finally(() => flushed().then(() => process.exit(1)));
    },
  });
  return created;
}

/** What runs until it is told to stop. */
interface Running {
  close(): Promise<void>;
  /** Ends other processes at once; this one ends by itself. */
  kill?(): void;
}

function stopOnSignals(running: Running, { log, flushed }: ServiceLog): void {
  let stopping = false;
  const exit = (code: number) => void flushed().then(() => process.exit(code));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) {
        log.warn({ signal }, 'stopping at once');
        running.kill?.();
        process.exit(1);
      }
      stopping = true;
      log.info({ signal }, 'finishing running requests');
      running.close().then(
        () => {
          log.info({}, 'stopped');
          exit(0);
        },
        (error: unknown) => {
          log.error({ err: error }, 'stopped with an error');
          exit(1);
        },
      );
    });
  }
}
