import type { ConnectionProblem } from './problem.js';

/** The part of a pino logger that the host uses. */
export interface HostLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** What may be logged of a problem. Errors of the HTTP parser hold the bytes they choked on, keys and steps among them. */
export function problemFacts({ kind, remoteAddress, error }: ConnectionProblem): object {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  return { kind, remoteAddress, code, reason: message };
}
