import type { Peer } from '../admission/peer.js';

/** The time limit of a connection that is being opened. */
export interface OpeningLimit {
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
