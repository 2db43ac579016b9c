import type { RestClient, RestReply } from '../support/http.js';

/** What must become of a hostile request. */
export type Expected =
  /** Refused with this status; the problem names what is wrong in one of its texts or fields. */
  | { readonly status: number; readonly says: RegExp }
  /** Answered, with the control of the case in one of these lists. */
  | { readonly lists: readonly ('matches' | 'errors' | 'non_matches')[] };

/** One attack on the service: a definition that must be refused, or a step that must be answered in bounded time. */
export interface HostileCase {
  readonly name: string;
  readonly expected: Expected;
  /** The control; without `step`, creating it is the attack. */
  readonly definition?: () => object;
  /** The step that the control is evaluated on. */
  readonly step?: () => object;
  /** A request of another kind: method, path and body. */
  readonly request?: () => readonly [method: string, path: string, body: string | object];
}

/** A case that was prepared: `attack` sends the hostile request and nothing else. */
export interface PreparedCase {
  readonly hostile: HostileCase;
  attack(): Promise<RestReply>;
}

/** Creates what the attack needs: an agent and, where a step is the attack, the control it meets. */
export async function prepareCase(
  call: RestClient,
  hostile: HostileCase,
  index: number,
): Promise<PreparedCase> {
  const agent = `hostile-agent-${index}`;
  const demand = async (...request: Parameters<RestClient>) => {
    const reply = await call(...request);
    if (reply.status !== 200) throw new Error(`${hostile.name}: ${JSON.stringify(reply.body).slice(0, 500)}`);
    return reply;
  };
  const [method, path, body] = await requestOf(hostile, index, async (definition) => {
    await demand('POST', '/api/v1/agents/initAgent', { agent: { agent_name: agent } });
    const name = `hostile-${index}`;
    const created = await demand('PUT', '/api/v1/controls', { name, data: definition });
    await demand('POST', `/api/v1/agents/${agent}/controls/${created.body.control_id}`);
    return agent;
  });
  // Made into text now: it takes longer than sending it.
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { hostile, attack: () => call(method, path, text) };
}

async function requestOf(
  { request, definition, step }: HostileCase,
  index: number,
  store: (definition: object) => Promise<string>,
): Promise<readonly [string, string, string | object]> {
  if (request !== undefined) return request();
  const data = definition?.() ?? {};
  if (step === undefined) return ['PUT', '/api/v1/controls', { name: `refused-${index}`, data }];
  const evaluation = { agent_name: await store(data), step: step(), stage: 'pre' };
  return ['POST', '/api/v1/evaluation', evaluation];
}

/** What is wrong with a reply; undefined when it is what was expected. */
export function replyProblem({ expected }: HostileCase, reply: RestReply): string | undefined {
  const shown = JSON.stringify(reply.body).slice(0, 500);
  if ('status' in expected) {
    const isRight = reply.status === expected.status && expected.says.test(JSON.stringify(reply.body));
    return isRight
      ? undefined
      : `expected ${expected.status} and ${expected.says}, got ${reply.status} ${shown}`;
  }
  if (reply.status !== 200) return `expected an answer, got ${reply.status} ${shown}`;
  const lists = ['matches', 'errors', 'non_matches'] as const;
  const found = lists.filter((list) => reply.body[list].length > 0);
  if (found.length !== 1 || !expected.lists.some((list) => list === found[0])) {
    return `expected the control in ${expected.lists.join(' or ')}, got ${shown}`;
  }
  // Fails closed: all controls here deny.
  return reply.body.is_safe === (found[0] === 'non_matches') ? undefined : `the wrong verdict: ${shown}`;
}
