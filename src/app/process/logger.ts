import { createRequire } from 'node:module';
import { type Logger, pino, stdTimeFunctions } from 'pino';
import type { Config } from '../../contract/config/config.js';
import { createLogOutput } from './log-output.js';

/** Members that may hold secrets, in case they are ever logged by accident. */
const REDACTED = [
  'apiKey',
  'headers["x-api-key"]',
  'headers.authorization',
  'headers.cookie',
  'req.headers["x-api-key"]',
  'req.headers.authorization',
  'req.headers.cookie',
];

/** Time limit for flushing the log before the process exits, in milliseconds. */
const FLUSH_LIMIT_MS = 500;

/** The log of the service. */
export interface ServiceLog {
  readonly log: Logger;
  /** Waits a short time until all lines are written. Call before an exit, which loses pending lines. */
  flushed(): Promise<void>;
}

/**
 * The log of the service on stdout: readable lines, or JSON lines with `SERVICE_LOG_JSON`. Never contains
 * step contents. If `pid` is given every line includes it, for several processes with one output.
 */
export function createLogger(config: Config['log'], pid?: number): ServiceLog {
  const { stdout, stderr } = process;
  // A warning that cannot be written must not end the process.
  stderr.on('error', () => {});
  const output = createLogOutput(stdout, (dropped) =>
    log.warn({ dropped }, 'log lines were dropped because they could not be written'),
  );
  const print = config.json ? null : loadPrinter(stdout.isTTY === true);
  const log = pino(
    {
      level: config.level,
      base: pid === undefined ? null : { pid },
      redact: REDACTED,
      timestamp: stdTimeFunctions.isoTime,
      serializers: { err: serializeError },
    },
    { write: (line: string) => output.write(print === null ? line : print(line)) },
  );
  return { log, flushed: () => output.flushed(FLUSH_LIMIT_MS) };
}

/** Prints JSON lines as readable ones. Its packages are loaded only for them, at once: the first line waits for nothing. */
function loadPrinter(colorize: boolean): (line: string) => string {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  return prettyFactory({ colorize, ignore: 'hostname', singleLine: true });
}

/** Logs the whole chain of causes, which matter more than the texts for callers. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: serializeError(error.cause) }),
  };
}
