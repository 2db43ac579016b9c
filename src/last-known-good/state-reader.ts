import { ServiceError } from '../contract/errors/service-error.js';
import type { ControlLinks } from '../controls/control-links.js';
import type { ControlLinksStore } from '../controls/control-links-store.js';
import { loadedInTime } from '../database/in-time.js';
import type { ReadControls, ReadLinks, StateReader } from '../decisions/state-reader.js';
import type { KeptAgents } from './kept-agents.js';
import type { KnownChanges } from './known-changes.js';

export interface StateReaderOptions {
  /** Reads from the database. */
  readonly stored: ControlLinksStore;
  readonly kept: KeptAgents;
  readonly changes: KnownChanges;
  /** Whether the last access to the database succeeded. */
  readonly databaseUp: () => boolean;
  /** The revision up to which changes are known. */
  readonly followed: () => number;
}

/**
 * Reads links and controls from the database or, while it does not answer, from the last known good file. What
 * neither has fails as it does without a file.
 */
export function createStateReader(options: StateReaderOptions): StateReader {
  const { stored, kept, changes, databaseUp, followed } = options;
  const database = createDatabaseReader(stored);

  /** `find` searches the file, `read` reads the database. */
  async function readEach<Key, Value extends object>(
    keys: readonly Key[],
    find: (key: Key) => Promise<Value | null>,
    read: (keys: readonly Key[]) => Promise<readonly Value[]>,
  ): Promise<readonly (Value | Error)[]> {
    const isDown = !databaseUp();
    // A database that does not answer delays its callers for seconds.
    const found = new Map<Key, Value | Error>();
    if (isDown) await keep(keys, find, found);
    const missing = keys.filter((key) => !found.has(key));
    if (missing.length > 0) {
      try {
        const values = await read(missing);
        for (const [index, key] of missing.entries()) found.set(key, values[index] as Value);
      } catch (error) {
        if (!isDown && isUnreadable(error)) await keep(missing, find, found);
        for (const key of missing) if (!found.has(key)) found.set(key, error as Error);
      }
    }
    return keys.map((key) => found.get(key) as Value | Error);
  }

  return {
    linksOf: (agentNames, needed) =>
      readEach<string, ReadLinks>(
        agentNames,
        (name) => kept.linksOf(name, needed),
        async (names) => {
          const read = await database.linksOf(names);
          for (const [index, { revision }] of read.entries()) {
            if (revision > followed()) changes.used({ agents: names.slice(index, index + 1) }, revision);
          }
          return read;
        },
      ),
    controlsOf: (links, needed) =>
      readEach(
        links,
        (one) => kept.controlsOf(one, needed),
        async (some) => {
          const read = await database.controlsOf(some);
          for (const [index, { revision, controls }] of read.entries()) {
            if (revision <= followed()) continue;
            changes.used(
              { controls: controls.map(({ id }) => id), policies: some[index]?.policyIds },
              revision,
            );
          }
          return read;
        },
      ),
  };
}

/** Reads from the database only. Rejects with a ServiceError, after a time limit at the latest. */
export function createDatabaseReader(stored: ControlLinksStore): DatabaseReader {
  return {
    async linksOf(agentNames) {
      const { revision, links } = await loadedInTime(stored.linksOf(agentNames));
      return agentNames.map((name) => ({ revision, links: links.get(name) ?? null }));
    },
    async controlsOf(links) {
      const { revision, controls } = await loadedInTime(stored.controlsOf(links));
      return controls.map((one) => ({ revision, controls: one }));
    },
  };
}

interface DatabaseReader extends StateReader {
  linksOf(agentNames: readonly string[]): Promise<readonly ReadLinks[]>;
  controlsOf(links: readonly ControlLinks[]): Promise<readonly ReadControls[]>;
}

async function keep<Key, Value>(
  keys: readonly Key[],
  find: (key: Key) => Promise<Value | null>,
  found: Map<Key, Value | Error>,
): Promise<void> {
  for (const key of keys) {
    const value = await find(key);
    if (value !== null) found.set(key, value);
  }
}

/** Whether the database is the cause, not a programming error. */
function isUnreadable(error: unknown): boolean {
  return (
    error instanceof ServiceError && (error.code === 'SERVICE_UNAVAILABLE' || error.code === 'DATABASE_ERROR')
  );
}
