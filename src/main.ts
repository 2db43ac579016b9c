import './harden.js';
import cluster from 'node:cluster';
import { createApp } from './app.js';
import { helpText } from './cli.js';
import { createPrimary, type Primary } from './cluster/primary.js';
import { runWorker } from './cluster/worker.js';
import { commandOf } from './commands.js';
import { type Config, ConfigError, loadEnvironment, readConfig } from './config.js';
import { createLogger, type ServiceLog } from './logger.js';
import { explanation, isOurMistake } from './start-error.js';
import { VERSION } from './version.js';

/** Whoever holds a session token can try out secrets at leisure; a random one of this length is out of reach. */
const SAFE_SECRET_LENGTH = 32;

const [argument] = process.argv.slice(2);
if (cluster.isWorker) runWorker();
else if (argument === '--help' || argument === '-h') console.log(helpText());
else if (argument === '--version' || argument === '-v') console.log(VERSION);
else if (argument === undefined) await serve();
else await runCommand(process.argv.slice(2));

/** Does one of the commands on the database and ends. */
async function runCommand(words: readonly string[]): Promise<void> {
  const command = commandOf(words);
  if (command === undefined) {
    console.error(`Unknown argument ${words.join(' ')}; see --help.`);
    process.exitCode = 2;
    return;
  }
  const config = configuration();
  if (config === undefined) return;
  try {
    console.log(await command.run(config));
  } catch (error) {
    console.error(`${command.failure}: ${explanation(error)}`);
    process.exitCode = 1;
  }
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
