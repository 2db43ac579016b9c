import type { Socket } from 'node:net';
import type { Peer } from '../admission/peer.js';
import type { DueTimes } from '../call/due-times.js';
import { jittered } from '../call/long-streams.js';
import type { Connection } from './open-connections.js';

/** The time limit of a connection that is being opened. */
interface OpeningLimit {
  /** Ends the limit. */
  opened(): void;
  /** Runs setup work when it is the turn of the connection; at once without a peer. */
  inTurn(work: () => void): void;
}

/**
 * Calls `onTimeout` when a client has not opened its connection within `limitMs`. The time that the service
 * leaves it unread does not count: while it waits for its turn, or is paused because others have theirs. An
 * input that arrived while this process was busy is read first.
 */
export function limitOpening(
  peer: Pick<Peer, 'isPaused' | 'pauseChanges' | 'takeTurn'> | undefined,
  limitMs: number,
  onTimeout: () => void,
): OpeningLimit {
  let isOpen = false;
  let isWaiting = false;
  let timer: NodeJS.Timeout;
  const start = (): void => {
    const changes = peer?.pauseChanges;
    timer = setTimeout(() => setImmediate(over, changes), limitMs);
  };
  const over = (changes: number | undefined): void => {
    if (isOpen) return;
    const wasLeftUnread = isWaiting || peer?.isPaused === true || peer?.pauseChanges !== changes;
    if (wasLeftUnread) start();
    else onTimeout();
  };
  start();
  return {
    opened() {
      isOpen = true;
      clearTimeout(timer);
    },
    inTurn(work) {
      if (peer === undefined) return work();
      isWaiting = true;
      peer.takeTurn(() => {
        isWaiting = false;
        work();
      });
    },
  };
}

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
