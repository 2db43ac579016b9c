import { createModelCalls } from '../../packages/client/src/frameworks/index.js';
import {
  Code,
  ConnectError,
  createClient,
  StepDataError,
  StepError,
} from '../../packages/client/src/node.js';
import type { Made, Result, Situation } from './situations.js';

/** A situation with the addresses and names of one run. */
export interface Run {
  readonly situation: Situation;
  readonly url: string;
  readonly agent: string;
  /** Resolves once the peer has received the call. */
  readonly received: () => Promise<void>;
}

class Instance {
  readonly #hidden = 1;
  get hidden(): number {
    return this.#hidden;
  }
}

/** A value that JSON does not have, or as it would be in another language. */
function made(kind: Made): unknown {
  switch (kind) {
    case 'bytes':
      return new Uint8Array([1, 2]);
    case 'deep': {
      let value: unknown = 1;
      for (let level = 0; level < 250; level += 1) value = [value];
      return value;
    }
    case 'circular': {
      const value: Record<string, unknown> = {};
      value.self = value;
      return value;
    }
    case 'function':
      return () => 1;
    case 'stream':
      return new ReadableStream();
    case 'big integer':
      return { n: 2n ** 70n };
    case 'surrogate':
      return { text: '\ud800' };
    case 'large':
      return { text: 'x'.repeat(9 * 1024 * 1024) };
    case 'instance':
      return new Instance();
    case 'date':
      return new Date(0);
  }
}

/** What the TypeScript client makes of a situation. */
export async function typescriptResult({ situation, url, agent, received }: Run): Promise<Result> {
  const { client: settings = {}, stage = 'pre', step = 'send_mail', tool, times = 1 } = situation;
  const { apiKey = 'agent-key', ...others } = settings;
  const keys = typeof apiKey === 'string' ? [] : [...apiKey];
  const client = createClient({
    baseUrl: url,
    agent,
    timeoutMs: 300_000,
    ...others,
    apiKey: typeof apiKey === 'string' ? apiKey : () => (keys.length > 1 ? keys.shift() : keys[0]) ?? '',
  });
  const cancelling = new AbortController();
  if (situation.cancel === 'before') cancelling.abort();
  const input = situation.inputMade === undefined ? (situation.input ?? {}) : made(situation.inputMade);
  const { signal } = cancelling;

  async function evaluated(): Promise<Result> {
    const { output, accepts, minRevision, traceparent } = situation;
    const request = { stage, step: { name: step, input, output } };
    const call = client.evaluate(request, { accepts, minRevision, traceparent, signal });
    if (situation.cancel === 'after') void received().then(() => cancelling.abort());
    const evaluation = await call;
    if (evaluation.evaluated) return { outcome: evaluation.outcome };
    return {
      outcome: evaluation.isSafe ? 'unchecked' : 'not evaluated',
      error: Code[evaluation.error.code],
    };
  }

  let ran = false;
  async function guarded(): Promise<Result> {
    const { returns = { text: 'done' }, returnsMade, throws, onRefused, ...options } = tool ?? {};
    const guard = client.guard(
      async (given: Record<string, unknown>): Promise<unknown> => {
        ran = true;
        if (throws !== undefined) throw new Error(throws);
        if (returnsMade !== undefined) return made(returnsMade);
        return returns === 'input' ? given : returns;
      },
      { step, ...options, ...(onRefused === true ? { onRefused: (error: StepError) => error.message } : {}) },
    );
    const result = await guard(input as Record<string, unknown>);
    return { outcome: 'passed', result: result as never, ran };
  }

  async function streamed({ parts, ...sizes }: NonNullable<Situation['stream']>): Promise<Result> {
    const model = { step, windows: { ...sizes, maxDelayMs: 60_000 } };
    const calls = createModelCalls({ client, onRefused: 'throw', model });
    const call = await calls.begin({ request: undefined, messages: [], change: () => undefined });
    let result = '';
    const release = (text: string) => {
      result += text;
    };
    const windows = call.windows({ release, onFailed: () => {} });
    try {
      for (const part of parts) await windows.push(part);
      await windows.end((text) => call.end({ text }));
      return { outcome: 'passed', result };
    } catch (error) {
      return { ...resultOf(error, signal), result };
    }
  }

  try {
    if (situation.stream !== undefined) return await streamed(situation.stream);
    let result: Result = { outcome: 'none' };
    for (let time = 0; time < times; time += 1) result = await (tool === undefined ? evaluated() : guarded());
    return result;
  } catch (error) {
    return { ...resultOf(error, signal), ...(tool === undefined ? {} : { ran }) };
  } finally {
    client.close();
  }
}

function resultOf(error: unknown, signal: AbortSignal): Result {
  if (!(error instanceof Error)) return { outcome: 'error', error: String(error) };
  const { message, name } = error;
  if (error instanceof StepError || error instanceof StepDataError)
    return { outcome: 'refused', error: name, message };
  if (error instanceof ConnectError)
    return { outcome: 'error', error: Code[error.code], message: error.rawMessage };
  if (error === signal.reason) return { outcome: 'error', error: 'cancelled' };
  if (error instanceof TypeError || error instanceof RangeError) return { outcome: 'error', error: 'usage' };
  return { outcome: 'error', error: 'tool', message };
}
