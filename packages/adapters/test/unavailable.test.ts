import { describe, expect, it } from 'vitest';
import { ANONYMOUS, type Handler, type HandlerCall } from '../../../src/contract/call/handler.js';
import type { AdapterName } from '../../../src/contract/config/adapter-names.js';
import { ADAPTER_NAMES } from '../../../src/contract/config/adapter-names.js';
import type { ErrorCode } from '../../../src/contract/errors/error-table.js';
import { ServiceError } from '../../../src/contract/errors/service-error.js';
import { AGENT, PEERS } from '../../../test/serve/adapters/http-adapters.support.js';
import { createAgentHooks } from '../src/agent-hooks/agent-hooks.js';
import { createAgentgateway } from '../src/agentgateway/agentgateway.js';
import { createCodingHooks } from '../src/coding-hooks/coding-hooks.js';
import { createCopilotStudio } from '../src/copilot-studio/copilot-studio.js';
import { createLitellm } from '../src/litellm/litellm.js';
import { createAdapterEvaluations } from '../src/steps/adapter-evaluations.js';

/** Adapters of a service whose evaluations fail with an error, and what they have counted and logged. */
function failing(
  error: Error,
  failOpen: readonly AdapterName[] = [],
  on: readonly AdapterName[] = ADAPTER_NAMES,
) {
  const counted: string[] = [];
  const told: string[] = [];
  const evaluations = createAdapterEvaluations({
    evaluation: { evaluate: () => Promise.reject(error) } as never,
    on,
    failOpen,
    mappings: new Map(),
    meter: { adapted: (adapter, outcome) => void counted.push(`${adapter} ${outcome}`) },
    failures: { told: (_level, key) => void told.push(String(key)) },
  });
  const handlers: Record<string, Handler | undefined> = {
    'coding-hooks': createCodingHooks(evaluations).evaluateCodingHook,
    litellm: createLitellm(evaluations).evaluateLitellmGuardrail,
    'copilot-studio': createCopilotStudio(evaluations).analyzeToolExecution,
    agentgateway: createAgentgateway(evaluations).evaluateGatewayPrompt,
    'agent-hooks': createAgentHooks(evaluations).evaluateAgentHook,
  };
  const ask = async (adapter: string, body: object, signal?: AbortSignal) => {
    const handler = handlers[adapter] as Handler;
    const input = handler.input.parse({ body, agent: AGENT });
    return ((await handler.handle(input, callOf(signal))) as { reply: object }).reply;
  };
  return { ask, handlers, counted, told };
}

function callOf(signal = new AbortController().signal): HandlerCall {
  return {
    principal: ANONYMOUS,
    requestId: 'request-1',
    address: null,
    signal,
    isLenient: false,
    protocol: 'rest',
    spend() {},
    ignoredParts: () => [],
    header: () => undefined,
    reportRevision() {},
    reportStaleness() {},
    warn() {},
  };
}

const failure = (code: ErrorCode) => new ServiceError(code, { detail: 'The secret detail.' });

describe.each(PEERS)('$adapter of a service that cannot evaluate', (peer) => {
  const { adapter, message } = peer;
  const name = adapter as AdapterName;

  it.each(['SERVICE_UNAVAILABLE', 'DRAINING', 'DEADLINE_EXCEEDED'] as const)('denies: %s', async (code) => {
    const { ask, counted } = failing(failure(code));
    expect(await ask(adapter, message('hello'))).toEqual(
      peer.denied('could not be checked before it ran', 503),
    );
    expect(counted).toEqual([`${adapter} error`]);
  });

  it('allows if it fails open, counts it and tells it', async () => {
    const { ask, counted, told } = failing(failure('SERVICE_UNAVAILABLE'), [name]);
    expect(await ask(adapter, message('hello'))).toMatchObject(peer.allowed);
    expect([counted, told]).toEqual([[`${adapter} unchecked`], [`fails open ${adapter}`]]);
  });

  it('denies what is wrong with the request, even if it fails open', async () => {
    const { ask, counted } = failing(failure('AGENT_NOT_FOUND'), [name]);
    expect(await ask(adapter, message('hello'))).toEqual(peer.denied('The secret detail.', 404));
    expect(counted).toEqual([`${adapter} refused`]);
  });

  it('fails with other errors of the service, whose form denies and does not tell them', async () => {
    for (const error of [failure('DATABASE_ERROR'), new Error('broken')]) {
      const { ask, handlers, counted } = failing(error, [name]);
      await expect(ask(adapter, message('hello'))).rejects.toBe(error);
      const show = (status: number) =>
        handlers[adapter]?.errorForm?.show({
          status,
          code: '',
          message: 'It failed.',
          requestId: 'request-1',
        });
      expect(show(500)).toEqual({ status: 200, body: expect.stringContaining('It failed.') });
      // Such as a wrong key, or a body that is not JSON.
      expect([show(401)?.status, show(422)?.status]).toEqual([401, 200]);
      expect(counted).toEqual([`${adapter} error`, `${adapter} refused`, `${adapter} refused`]);
    }
  });

  it('gives up with a call that is over', async () => {
    const error = failure('SERVICE_UNAVAILABLE');
    const { ask, counted } = failing(error, [name]);
    await expect(ask(adapter, message('hello'), AbortSignal.abort())).rejects.toBe(error);
    expect(counted).toEqual([]);
  });

  it('denies while it is off', async () => {
    const { ask } = failing(failure('SERVICE_UNAVAILABLE'), [], []);
    expect(await ask(adapter, message('hello'))).toEqual(
      peer.denied(`The adapter "${adapter}" is off. Add it to SERVICE_ADAPTERS`, 404),
    );
  });
});
