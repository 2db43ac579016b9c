import { fits } from './control-parts.js';
import type { ControlsMessage, WatchedAgent } from './watched-agent.js';

/**
 * Controls that do not fit into one message are sent in parts of this size, in bytes: what a slow reader holds, and
 * what decides how long others wait while a part is made.
 */
const PART_BYTES = 256 * 1024;

/** The size of parts for messages of a size: few different ones, so that streams share their parts. */
function partBytesFor(maxBytes: number): number {
  let bytes = PART_BYTES;
  while (bytes > maxBytes && bytes > 1) bytes /= 2;
  return bytes;
}

/** A state that is being sent in parts. */
interface Pass {
  readonly position: number;
  /** Whether it has all controls, not only changed ones. */
  readonly isFull: boolean;
  /** The controls below this id are still to be sent. */
  below: number;
}

/**
 * What one stream tells of the controls of its agent. Parts are sent by id descending, each from the latest state: what
 * changed meanwhile is sent after the last one. Between two messages a stream holds a few numbers, however slow its
 * client is. What an interrupted client resumes from is a revision before the first part.
 */
export class PartReader {
  readonly #agent: WatchedAgent;
  readonly #maxBytes: number;
  readonly #partBytes: number;
  /** The position whose state the client has, apart from the parts of a pass. */
  #seen: number;
  /** The revision to resume from while the client does not have everything. */
  #complete: number;
  #pass: Pass | null = null;
  #isUnfinished = false;

  /** `maxBytes` is for the controls of one message. */
  constructor(agent: WatchedAgent, isCurrent: boolean, maxBytes: number) {
    this.#agent = agent;
    this.#seen = isCurrent ? agent.position : 0;
    this.#complete = isCurrent ? agent.revision : 0;
    this.#maxBytes = maxBytes;
    this.#partBytes = partBytesFor(maxBytes);
  }

  /** The next message; null if there is none now. */
  next(): object | null {
    const agent = this.#agent;
    if (!agent.loaded) return null;
    if (this.#pass !== null) {
      const { part, isLast } = this.#part(this.#pass);
      return this.#told({ revision: agent.revision, changed: part.changed }, isLast);
    }
    if (agent.position <= this.#seen) return null;
    const message = agent.messageSince(this.#seen);
    if (fits('full' in message ? message.full.controls : message.changed.upserted, this.#maxBytes)) {
      this.#seen = agent.position;
      return this.#told(message, true);
    }
    const isFull = 'full' in message;
    // From now on the client has nothing of what it had.
    if (isFull) this.#complete = 0;
    this.#pass = { position: agent.position, isFull, below: Number.POSITIVE_INFINITY };
    const { part, isLast } = this.#part(this.#pass);
    const news = isFull ? { full: part.full } : { changed: part.changed };
    return this.#told({ revision: agent.revision, ...news }, isLast);
  }

  /** An empty message for a client that waits without having everything; null if it has. */
  unfinished(): object | null {
    if (!this.#isUnfinished) return null;
    return this.#told({ revision: 0, changed: { upserted: [], removed: [] } }, false);
  }

  /** The next part of a pass. It ends with what the latest state has, so this may be the part of a later state. */
  #part(pass: Pass) {
    const since = pass.isFull ? 0 : this.#seen;
    const part = this.#agent.partSince(since, pass.below, this.#partBytes);
    pass.below = part.lastId;
    if (part.isLast) {
      this.#seen = pass.position;
      this.#pass = null;
    }
    return { part, isLast: part.isLast && this.#agent.position === this.#seen };
  }

  #told(message: ControlsMessage, isComplete: boolean): object {
    this.#isUnfinished = !isComplete;
    if (!isComplete) return { ...message, revision: this.#complete, incomplete: true };
    this.#complete = message.revision;
    return message;
  }
}
