import { randomUUID } from 'node:crypto';
import type { RestReply } from '../support/http.js';
import { until } from '../support/until.js';
import { definitionOf, History, INPUT, type State, verdictIn, verdictOf } from './model.js';
import type { Fleet, Replica } from './replicas.js';

/** A change that is asked for, and what the model says it does. */
export interface Mutation {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** What is created has an id that only the service knows. */
  readonly creates?: { readonly table: 'controls' | 'policies'; readonly name: string };
  apply(draft: State, id: number): void;
}

/** What happens while a change is under way: the network to the database breaks, or the process is killed. */
export type Interruption = 'none' | 'cut' | 'kill';

/** How often each thing happened, to tell that the test saw what it is for. */
export const tally = {
  sequences: 0,
  verdicts: 0,
  older: 0,
  refused: 0,
  mutations: 0,
  failed: 0,
  unknown: 0,
  restarts: 0,
  lost: 0,
};

/** What was seen of an agent at a replica. */
interface Seen {
  /** Its last verdict was for this revision, or a change of the replica itself demands it: no older one may follow. */
  floor: number;
  /** It is in memory, and nothing that the replica did itself has put it out of use since. */
  solid: boolean;
}

/** One sequence of commands: agents, controls and policies of its own, and what every revision made of them. */
export class Run {
  /** Counts how often agents were put out of use. */
  #unsettled = 0;
  readonly fleet: Fleet;
  readonly history: History;
  readonly agentNames: readonly [string, string];
  readonly #name: string;
  readonly #seen: [Map<string, Seen>, Map<string, Seen>] = [new Map(), new Map()];
  #names = 0;

  private constructor(fleet: Fleet, name: string, revision: number) {
    this.fleet = fleet;
    this.#name = name;
    this.agentNames = [`agent-of-${name}-0`, `agent-of-${name}-1`];
    this.history = new History(revision);
  }

  /** Begins a sequence with one agent that has a control and is loaded everywhere. */
  static async begin(fleet: Fleet): Promise<Run> {
    tally.sequences += 1;
    for (const replica of fleet.replicas) {
      await replica.setNetwork('clear');
      replica.hearNotifications(true);
    }
    const [first] = fleet.replicas;
    const name = `sequence-${tally.sequences}`;
    // A change that fails because connections were cut just now is made again by `until`; nothing else is changed then.
    const { headers } = await until(
      () => first.call('PUT', '/api/v1/policies', { name: `first-of-${name}-${randomUUID()}` }),
      ({ status }) => status === 200,
    );
    const run = new Run(fleet, name, Number(headers.get('x-service-revision')));
    await run.#make(first, run.registration(0));
    await run.#make(first, run.creation());
    const [control = 0] = run.history.state.controls.keys();
    await run.#make(first, run.linking(0, control));
    await run.converge();
    return run;
  }

  registration(agent: 0 | 1): Mutation {
    const name = this.agentNames[agent];
    return {
      method: 'POST',
      path: '/api/v1/agents/initAgent',
      body: { agent: { agent_name: name } },
      apply: ({ agents }) => agents.set(name, { controls: new Set(), policies: new Set() }),
    };
  }

  creation(): Mutation {
    const control = { name: this.newName(), version: 0, enabled: true };
    return {
      method: 'PUT',
      path: '/api/v1/controls',
      body: { name: control.name, data: definitionOf(control) },
      creates: { table: 'controls', name: control.name },
      apply: ({ controls }, id) => controls.set(id, control),
    };
  }

  linking(agent: 0 | 1, control: number): Mutation {
    const name = this.agentNames[agent];
    return {
      method: 'POST',
      path: `/api/v1/agents/${name}/controls/${control}`,
      apply: ({ agents }) => agents.get(name)?.controls.add(control),
    };
  }

  newName(): string {
    this.#names += 1;
    return `${this.#name}-${this.#names}`;
  }

  /** Makes a change, and learns from the database whether it was made when the reply does not tell. */
  async change(replica: Replica, mutation: Mutation, interruption: Interruption = 'none'): Promise<void> {
    const { method, path, body, creates } = mutation;
    tally.mutations += 1;
    this.#unsettle(replica);
    const pending = replica.call(method, path, body).catch(() => undefined);
    if (interruption !== 'none') {
      // At some point of the transaction, another one each time.
      await replica.call('GET', '/health');
      if (interruption === 'cut') replica.cut();
      else replica.kill();
    }
    const reply = await pending;
    if (interruption === 'kill') await this.restart(replica);
    else if (reply === undefined) throw new Error(`${method} ${path}: the connection broke`);
    let revision = Number(reply?.headers.get('x-service-revision'));
    let id = Number(reply?.body.control_id ?? reply?.body.policy_id);
    if (reply === undefined || (reply.status === 503 && this.fleet.kind === 'postgresql')) {
      tally.failed += 1;
      revision = await this.fleet.stored();
      if (revision > this.history.revision) tally.unknown += 1;
      if (creates !== undefined) id = (await this.fleet.idOf(creates.table, creates.name)) ?? 0;
    } else if (reply.status !== 200) {
      throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    }
    this.#learn(replica, mutation, id, revision, reply?.status === 200);
    // Once more: evaluations that ran meanwhile may have been answered before the change took effect.
    this.#unsettle(replica);
  }

  /** Replaces the process of a replica. */
  async restart(replica: Replica): Promise<void> {
    tally.restarts += 1;
    await replica.restart();
    // Nothing is loaded, and nothing has to be remembered.
    this.#seen[replica.index as 0 | 1].clear();
  }

  /** Makes a change for certain, trying again when connections broke just before. */
  async #make(replica: Replica, mutation: Mutation): Promise<void> {
    const before = this.history.revision;
    await until(
      () => this.change(replica, mutation),
      () => this.history.revision > before,
    );
  }

  #learn(replica: Replica, mutation: Mutation, id: number, revision: number, acknowledged: boolean): void {
    const before = this.history.state;
    const after = structuredClone(before);
    mutation.apply(after, id);
    const known = this.history.revision;
    const concerned = this.agentNames.filter((name) => verdictOf(before, name) !== verdictOf(after, name));
    if (revision === known + 1) {
      this.history.push(after);
      if (!acknowledged) return;
      for (const name of concerned) this.#seenOf(replica, name).floor = revision;
    } else if (revision !== known) {
      throw new Error(`revision ${revision} is reported for a change after revision ${known}`);
    } else if (acknowledged && concerned.length > 0) {
      throw new Error(`${mutation.method} ${mutation.path} changed a verdict but not the revision ${known}`);
    }
  }

  /**
   * Evaluates, and checks what comes back against every law. `alongside` runs at the same time, so the verdict may be
   * one of a revision that is not known before. No reply when the process was killed meanwhile.
   */
  async evaluate(
    replica: Replica,
    agent: 0 | 1,
    minRevision = 0,
    alongside?: Promise<void>,
  ): Promise<RestReply | undefined> {
    const name = this.agentNames[agent];
    const { floor, solid } = this.#seenOf(replica, name);
    const began = this.#unsettled;
    const restarts = tally.restarts;
    const answer = replica.call(
      'POST',
      '/api/v1/evaluation',
      { agent_name: name, stage: 'pre', step: { type: 'llm', name: 'answer', input: INPUT } },
      minRevision === 0 ? {} : { 'x-service-min-revision': String(minRevision) },
    );
    const reply = await answer.catch(() => undefined);
    await alongside;
    if (reply === undefined) {
      if (restarts === tally.restarts) throw new Error(`replica ${replica.index}: the connection broke`);
      tally.lost += 1;
      return undefined;
    }
    const fail = (why: string): never => {
      const said = `${reply.status} ${reply.headers.get('x-service-revision')} ${JSON.stringify(reply.body)}`;
      throw new Error(
        `replica ${replica.index}, ${name}, min_revision ${minRevision}: ${why}; it said ${said}`,
      );
    };
    if (reply.status === 200) this.#check(replica, name, reply, Math.max(floor, minRevision), fail);
    else if (reply.status === 503) {
      tally.refused += 1;
      if (solid && minRevision === 0) fail('a loaded agent was not evaluated');
      if (this.fleet.kind === 'sqlite' && minRevision === 0) fail('the database is there');
    } else if (reply.status === 404) {
      if (solid) fail('a loaded agent was forgotten');
      const demanded = this.history.at(Math.max(floor, Math.min(minRevision, this.history.revision)));
      if (verdictOf(demanded, name) !== undefined) fail('an agent is not known that is registered');
    } else fail('that is no answer');
    // It may have been judged before a change that this replica was told of meanwhile.
    if (began !== this.#unsettled) this.#seenOf(replica, name).solid = false;
    return reply;
  }

  #check(
    replica: Replica,
    name: string,
    reply: RestReply,
    least: number,
    fail: (why: string) => never,
  ): void {
    const revision = Number(reply.headers.get('x-service-revision'));
    tally.verdicts += 1;
    if (revision < this.history.revision) tally.older += 1;
    if (revision < least) fail(`a verdict of revision ${least} or later is due`);
    const expected = verdictOf(this.history.at(revision), name);
    if (verdictIn(reply.body) !== expected) fail(`revision ${revision} has the verdict "${expected}"`);
    const seen = this.#seenOf(replica, name);
    seen.floor = Math.max(seen.floor, revision);
    seen.solid = true;
  }

  /** Ends every partition; then both replicas must get to the last revision, with and without being told to. */
  async converge(): Promise<void> {
    const { revision, state } = this.history;
    for (const replica of this.fleet.replicas) await replica.setNetwork('clear');
    for (const replica of this.fleet.replicas) {
      for (const agent of [0, 1] as const) {
        const expected = verdictOf(state, this.agentNames[agent]);
        const arrived = (reply: RestReply | undefined) =>
          expected === undefined
            ? reply?.status === 404
            : reply?.status === 200 && verdictIn(reply.body) === expected;
        await until(() => this.evaluate(replica, agent), arrived);
        await until(() => this.evaluate(replica, agent, revision), arrived);
      }
    }
  }

  /** Whether an agent certainly is in memory. */
  isSolid(replica: Replica, agent: 0 | 1): boolean {
    return this.#seenOf(replica, this.agentNames[agent]).solid;
  }

  #unsettle(replica: Replica): void {
    this.#unsettled += 1;
    for (const seen of this.#seen[replica.index as 0 | 1].values()) seen.solid = false;
  }

  #seenOf(replica: Replica, name: string): Seen {
    const seen = this.#seen[replica.index as 0 | 1];
    const known = seen.get(name) ?? { floor: 0, solid: false };
    seen.set(name, known);
    return known;
  }
}
