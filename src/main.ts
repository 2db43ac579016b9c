import './app/process/demand-node.js';
import './app/process/harden.js';
import cluster from 'node:cluster';
import type { Primary } from './app/cluster/primary.js';
import { createLogger, type ServiceLog } from './app/process/logger.js';
import { takeSignals } from './app/process/signals.js';
import { type Running, STOP_NOTICE_MS, stopOnSignals } from './app/process/stop-on-signals.js';
import type { App } from './app/wiring/app.js';
import { helpText } from './app/wiring/cli.js';
import { startWarnings } from './app/wiring/start-warnings.js';
import { type Config, ConfigError, loadEnvironment, readConfig } from './contract/config/config.js';
import { VERSION } from './contract/runtime/package-root.js';
import { explanation, isOurMistake, openFilesAdvice } from './contract/runtime/start-error.js';
import { HOST_ROUTES } from './serve/routing/host-routes.js';
import { databasePlace, parseDatabaseUrl } from './storage/database/database-url.js';

// Slow modules are imported on demand, so that signals are handled while they load.
const [argument] = process.argv.slice(2);
if (cluster.isWorker) await work();
else if (argument === '--help' || argument === '-h') console.log(helpText());
else if (argument === '--version' || argument === '-v') console.log(VERSION);
else if (argument === undefined) await serve();
else await runCommand(process.argv.slice(2));

/** Serves as one of several processes. */
async function work(): Promise<void> {
  const signals = takeSignals();
  const { runWorker } = await import('./app/cluster/worker.js');
  runWorker(signals);
}

/** Runs a database command and exits. */
async function runCommand(words: readonly string[]): Promise<void> {
  const { commandOf } = await import('./app/wiring/commands.js');
  const command = commandOf(words);
  if (command === undefined) {
    console.error(`Unknown argument ${words.join(' ')}; see --help.`);
    process.exitCode = 2;
    return;
  }
  const config = configuration();
  if (config === undefined) return;
  try {
    const done = await command.run(config);
    if (typeof done === 'string') console.log(done);
    else {
      console.log(done.text);
      process.exitCode = done.exitCode;
    }
  } catch (error) {
    console.error(`${command.failure}: ${explanation(error)}`);
    process.exitCode = 1;
  }
}

/** The configuration; undefined, and reported, if it is invalid. */
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
  const signals = takeSignals();
  const config = configuration();
  if (config === undefined) return;
  const isShared = config.workers > 1;
  const serviceLog = createLogger(config.log, isShared ? process.pid : undefined);
  const { log } = serviceLog;
  signals.logIgnored(log);
  const stopper = stopOnSignals(signals, serviceLog);
  for (const warning of startWarnings(config)) log.warn({}, warning);
  try {
    const { checkStart } = await import('./app/wiring/start-checks.js');
    await checkStart(config);
    if (stopper.stopping) return;
    const app = isShared ? await primary(config, serviceLog) : await single(config, serviceLog);
    if (stopper.stopping) return;
    // Workers have to be ended even before they serve.
    if (isShared) stopper.closes(runningOf(app));
    signals.onReload(() => app.reload());
    const addresses = await app.listen();
    stopper.closes(runningOf(app));
    if (stopper.stopping) return;
    const facts = {
      ...addresses,
      docs: `${addresses.address}${HOST_ROUTES.docs.path}`,
      database: databasePlace(parseDatabaseUrl(config.databaseUrl)),
      version: VERSION,
      ...(isShared ? { workers: config.workers } : {}),
    };
    log.info(facts, 'ready for REST, gRPC, gRPC-Web and Connect');
  } catch (error) {
    if (stopper.stopping) return;
    const reason = `${explanation(error)}${openFilesAdvice()}`;
    log.fatal(isOurMistake(error) ? { err: error } : {}, `the service cannot start: ${reason}`);
    process.exitCode = 1;
    // Open resources must not keep a process alive that does not serve.
    void serviceLog.flushed().then(() => process.exit());
  }
}

/** Clients learn from a reply that their connection closes; workers give that time themselves. */
function runningOf(app: App | Primary): Running {
  return 'kill' in app ? app : { close: () => app.close({ noticeMs: STOP_NOTICE_MS }) };
}

async function single(config: Config, { log }: ServiceLog): Promise<App> {
  const { createApp } = await import('./app/wiring/app.js');
  return createApp({ config, log });
}

/** Several processes. Exits with an error if they do not survive. */
async function primary(config: Config, { log, flushed }: ServiceLog): Promise<Primary> {
  const { createPrimary } = await import('./app/cluster/primary.js');
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
