import type { News } from './change-log.js';

/**
 * Where a process learns what others changed, over a connection of its own that nothing else can keep busy. It connects, and
 * connects again, by itself.
 */
export interface ChangeSource {
  /** How often to read when nobody calls, in milliseconds: the longest time a change goes unnoticed. */
  readonly pollMs: number;
  /**
   * The latest revision, and what changed after `known`. Rejects with the driver's error when the database does not
   * answer; never later than a few seconds.
   */
  read(known: number): Promise<News>;
  /**
   * From now on calls `onHint` whenever there may be something new, sooner than polling would tell, with the revision
   * if it is told. Hints may be missing, repeated or wrong.
   */
  listen(onHint: (revision?: number) => void): void;
  /** Ends the connection. Everything after it rejects. */
  close(): Promise<void>;
}
