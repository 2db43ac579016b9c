import type { Interceptor, Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { type Client, type ClientSettings, createClient } from '../../packages/client/src/node.js';
import { restClient } from '../support/http.js';
import { denyWord, seeder } from '../support/seed.js';

export const AGENT = 'guarded-agent-1';
/** Time of evaluations whose limit is not what is tested, in milliseconds. */
export const PATIENT_MS = 300_000;

/** An agent that must not say `bad`, neither before nor after, and is steered when it says `vague`. */
export async function seedAgent(url: string, agent = AGENT): Promise<void> {
  const seed = seeder(restClient(url));
  await seed.linked(agent, `${agent}-no-bad`, denyWord('bad', { scope: { stages: ['pre'] } }));
  const output = {
    selector: { path: 'output' },
    evaluator: { name: 'regex', config: { pattern: 'secret-\\d+' } },
  };
  const leak = {
    execution: 'server',
    scope: { stages: ['post'] },
    condition: output,
    action: { decision: 'deny' },
  };
  await seed.link(agent, await seed.control(`${agent}-no-leak`, leak));
  const steering_context = { message: 'Be precise.', required_actions: ['name the customer'] };
  const steer = denyWord('vague', { action: { decision: 'steer', steering_context } });
  await seed.link(agent, await seed.control(`${agent}-be-precise`, steer));
}

/** An evaluation request that is denied when the text contains `bad`. */
export function asking(text: string, agent = AGENT) {
  return { agent, stage: 'pre', step: { name: 'send_mail', input: { text } } } as const;
}

/** What went over a transport: the RPC of each call, and the number of evaluations of each message. */
export interface Traffic {
  readonly calls: string[];
  readonly messages: number[];
}

/** A gRPC transport that tells what goes over it. */
export function watchedTransport(baseUrl: string): { transport: Transport; traffic: Traffic } {
  const traffic: Traffic = { calls: [], messages: [] };
  const note = (message: unknown) => {
    traffic.messages.push((message as { evaluations: unknown[] }).evaluations.length);
  };
  const watch: Interceptor = (next) => (request) => {
    traffic.calls.push(request.method.name);
    if (!request.stream) {
      note(request.message);
      return next(request);
    }
    const inner = request.message;
    async function* passing() {
      for await (const message of inner) {
        note(message);
        yield message;
      }
    }
    return next({ ...request, message: passing() } as typeof request);
  };
  return { transport: createGrpcTransport({ baseUrl, interceptors: [watch] }), traffic };
}

/** A streaming client and what goes over its transport. */
export function watchedClient(
  baseUrl: string,
  settings: ClientSettings = {},
): { client: Client; traffic: Traffic } {
  const { transport, traffic } = watchedTransport(baseUrl);
  return {
    client: createClient({ transport, streaming: true, timeoutMs: PATIENT_MS, ...settings }),
    traffic,
  };
}
