import { ServiceError } from '../../contract/errors/service-error.js';
import { withControls } from '../../decide/agent-state/control-links.js';
import type { ControlLinksStore } from '../../decide/agent-state/control-links-store.js';
import { storedMode } from '../../decide/agent-state/registered-schemas.js';
import type {
  ReadControls,
  ReadLinks,
  ReadSteps,
  StateReader,
  WantedControls,
  WantedLinks,
} from '../../decide/decisions/state-reader.js';
import { unavailable } from '../../storage/database/errors.js';
import { loadedInTime } from '../../storage/database/in-time.js';
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
  function readEach<Wanted, Read>(
    wanted: readonly Wanted[],
    find: (one: Wanted) => Promise<Read | null>,
    read: (some: readonly Wanted[]) => readonly Promise<Read>[],
  ): readonly Promise<Read>[] {
    if (databaseUp()) {
      return read(wanted).map((result, index) =>
        result.catch(async (error: unknown) => {
          const instead = isUnreadable(error) ? await find(wanted[index] as Wanted) : null;
          if (instead === null) throw error;
          return instead;
        }),
      );
    }
    // A database that does not answer delays its callers for seconds: only those that the file does not have.
    const found = wanted.map((one) => find(one));
    const missing = Promise.all(found).then((all) => {
      const some = wanted.filter((_one, index) => all[index] === null);
      return new Map(read(some).map((result, index) => [some[index] as Wanted, result]));
    });
    missing.catch(() => {});
    return found.map(
      async (result, index) => (await result) ?? readOf(await missing, wanted[index] as Wanted),
    );
  }

  return {
    linksOf: (agents) =>
      readEach(
        agents,
        ({ agent, target, needed }) => kept.linksOf(agent, target, needed),
        (some) =>
          database.linksOf(some).map(async (result, index) => {
            const read = await result;
            const wanted = some[index];
            if (wanted !== undefined && read.revision > followed()) {
              const targets = wanted.target === null ? [] : [wanted.target];
              changes.used({ agents: [wanted.agent], targets }, read.revision);
            }
            return read;
          }),
      ),
    controlsOf: (sets) =>
      readEach(
        sets,
        ({ links, needed }) => kept.controlsOf(links, needed),
        (some) =>
          database.controlsOf(some).map(async (result, index) => {
            const read = await result;
            const used = {
              controls: read.controls.map(({ id }) => id),
              policies: some[index]?.links.policyIds,
            };
            if (read.revision > followed()) changes.used(used, read.revision);
            return read;
          }),
      ),
    async definitionsOf(controlIds) {
      if (!databaseUp()) throw unavailable('The database does not answer.');
      const read = await database.definitionsOf(controlIds);
      if (read.revision > followed()) changes.used({ controls: controlIds }, read.revision);
      return read;
    },
  };
}

/** Those of an agent that does not exist. */
const NO_STEPS: ReadSteps = { mode: null, schemas: null };

/** Reads from the database only. Rejects with a ServiceError, after a time limit at the latest. */
export function createDatabaseReader(stored: ControlLinksStore): StateReader {
  return {
    linksOf(agents: readonly WantedLinks[]): readonly Promise<ReadLinks>[] {
      if (agents.length === 0) return [];
      const keys = new Set(agents.map(({ agent }) => agent));
      const targets = new Set(agents.flatMap(({ target }) => target ?? []));
      const reading = loadedInTime(stored.linksOf([...keys], [...targets]));
      return agents.map(async ({ agent, target }) => {
        const { revision, links, bound } = await reading;
        const found = links.get(agent);
        if (found === undefined) return { revision, links: null, isBound: false, steps: NO_STEPS };
        const steps = { mode: storedMode(found.stepSchemas), registration: found.registration };
        const ids = target === null ? undefined : bound.get(target);
        if (ids === undefined) return { revision, links: found.links, isBound: false, steps };
        return { revision, links: withControls(found.links, ids), isBound: true, steps };
      });
    },
    controlsOf(sets: readonly WantedControls[]): readonly Promise<ReadControls>[] {
      if (sets.length === 0) return [];
      const reading = loadedInTime(stored.controlsOf(sets.map(({ links }) => links)));
      return sets.map(async (_one, index) => {
        const { revision, controls } = await reading;
        return { revision, controls: controls[index] ?? [] };
      });
    },
    async definitionsOf(controlIds) {
      const { revision, controls } = await loadedInTime(stored.controlsOf([{ policyIds: [], controlIds }]));
      return { revision, controls: controls[0] ?? [] };
    },
  };
}

function readOf<Wanted, Read>(read: ReadonlyMap<Wanted, Promise<Read>>, wanted: Wanted): Promise<Read> {
  const result = read.get(wanted);
  if (result === undefined) throw new Error('what was wanted was not read');
  return result;
}

/** Whether the database is the cause, not a programming error. */
function isUnreadable(error: unknown): boolean {
  return (
    error instanceof ServiceError && (error.code === 'SERVICE_UNAVAILABLE' || error.code === 'DATABASE_ERROR')
  );
}
