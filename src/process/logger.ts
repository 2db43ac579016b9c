import { type Logger, pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { Config } from '../config/config.js';
import { createLogOutput } from './log-output.js';

/** Members that may hold secrets if someone ever logs them by accident. */
const REDACTED = [
  'apiKey',
  'headers["x-api-key"]',
  'headers.authorization',
  'headers.cookie',
  'req.headers["x-api-key"]',
  'req.headers.authorization',
  'req.headers.cookie',
];

/** How long what was logged last may take to leave before the process exits, in milliseconds. */
const FLUSH_LIMIT_MS = 500;

/** The log of the service. */
export interface ServiceLog {
  readonly log: Logger;
  /** Waits, not for long, until everything logged has left. Before an exit, which loses what still waits. */
  flushed(): Promise<void>;
}

/**
 * The log of the service on stdout: readable lines, or JSON lines with `SERVICE_LOG_JSON`. Never holds step contents.
 * With `pid` every line tells it, for when several processes write to one place.
 */
export function createLogger(config: Config['log'], pid?: number): ServiceLog {
  const { stdout, stderr } = process;
  // A warning that nobody can read must not end the process.
  stderr.on('error', () => {});
  const output = createLogOutput(stdout, (dropped) =>
    log.warn({ dropped }, 'log lines were dropped because they could not be written'),
  );
  const print = config.json
    ? null
    : prettyFactory({ colorize: stdout.isTTY === true, ignore: 'hostname', singleLine: true });
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

/** Causes matter more than the texts meant for callers, so the whole chain is logged. */
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
