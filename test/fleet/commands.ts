import fc from 'fast-check';
import type { DatabaseKind } from '../support/databases.js';
import { definitionOf, type State } from './model.js';
import type { Network, Replica } from './replicas.js';
import type { Interruption, Mutation, Run } from './run.js';

/** One step of a sequence; what makes no sense when its turn comes does nothing. */
export interface FleetCommand {
  run(real: Run): Promise<void>;
  toString(): string;
}

/** Evaluations of each agent at each replica while a change is under way. */
const MOST_ALONGSIDE = 3;

const index = fc.constantFrom<(0 | 1)[]>(0, 1);
const slot = fc.nat(3);

function command(text: string, run: (real: Run) => Promise<void>): FleetCommand {
  return { run, toString: () => text };
}

/** One of what there is; undefined when there is nothing. */
function pick(ids: Iterable<number>, choice: number): number | undefined {
  const all = [...ids];
  return all[choice % Math.max(1, all.length)];
}

type Choice = { readonly agent: 0 | 1; readonly a: number; readonly b: number };
type Propose = (run: Run, state: State, choice: Choice) => Mutation | undefined;

/** A change of a control that exists. */
const ofControl =
  (propose: (state: State, id: number, run: Run, choice: Choice) => Mutation): Propose =>
  (run, state, choice) => {
    const id = pick(state.controls.keys(), choice.a);
    return id === undefined ? undefined : propose(state, id, run, choice);
  };

/** A change of an agent that is registered. */
const ofAgent =
  (
    propose: (path: string, name: string, run: Run, state: State, choice: Choice) => Mutation | undefined,
  ): Propose =>
  (run, state, choice) => {
    const name = run.agentNames[choice.agent];
    if (!state.agents.has(name)) return run.registration(choice.agent);
    return propose(`/api/v1/agents/${name}`, name, run, state, choice);
  };

function redefinition(state: State, id: number, change: object): Mutation {
  const control = state.controls.get(id) ?? { name: '', version: 0, enabled: true };
  const next = { ...control, ...change };
  return {
    method: 'PUT',
    path: `/api/v1/controls/${id}/data`,
    body: { data: definitionOf(next) },
    apply: ({ controls }) => controls.set(id, next),
  };
}

function patch(state: State, id: number, change: { name?: string; enabled?: boolean }): Mutation {
  const control = state.controls.get(id) ?? { name: '', version: 0, enabled: true };
  return {
    method: 'PATCH',
    path: `/api/v1/controls/${id}`,
    body: change,
    apply: ({ controls }) => controls.set(id, { ...control, ...change }),
  };
}

const MUTATIONS: Record<string, Propose> = {
  create: (run) => run.creation(),
  redefine: ofControl((state, id) =>
    redefinition(state, id, { version: (state.controls.get(id)?.version ?? 0) + 1 }),
  ),
  switch: ofControl((state, id) => patch(state, id, { enabled: !state.controls.get(id)?.enabled })),
  rename: ofControl((state, id, run) => patch(state, id, { name: run.newName() })),
  delete: ofControl((_state, id) => ({
    method: 'DELETE',
    path: `/api/v1/controls/${id}?force=true`,
    apply({ controls, policies, agents }) {
      controls.delete(id);
      for (const policy of policies.values()) policy.delete(id);
      for (const agent of agents.values()) agent.controls.delete(id);
    },
  })),
  link: ofAgent((_path, _name, run, state, { agent, a }) => {
    const id = pick(state.controls.keys(), a);
    return id === undefined ? run.creation() : run.linking(agent, id);
  }),
  unlink: ofAgent((path, name, _run, state, { a }) => {
    const id = pick(state.agents.get(name)?.controls ?? [], a);
    if (id === undefined) return undefined;
    return {
      method: 'DELETE',
      path: `${path}/controls/${id}`,
      apply: ({ agents }) => agents.get(name)?.controls.delete(id),
    };
  }),
  policy: (run) => {
    const name = run.newName();
    return {
      method: 'PUT',
      path: '/api/v1/policies',
      body: { name },
      creates: { table: 'policies', name },
      apply: ({ policies }, id) => policies.set(id, new Set()),
    };
  },
  'fill policy': (run, state, choice) => {
    const policy = pick(state.policies.keys(), choice.b);
    if (policy === undefined) return MUTATIONS.policy?.(run, state, choice);
    const id = pick(state.controls.keys(), choice.a);
    if (id === undefined) return run.creation();
    return {
      method: 'POST',
      path: `/api/v1/policies/${policy}/controls/${id}`,
      apply: ({ policies }) => policies.get(policy)?.add(id),
    };
  },
  'empty policy': (_run, state, { a, b }) => {
    const policy = pick(state.policies.keys(), b);
    const id = policy === undefined ? undefined : pick(state.policies.get(policy) ?? [], a);
    if (policy === undefined || id === undefined) return undefined;
    return {
      method: 'DELETE',
      path: `/api/v1/policies/${policy}/controls/${id}`,
      apply: ({ policies }) => policies.get(policy)?.delete(id),
    };
  },
  'assign policy': ofAgent((path, name, run, state, choice) => {
    const policy = pick(state.policies.keys(), choice.b);
    if (policy === undefined) return MUTATIONS.policy?.(run, state, choice);
    return {
      method: 'POST',
      path: `${path}/policies/${policy}`,
      apply: ({ agents }) => agents.get(name)?.policies.add(policy),
    };
  }),
  'remove policies': ofAgent((path, name) => ({
    method: 'DELETE',
    path: `${path}/policies`,
    apply: ({ agents }) => agents.get(name)?.policies.clear(),
  })),
};

/** What may happen in the midst of a change. A killed process takes seconds to be replaced, so that is rare. */
const INTERRUPTIONS = {
  postgresql: { none: 9, cut: 1 },
  sqlite: { none: 79, kill: 1 },
} as const;

function interruptions(kind: DatabaseKind) {
  return fc.oneof(
    ...Object.entries(INTERRUPTIONS[kind]).map(([name, weight]) => ({
      weight,
      arbitrary: fc.constant(name as Interruption),
    })),
  );
}

/** Changes something through a replica while both replicas evaluate. */
const mutations = (kind: DatabaseKind) =>
  fc
    .record({
      what: fc.constantFrom(...Object.keys(MUTATIONS)),
      at: index,
      agent: index,
      a: slot,
      b: slot,
      alongside: fc.nat(MOST_ALONGSIDE),
      interruption: interruptions(kind),
    })
    .map(({ what, at, alongside, interruption, ...choice }) =>
      command(`${what}(${JSON.stringify({ at, alongside, interruption, ...choice })})`, async (run) => {
        const replica = run.fleet.replicas[at];
        // What it would send now could be committed at any time after the partition, which no model can follow.
        if (replica.network === 'silent') return;
        const mutation = MUTATIONS[what]?.(run, run.history.state, choice);
        if (mutation === undefined) return;
        const change = run.change(replica, mutation, interruption);
        const evaluations: Promise<unknown>[] = [change];
        for (let count = 0; count < alongside; count += 1) {
          for (const other of run.fleet.replicas) {
            if (skipped(run, other, choice.agent)) continue;
            evaluations.push(run.evaluate(other, choice.agent, 0, change));
          }
        }
        await settled(evaluations);
      }),
    );

/** All have ended, so that nothing goes on into the next command; then the first failure is thrown. */
async function settled(promises: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(promises)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

/** Loading over a silent network takes seconds to fail, and says nothing that a broken one does not. */
function skipped(run: Run, replica: Replica, agent: 0 | 1): boolean {
  return replica.network === 'silent' && !run.isSolid(replica, agent);
}

/** Evaluates, demanding no revision, the latest one, or the one `back` before it. */
const evaluations = fc
  .record({ at: index, agent: index, demand: fc.boolean(), back: fc.nat(2) })
  .map(({ at, agent, demand, back }) =>
    command(`evaluate(${JSON.stringify({ at, agent, demand, back })})`, async (run) => {
      const replica = run.fleet.replicas[at];
      if (skipped(run, replica, agent)) return;
      await run.evaluate(replica, agent, demand ? Math.max(1, run.history.revision - back) : 0);
    }),
  );

const networks = fc
  .record({ at: index, network: fc.constantFrom<Network[]>('broken', 'broken', 'silent', 'clear', 'clear') })
  .map(({ at, network }) =>
    command(`network(${at}, ${network})`, async (run) => {
      const replica = run.fleet.replicas[at];
      if (replica.network !== 'clear') await replica.setNetwork('clear');
      await replica.setNetwork(network);
    }),
  );

const notifications = fc
  .record({ at: index, heard: fc.boolean() })
  .map(({ at, heard }) =>
    command(`notifications(${at}, ${heard})`, async (run) => run.fleet.replicas[at].hearNotifications(heard)),
  );

const restarts = index.map((at) =>
  command(`restart(${at})`, async (run) => {
    const replica = run.fleet.replicas[at];
    // A process does not start without its database.
    await replica.setNetwork('clear');
    await run.restart(replica);
  }),
);

/** Sequences of commands; those of the network only where there is one. Workers take seconds to be replaced. */
export function fleetCommands(kind: DatabaseKind) {
  const common = [
    { weight: 60, arbitrary: mutations(kind) },
    { weight: 50, arbitrary: evaluations },
    { weight: kind === 'sqlite' ? 1 : 5, arbitrary: restarts },
  ];
  const ofNetwork = [
    { weight: 10, arbitrary: networks },
    { weight: 5, arbitrary: notifications },
  ];
  const one = fc.oneof(...common, ...(kind === 'postgresql' ? ofNetwork : []));
  return fc.array(one, { minLength: 5, maxLength: 15, size: 'max' });
}
