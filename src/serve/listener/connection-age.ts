import type { Socket } from 'node:net';
import type { DueTimes } from '../call/due-times.js';
import { jittered } from '../call/long-streams.js';
import type { Connection } from './open-connections.js';

/** The maximum age of connections, in milliseconds. */
export interface ConnectionAges {
  readonly due: DueTimes;
  /** With jitter of ±10 %; infinite for none. */
  readonly maxAgeMs: number;
  /** How long an idle HTTP/1 connection then waits for its last request. */
  readonly graceMs: number;
  /** Called when a connection has reached its age: with its HTTP/2 session, or its socket. */
  readonly onAged: (connection: object) => void;
  readonly random?: () => number;
}

/**
 * Retires a connection at its maximum age. Clients then connect again, and a load balancer can send them to another
 * process: without it, those that connected before a process was added would never use it.
 */
export function limitAge(
  accepted: Socket,
  connection: Connection,
  known: object,
  ages: ConnectionAges | undefined,
): void {
  if (ages === undefined || ages.maxAgeMs === Number.POSITIVE_INFINITY) return;
  const { due, maxAgeMs, graceMs, onAged, random = Math.random } = ages;
  let cancel = due.after(jittered(maxAgeMs, random), () => {
    connection.retire();
    onAged(known);
    cancel = due.after(graceMs, () => connection.closeIfIdle());
  });
  accepted.once('close', () => cancel());
}
