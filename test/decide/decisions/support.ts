import { type AgentKey, DEFAULT_NAMESPACE, type TargetKey } from '../../../src/contract/call/namespace.js';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import { withControls } from '../../../src/decide/agent-state/control-links.js';
import type { Progress } from '../../../src/decide/decisions/loaded-program.js';
import type { ProgramBuilder } from '../../../src/decide/decisions/program-builder.js';
import { type ChangeFollower, RevisionWatch } from '../../../src/decide/decisions/revision-watch.js';
import { Snapshot } from '../../../src/decide/decisions/snapshot.js';
import type {
  ReadControls,
  ReadLinks,
  ReadSteps,
  StateReader,
} from '../../../src/decide/decisions/state-reader.js';
import { createStepSchemaLibrary } from '../../../src/decide/decisions/step-schema-library.js';
import type { ControlProgram, Verdict } from '../../../src/kernel/core/types.js';
import type { News, RecordedChange } from '../../../src/storage/database/change-log.js';
import type { ChangeSource } from '../../../src/storage/database/change-source.js';

/** The key of an agent of the namespace `default`. */
export const key = (agentName: string): AgentKey => DEFAULT_NAMESPACE.agentKey(agentName);

/** The key of a target of the namespace `default`. */
export const target = (id: string): TargetKey => DEFAULT_NAMESPACE.targetKey({ type: 'project', id });

/** What changed, with agents by their names in `default`. */
export interface Changed extends Partial<Omit<RecordedChange, 'revision' | 'agents'>> {
  readonly agents?: readonly string[] | 'any';
}

/** A change of agents, controls, policies or targets. */
export function change(
  revision: number,
  { agents = [], controls = [], policies = [], targets = [] }: Changed,
): RecordedChange {
  const keys = agents === 'any' ? agents : agents.map(key);
  return { revision, agents: keys, controls, policies, targets, access: false };
}

/** A program of some controls that never decides. */
export function programOf(controlIds: readonly number[]): ControlProgram {
  return {
    controlIds,
    sizeBytes: 1_000,
    isEmpty: false,
    readsAgent: 'nothing',
    remembers: false,
    lifts: null,
    sharedParts: [],
    evaluate: () => {
      throw new Error('not evaluated here');
    },
  };
}

/** A verdict that says nothing. */
export const SAFE: Verdict = {
  is_safe: true,
  confidence: 1,
  reason: null,
  matches: [],
  errors: [],
  non_matches: [],
  selected_controls: 0,
  evaluated_controls: 0,
  skipped_controls: 0,
};

/** A database whose reads end when the test says so. Its revision counts up with each change. */
export function fakeStore() {
  const steps = new Map<string, ReadSteps>();
  const agents = new Map<string, { policyIds: readonly number[]; controlIds: readonly number[] }>();
  const policies = new Map<number, readonly number[]>();
  const bound = new Map<TargetKey, readonly number[]>();
  const open: { finish: () => void; fail: () => void }[] = [];
  const demanded: number[] = [];
  const asked = { agents: 0, sets: 0, statements: 0, definitions: 0 };
  const deleted = new Set<number>();
  const exists = (id: number) => !deleted.has(id);
  const definitionOf = (id: number) => ({ id, name: `control-${id}`, data: '{}' });
  let file: { revision: number; atMs: number } | null = null;
  let revision = 0;
  let most = 0;

  /** Ends a read of the present state when the test says so. */
  function reading<T>(
    wanted: readonly { needed: number }[],
    read: readonly T[],
  ): readonly Promise<T & { revision: number }>[] {
    asked.statements += 1;
    demanded.push(Math.max(...wanted.map(({ needed }) => needed)));
    const source = file === null ? { revision } : { revision: file.revision, keptAtMs: file.atMs };
    const ended = new Promise<void>((resolve, reject) => {
      open.push({
        finish: resolve,
        fail: () => reject(new ServiceError('SERVICE_UNAVAILABLE', { detail: 'no database' })),
      });
      most = Math.max(most, open.length);
    });
    return read.map(async (one) => {
      await ended;
      return { ...source, ...one };
    });
  }

  const reader: StateReader = {
    linksOf(wanted): readonly Promise<ReadLinks>[] {
      asked.agents += wanted.length;
      return reading(
        wanted,
        wanted.map(({ agent, target }) => {
          const links = agents.get(agent) ?? null;
          const ids = target === null ? undefined : bound.get(target);
          return {
            links: links && withControls(links, ids ?? []),
            isBound: ids !== undefined,
            steps: steps.get(agent) ?? { mode: null, schemas: null },
          };
        }),
      );
    },
    controlsOf(wanted): readonly Promise<ReadControls>[] {
      asked.sets += wanted.length;
      return reading(
        wanted,
        wanted.map(({ links: { policyIds, controlIds } }) => {
          const ids = [...controlIds, ...policyIds.flatMap((id) => policies.get(id) ?? [])];
          return { controls: ids.filter(exists).map(definitionOf) };
        }),
      );
    },
    async definitionsOf(controlIds): Promise<ReadControls> {
      asked.definitions += controlIds.length;
      const [read] = reading([{ needed: 0 }], [{ controls: controlIds.filter(exists).map(definitionOf) }]);
      if (read === undefined) throw new Error('one read was begun');
      return read;
    },
  };
  return {
    steps,
    get revision() {
      return revision;
    },
    set revision(next: number) {
      revision = next;
    },
    /** Links controls to an agent instead of what it had, under a new revision. */
    store(agentName: string, ...controlIds: number[]): number {
      agents.set(agentName, { policyIds: [], controlIds });
      revision += 1;
      return revision;
    },
    /** Gives policies to an agent instead of what it had, under a new revision. */
    assign(agentName: string, ...policyIds: number[]): number {
      agents.set(agentName, { policyIds, controlIds: [] });
      revision += 1;
      return revision;
    },
    /** Puts controls into a policy instead of those it had, under a new revision. */
    define(policyId: number, ...controlIds: number[]): number {
      policies.set(policyId, controlIds);
      revision += 1;
      return revision;
    },
    /** Binds controls to a target instead of those that were, under a new revision. */
    bind(to: TargetKey, ...controlIds: number[]): number {
      if (controlIds.length === 0) bound.delete(to);
      else bound.set(to, controlIds);
      revision += 1;
      return revision;
    },
    /** Deletes a control, under a new revision. */
    deleteControl(id: number): number {
      deleted.add(id);
      revision += 1;
      return revision;
    },
    remove(agentName: string): number {
      agents.delete(agentName);
      revision += 1;
      return revision;
    },
    /** Makes reads those of a last known good file, of a revision, until it is called without one. */
    keep(kept: { revision: number; atMs: number } | null): void {
      file = kept;
    },
    /** The revision that each read demanded. */
    demanded,
    reader,
    /** How many agents and sets were read, and by how many statements. */
    asked,
    mostAtOnce: () => most,
    /** Waits until requested reads have begun. */
    begun: turns,
    /** Fails the first read that has begun. */
    failOne: () => open.shift()?.fail(),
    /** Ends the reads that have begun, and waits until those that follow them have. */
    async step(): Promise<void> {
      for (const entry of open.splice(0)) entry.finish();
      await turns();
    },
    /** Ends every read, also those that begin because of it. */
    async settle(how: 'finish' | 'fail' = 'finish'): Promise<void> {
      await turns();
      while (open.length > 0) {
        for (const entry of open.splice(0)) entry[how]();
        await turns();
      }
    },
  };
}

/** Enough turns of the event loop for a batch to begin. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export type FakeStore = ReturnType<typeof fakeStore>;

/** Removes the controls that have no definition from a program. */
export const withoutDeleted: ProgramBuilder['replace'] = async ({ controlIds }, ids, definitions) =>
  programOf(controlIds.filter((id) => !ids.includes(id) || definitions.some((one) => one.id === id)));

/** A snapshot over a store, with a clock of its own. Programs are built anew unless `replace` is given. */
export function snapshotOf(
  store: FakeStore,
  maxAgents = 100,
  replace: ProgramBuilder['replace'] = async () => null,
) {
  let time = 0;
  const snapshot = new Snapshot({
    reader: store.reader,
    builder: { build: async (controls) => programOf(controls.map(({ id }) => id)), replace },
    stepSchemas: createStepSchemaLibrary('warn'),
    maxAgents,
    maxBytes: 10_000_000,
    now: () => time,
  });
  return {
    snapshot,
    now: () => time,
    advance: (ms: number) => {
      time += ms;
    },
    async loaded(...agentNames: string[]): Promise<void> {
      const all = Promise.all(agentNames.map((agentName) => snapshot.programOf(key(agentName))));
      await store.settle();
      await all;
    },
    /** The controls of an agent that decide now, and the revision they are of. */
    decidesBy(
      agentName: string,
      minRevision = 0,
      target: TargetKey | null = null,
    ): { controls: readonly number[]; revision: number } | 'loading' {
      const found = snapshot.programOf(key(agentName), target, minRevision);
      if (!(found instanceof Promise)) {
        return { controls: found.program.controlIds, revision: found.revision(snapshot.progress) };
      }
      found.catch(() => {});
      return 'loading';
    },
  };
}

/** A change source of which the test says what it tells, and when it fails. */
export function fakeSource() {
  const log: RecordedChange[] = [];
  const state = {
    revision: 0,
    broken: false,
    reads: 0,
    /** Ends a read; null lets reads end at once. */
    hold: null as Promise<void> | null,
    hint: (_revision?: number): void => {},
    closed: false,
  };
  const source: ChangeSource = {
    pollMs: 60_000,
    async read(known): Promise<News> {
      state.reads += 1;
      const { revision } = state;
      await state.hold;
      if (state.broken) throw new Error('connect ECONNREFUSED');
      const changes = log.filter((one) => one.revision > known && one.revision <= revision);
      return { revision, changes: changes.length === revision - known ? changes : null };
    },
    listen(onHint) {
      state.hint = onHint;
    },
    async close() {
      state.closed = true;
    },
  };
  return {
    source,
    state,
    /** Another process commits a change; without a log entry, anything may have changed. */
    commit(what?: Parameters<typeof change>[1]): number {
      state.revision += 1;
      if (what !== undefined) log.push(change(state.revision, what));
      return state.revision;
    },
  };
}

/** A watch over a snapshot and a source. */
export async function watchOf(
  snapshot: Snapshot,
  source: ChangeSource,
  {
    now = () => 0,
    minRevisionWaitMs = 1_000,
    outrun = async () => {},
    kept = null,
    followers = [],
  }: {
    now?: () => number;
    minRevisionWaitMs?: number;
    outrun?: (told: number) => Promise<void>;
    kept?: Progress | null;
    followers?: readonly ChangeFollower[];
  } = {},
) {
  const states: boolean[] = [];
  const watch = new RevisionWatch({
    snapshot,
    source,
    minRevisionWaitMs,
    now,
    outrun,
    followers,
    onDatabaseState: (up) => states.push(up),
  });
  await watch.start(kept);
  return { watch, states };
}
