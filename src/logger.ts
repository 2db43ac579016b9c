import { type Logger, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from './config.js';

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

/**
 * The log of the service: readable lines, or JSON lines with `SERVICE_LOG_JSON`. Never holds step contents. With `pid`
 * every line tells it, for when several processes write to one place.
 */
export function createLogger(config: Config['log'], pid?: number): Logger {
  const options = {
    level: config.level,
    base: pid === undefined ? null : { pid },
    redact: REDACTED,
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: serializeError },
  };
  if (config.json) return pino(options);
  return pino(
    options,
    pretty({ colorize: process.stdout.isTTY === true, ignore: 'hostname', singleLine: true }),
  );
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
