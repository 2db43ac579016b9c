import path from 'node:path';
import { vi } from 'vitest';
import { ADAPTER_NAMES } from '../../src/contract/config/adapter-names.js';
import { type Refusal, type Refused, refusalOf } from '../support/refusals.js';
import type { Json } from '../support/wire-shape.js';

/** Keys of the service that the calls go to. */
export const READER_KEY = 'reader-key';
export const ADMIN_KEY = 'admin-key';
export const OPERATOR_KEY = 'operator-key';

/**
 * Settings of the service that the calls go to: it makes runtime tokens, takes keys for evaluations as well, and has the
 * packs of the tests.
 */
export const TOKEN_SETTINGS = {
  SERVICE_RUNTIME_TOKEN_SECRETS: 'a-secret-of-tokens-with-32-bytes',
  SERVICE_RUNTIME_AUTH_MODE: 'both',
  SERVICE_PUBLIC_URL: 'https://decisions.example.com',
  SERVICE_ADAPTERS: ADAPTER_NAMES.join(','),
  SERVICE_PACKS: path.join(import.meta.dirname, '..', 'fixtures', 'packs'),
};

/** As a `decision_id`: that of the latest sample, which is written after the reply about its step. */
export const LATEST_SAMPLE = '<the latest sample>';

/** The request of a step, once what it names is there. `listSamples` returns the reply of ListSamples. */
export function inputOf(
  { input }: Pick<Step, 'input'>,
  listSamples: () => Promise<unknown>,
): Promise<Step['input']> {
  if (input.decision_id !== LATEST_SAMPLE) return Promise.resolve(input);
  return vi.waitFor(
    async () => {
      const listed = await listSamples();
      const [sample] = (listed as { samples?: { decision_id: string }[] }).samples ?? [];
      if (sample === undefined) throw new Error(`no sample was written: ${JSON.stringify(listed)}`);
      return { ...input, decision_id: sample.decision_id };
    },
    { timeout: 300_000 },
  );
}

/** One call of the script. */
export interface Step {
  readonly rpc: string;
  readonly what: string;
  readonly input: { readonly [member: string]: Json };
  readonly key: string | null;
  /** Members of the reply, or the error. */
  readonly expected: { readonly reply: object } | Refusal;
}

/** A call of one RPC; the key is that of an admin unless stated. */
export type Call = readonly [
  what: string,
  input: Step['input'],
  expected: { readonly reply: object } | Refused,
  key?: string | null,
];

export function called(rpc: string, ...[what, input, expected, key = ADMIN_KEY]: Call): Step {
  const isReply = typeof expected === 'object' && 'reply' in expected;
  return { rpc, what, input, expected: isReply ? expected : refusalOf(expected), key };
}

/** Calls of one RPC that follow each other. */
export const steps = (rpc: string, calls: readonly Call[]): Step[] =>
  calls.map((call) => called(rpc, ...call));

/** A request to evaluate a text before an llm step. */
export const evaluation = (agentName: string, input: string) => ({
  agent_name: agentName,
  stage: 'pre',
  detail: 'full',
  step: { type: 'llm', name: 'answer', input },
});
