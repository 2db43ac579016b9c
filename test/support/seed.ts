import { type RestClient, type RestReply, untilServed } from './http.js';

/** A definition that denies steps whose input contains `word`. */
export function denyWord(word: string, more: object = {}): Record<string, unknown> {
  return {
    execution: 'server',
    condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: word } } },
    action: { decision: 'deny' },
    ...more,
  };
}

/**
 * Fills a service over its JSON routes; whatever is refused for good throws.
 */
export function seeder(call: RestClient) {
  async function demand(...request: Parameters<RestClient>): Promise<RestReply> {
    const reply = await untilServed(() => call(...request));
    if (reply.status === 200) return reply;
    throw new Error(`${request[0]} ${request[1]}: ${reply.status} ${JSON.stringify(reply.body)}`);
  }
  /** Registers an agent. */
  async function agent(name: string, more: object = {}): Promise<void> {
    await demand('POST', '/api/v1/agents/initAgent', { agent: { agent_name: name }, ...more });
  }
  /** Creates a control and returns its id. */
  async function control(name: string, data: object = denyWord('bad')): Promise<number> {
    return (await demand('PUT', '/api/v1/controls', { name, data })).body.control_id as number;
  }
  async function link(agentName: string, controlId: number): Promise<void> {
    await demand('POST', `/api/v1/agents/${agentName}/controls/${controlId}`);
  }
  /** Registers an agent with a control of its own, whose id it returns. */
  async function linked(agentName: string, controlName: string, data?: object): Promise<number> {
    await agent(agentName);
    const id = await control(controlName, data);
    await link(agentName, id);
    return id;
  }
  return { agent, control, link, linked };
}

/** Evaluates an llm step before it runs. */
export function evaluate(call: RestClient, agentName: string, input: unknown): Promise<RestReply> {
  return call('POST', '/api/v1/evaluation', {
    agent_name: agentName,
    stage: 'pre',
    step: { type: 'llm', name: 'answer', input },
  });
}
