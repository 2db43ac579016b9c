import { createClient, type Transport } from '@connectrpc/connect';
import { Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { restClient } from '../../support/http.js';
import { rpcTransport } from '../../support/rpc-transports.js';
import { denyWord, seeder } from '../../support/seed.js';

/** What comes of a step by the controls of `seedFleet`. */
export type Fate = 'allow' | 'deny' | 'steer' | 'observe' | 'error';

/** One evaluation, as its sender noted it down. */
export interface Sent {
  readonly atMs: number;
  readonly agent: string;
  readonly fate: Fate;
}

/** Agents with the share of their steps that meet each fate, in per cent; the rest is allowed. */
export const AGENTS: Readonly<Record<string, Partial<Record<Fate, number>>>> = {
  'support-assistant': { deny: 20, steer: 10, observe: 15 },
  'billing-assistant': { deny: 5, observe: 40 },
  'quiet-assistant-1': {},
  'broken-assistant': { error: 100 },
};

export const CONTROLS = ['no-cards', 'ask-first', 'watch-refunds', 'asks-model'] as const;
/** The control that decides each fate. */
export const CONTROL_OF: Readonly<Record<Fate, (typeof CONTROLS)[number] | undefined>> = {
  allow: undefined,
  deny: 'no-cards',
  steer: 'ask-first',
  observe: 'watch-refunds',
  error: 'asks-model',
};

const TEXTS: Readonly<Record<Fate, string>> = {
  allow: 'good morning',
  deny: 'card 4111111111111111',
  steer: 'call the customer',
  observe: 'a refund',
  error: 'good morning',
};
const IS_SAFE: Readonly<Record<Fate, boolean>> = {
  allow: true,
  deny: false,
  steer: false,
  observe: true,
  error: false,
};

/** Registers the agents with their controls; returns the ids of the controls by name. */
export async function seedFleet(url: string): Promise<ReadonlyMap<string, number>> {
  const seed = seeder(restClient(url));
  const unknown = { condition: { selector: {}, evaluator: { name: 'acme.model', config: {} } } };
  const ids = new Map<string, number>([
    ['no-cards', await seed.control('no-cards', denyWord('\\d{16}'))],
    ['ask-first', await seed.control('ask-first', withDecision('customer', 'steer'))],
    ['watch-refunds', await seed.control('watch-refunds', withDecision('refund', 'observe'))],
    ['asks-model', await seed.control('asks-model', denyWord('', unknown))],
  ]);
  const idOf = (name: string) => ids.get(name) ?? 0;
  for (const name of Object.keys(AGENTS)) {
    await seed.agent(name);
    const own = name === 'broken-assistant' ? ['asks-model'] : ['no-cards', 'ask-first', 'watch-refunds'];
    for (const control of own) await seed.link(name, idOf(control));
  }
  return ids;
}

function withDecision(word: string, decision: 'steer' | 'observe'): object {
  const action =
    decision === 'steer' ? { decision, steering_context: { message: 'Ask first.' } } : { decision };
  return denyWord(word, { action });
}

/** Sends a step over one protocol, and fails unless the verdict is the one that was meant. */
export type Send = (agent: string, fate: Fate) => Promise<void>;

/** The four protocols, each with a client of its own. */
export function senders(url: string): readonly Send[] {
  const call = restClient(url);
  const rest: Send = async (agent, fate) => {
    const step = { type: 'tool', name: 'send_mail', input: { text: TEXTS[fate] } };
    const { body } = await call('POST', '/api/v1/evaluation', { agent_name: agent, stage: 'pre', step });
    demand(fate, body.is_safe as boolean);
  };
  const overRpc = (transport: Transport): Send => {
    const client = createClient(EvaluationService, transport);
    return async (agentName, fate) => {
      const step = JSON.stringify({ type: 'tool', name: 'send_mail', input: { text: TEXTS[fate] } });
      const { isSafe } = await client.evaluate({
        agentName,
        stage: Stage.PRE,
        stepForm: { case: 'stepJson', value: new TextEncoder().encode(step) },
      });
      demand(fate, isSafe);
    };
  };
  const protocols = ['gRPC', 'gRPC-Web over HTTP/1.1', 'Connect over HTTP/1.1'] as const;
  return [rest, ...protocols.map((protocol) => overRpc(rpcTransport(protocol, url)))];
}

function demand(fate: Fate, isSafe: boolean): void {
  if (isSafe !== IS_SAFE[fate]) throw new Error(`a step that was meant to end in ${fate} did not`);
}
