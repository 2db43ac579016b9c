import type { DbClient } from '../../storage/database/database.js';
import { loadedInTime } from '../../storage/database/in-time.js';
import { unchangedSince } from './control-history.js';
import type { Followed, WatchedAgent } from './watched-agent.js';

export interface KnownRevisionsOptions {
  readonly client: DbClient;
  /** The state of the database known to this process. */
  readonly followed: () => Followed;
}

/** Whether readers that know a revision have the controls of an agent already. */
export class KnownRevisions {
  readonly #options: KnownRevisionsOptions;
  /** Earlier revisions of clients may belong to another history, from before the database was restored. */
  #beginsAt = 0;

  constructor(options: KnownRevisionsOptions) {
    this.#options = options;
  }

  /** What was before this revision is not comparable. */
  beginsAt(revision: number): void {
    this.#beginsAt = Math.max(this.#beginsAt, revision);
  }

  /** Whether the controls are those of a revision known to a reader. False when undecidable. */
  async isUnchangedSince(agent: WatchedAgent, fromRevision: number): Promise<boolean> {
    if (fromRevision < Math.max(1, this.#beginsAt) || fromRevision > agent.revision) return false;
    try {
      // Changes not tracked by this process may not lead up to the state it has read.
      if (fromRevision > this.#options.followed().revision)
        return fromRevision >= (await this.#search(agent));
      if (fromRevision >= agent.unchangedSince) return true;
      const { position } = agent;
      agent.search ??= this.#search(agent).then((revision) => agent.foundUnchanged(position, revision));
      await agent.search;
    } catch {
      // The reader then receives everything, and the next one searches again.
      agent.search = null;
    }
    return fromRevision >= agent.unchangedSince;
  }

  #search(agent: WatchedAgent): Promise<number> {
    const { readRevision, policyIds } = agent;
    // Policies may change during the search while the controls stay the same.
    const had = {
      has: (controlId: number) => agent.has(controlId),
      hasPolicy: (policyId: number) => policyIds.has(policyId),
    };
    return loadedInTime(unchangedSince(this.#options.client, agent, readRevision, had));
  }
}
