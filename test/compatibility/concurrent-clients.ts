import { type RestClient, restClient } from '../support/http.js';
import { denyWord } from '../support/seed.js';
import {
  type Acknowledged,
  createHistory,
  type Effect,
  type History,
  type Subject,
} from './concurrent-history.js';

/** Few of each, so that the clients are always in each other's way. */
const CONTROL_NAMES = ['c-1', 'c-2', 'c-3', 'c-4', 'c-5', 'c-6', 'c-7', 'c-8'];
export const AGENTS = ['contended-01', 'contended-02', 'contended-03'];
const POLICY_COUNT = 2;
/** How many of the latest ids clients pick from; some of them are deleted already. */
const RECENT_IDS = 10;

export interface ConcurrentClientsOptions {
  readonly url: string;
  readonly clients: number;
  /** Makes the choices of the clients repeatable; how these interleave is not. */
  readonly seed: number;
  /** Asked before each operation of a client, with the number of those it has done. */
  goOn(operationsDone: number): boolean;
}

/** What the clients did and what they were told. */
export interface ConcurrentRun {
  readonly history: History;
  readonly policies: readonly number[];
  readonly call: RestClient;
}

/**
 * Lets many clients create, rename, redefine, switch, link and delete the same few controls, and register the same few
 * agents, all at once. Every reply must be a success, or a refusal that the state explains; a reply with any other
 * status rejects.
 */
export async function runConcurrentClients(options: ConcurrentClientsOptions): Promise<ConcurrentRun> {
  const call = restClient(options.url);
  const history = createHistory();
  const policies: number[] = [];
  for (let index = 0; index < POLICY_COUNT; index += 1) {
    const { body } = await call('PUT', '/api/v1/policies', { name: `contended-${index}` });
    policies.push(body.policy_id);
  }
  await Promise.all(
    Array.from({ length: options.clients }, async (_none, index) => {
      const client = contender(call, history, policies, index, random(options.seed + index));
      for (let done = 0; options.goOn(done); done += 1) await client();
    }),
  );
  return { history, policies, call };
}

/** What a change is refused with while others are waited for; it leaves nothing behind. */
const NOT_BEGUN = /^Waited too long for other changes/;

/** Returns one operation of a client, chosen by chance; but at first it registers an agent, together with all others. */
function contender(
  call: RestClient,
  history: History,
  policies: readonly number[],
  index: number,
  chance: () => number,
): () => Promise<void> {
  let made = 0;
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
  const freshWord = () => {
    made += 1;
    return `word${index}x${made}y`;
  };

  /** Sends a request; when it succeeds, it had these effects. */
  async function send(
    method: string,
    path: string,
    refusals: readonly number[],
    effects: (body: Acknowledged['body']) => readonly Effect[],
    body?: unknown,
    target?: number,
  ): Promise<void> {
    const started = history.now();
    let reply = await call(method, `/api/v1${path}`, body);
    // A busy machine: the change was refused before it began, as every client may be, and is asked for again.
    while (reply.status === 503 && NOT_BEGUN.test(reply.body.detail)) {
      reply = await call(method, `/api/v1${path}`, body);
    }
    const what = `${method} ${path} ${JSON.stringify(body ?? null)}`;
    if (reply.status !== 200 && !refusals.includes(reply.status)) {
      throw new Error(`${what}: ${reply.status} ${JSON.stringify(reply.body)}`);
    }
    history.add({
      what,
      started,
      ended: history.now(),
      status: reply.status,
      body: reply.body,
      effects: reply.status === 200 ? effects(reply.body) : [],
      ...(target === undefined ? {} : { target }),
    });
  }

  const create = () => {
    const name = oneOf(CONTROL_NAMES);
    const word = freshWord();
    const isolated = (id: number): Effect[] => [
      { subject: `control ${id}`, value: true },
      { subject: `name ${id}`, value: name },
      { subject: `word ${id}`, value: word },
      { subject: `enabled ${id}`, value: true },
    ];
    return send('PUT', '/controls', [409], (body) => isolated(body.control_id), {
      name,
      data: denyWord(word),
    });
  };

  const onControl = (id: number): readonly (() => Promise<void>)[] => {
    const set = (subject: Subject, value: Effect['value']) => () => [{ subject, value }];
    const agent = oneOf(AGENTS);
    const policy = oneOf(policies);
    const linked: Subject = `link ${agent} ${id}`;
    const contained: Subject = `content ${policy} ${id}`;
    const rename = () => {
      const name = oneOf(CONTROL_NAMES);
      return send('PATCH', `/controls/${id}`, [404, 409], set(`name ${id}`, name), { name }, id);
    };
    const switchIt = () => {
      const enabled = chance() < 0.5;
      return send('PATCH', `/controls/${id}`, [404], set(`enabled ${id}`, enabled), { enabled }, id);
    };
    const redefine = () => {
      const word = freshWord();
      const data = denyWord(word);
      const effects = () => [
        { subject: `word ${id}`, value: word } as const,
        // A definition that does not mention it enables the control.
        { subject: `enabled ${id}`, value: true } as const,
      ];
      return send('PUT', `/controls/${id}/data`, [404], effects, { data }, id);
    };
    const link = (method: 'POST' | 'DELETE') =>
      send(method, `/agents/${agent}/controls/${id}`, [404], set(linked, method === 'POST'), undefined, id);
    const contain = (method: 'POST' | 'DELETE') =>
      send(
        method,
        `/policies/${policy}/controls/${id}`,
        [404],
        set(contained, method === 'POST'),
        undefined,
        id,
      );
    const remove = () => {
      const force = chance() < 0.7;
      const refusals = force ? [404] : [404, 409];
      return send(
        'DELETE',
        `/controls/${id}?force=${force}`,
        refusals,
        set(`control ${id}`, false),
        undefined,
        id,
      );
    };
    return [
      rename,
      switchIt,
      redefine,
      redefine,
      () => link('POST'),
      () => link('POST'),
      () => link('DELETE'),
      () => contain('POST'),
      () => contain('DELETE'),
      remove,
    ];
  };

  const register = (agent: string) => {
    const word = freshWord();
    const body = {
      agent: { agent_name: agent, agent_description: word },
      steps: [{ type: 'tool', name: word }],
      conflict_mode: 'overwrite',
    };
    return send('POST', '/agents/initAgent', [], () => [{ subject: `agent ${agent}`, value: word }], body);
  };

  const onAgent = (): readonly (() => Promise<void>)[] => {
    const agent = oneOf(AGENTS);
    const policy = oneOf(policies);
    const given: Subject = `policy ${agent} ${policy}`;
    const give = (method: 'POST' | 'DELETE') => () =>
      send(method, `/agents/${agent}/policies/${policy}`, [404], () => [
        { subject: given, value: method === 'POST' },
      ]);
    const evaluate = () => {
      const body = {
        agent_name: agent,
        stage: 'pre',
        step: { type: 'llm', name: 'answer', input: freshWord() },
      };
      return send('POST', '/evaluation', [404], () => [], body);
    };
    const registerIt = () => register(agent);
    return [registerIt, registerIt, give('POST'), give('DELETE'), evaluate, evaluate];
  };

  return () => {
    if (made === 0) return register(AGENTS[index % AGENTS.length] as string);
    const known = history.controlIds().slice(-RECENT_IDS);
    const dice = chance();
    if (known.length === 0 || dice < 0.15) return create();
    return oneOf(dice < 0.75 ? onControl(oneOf(known)) : onAgent())();
  };
}

/** Numbers from 0 to 1 that the seed determines (mulberry32). */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
