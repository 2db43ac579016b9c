import type { News } from './change-log.js';

/**
 * Source of changes made by other processes, over a dedicated connection that other work cannot block. It
 * connects, and reconnects, automatically.
 */
export interface ChangeSource {
  /** How often to read without hints, in milliseconds: the longest time a change goes undetected. */
  readonly pollMs: number;
  /**
   * The latest revision, and the changes after `known`. Rejects with the driver's error when the database
   * does not answer; within a few seconds at most.
   */
  read(known: number): Promise<News>;
  /**
   * Starts calling `onHint` when there may be changes, earlier than by polling, with the revision if known.
   * Hints may be missing, repeated or wrong.
   */
  listen(onHint: (revision?: number) => void): void;
  /** Ends the connection. Later calls reject. */
  close(): Promise<void>;
}
