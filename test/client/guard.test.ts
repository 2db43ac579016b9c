import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { guardTool } from '../../packages/client/src/guard.js';
import {
  type Client,
  createClient,
  DeniedError,
  type EvaluationRequest,
  type GuardOptions,
  NotEvaluatedError,
  SteerError,
  StepDataError,
} from '../../packages/client/src/node.js';
import { restClient } from '../support/http.js';
import { seeder } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { AGENT, PATIENT_MS, seedAgent } from './client-harness.js';

/** An agent without controls. */
const UNLINKED = 'without-links-1';

interface Mail {
  readonly text: string;
}

describe('a guarded tool', () => {
  let client: Client;
  let ran: string[];
  const options: GuardOptions<[Mail], string> = { step: 'send_mail' };
  const send = async ({ text }: Mail): Promise<string> => {
    ran.push(text);
    return `sent ${text}`;
  };
  const service = suiteService();
  beforeAll(async () => {
    await seedAgent(service.url);
    await seeder(restClient(service.url)).agent(UNLINKED);
    client = createClient({ baseUrl: service.url, agent: AGENT, timeoutMs: PATIENT_MS });
  });
  afterAll(() => client.close());

  const failureOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => {
        throw new Error('it was not refused');
      },
      (error: unknown) => error,
    );
  const guarded = (more: Partial<GuardOptions<[Mail], string>> = {}) => {
    ran = [];
    return client.guard(send, { ...options, ...more });
  };

  it('ends a stream that is withheld, and says which option lets controls read it', async () => {
    const cancelled: string[] = [];
    const source = (name: string) => new ReadableStream({ cancel: () => void cancelled.push(name) });
    const streaming = client.guard(async () => source('stream'), { step: 'parts', input: () => ({}) });
    await expect(streaming()).rejects.toThrow(
      /^Step "parts" ran, and its result is withheld: output is a stream.*Set the option "output" of guard/,
    );
    const answering = client.guard(async () => new Response(source('response')), {
      ...{ step: 'parts', input: () => ({}), output: () => 'secret-1' },
    });
    await expect(answering()).rejects.toThrow(DeniedError);
    expect(cancelled).toEqual(['stream', 'response']);
  });

  it("gives the tool what was checked, whatever becomes of the caller's object", async () => {
    const tool = guarded();
    const changed = { text: 'hello' };
    const call = tool(changed);
    changed.text = 'bad';
    expect(await call).toBe('sent hello');
    let reads = 0;
    const lying = {
      get text() {
        reads += 1;
        return reads === 1 ? 'hello' : 'bad';
      },
    };
    expect(await guarded()(lying)).toBe('sent hello');
    expect(reads).toBe(1);
  });

  it('gives the tool nothing that controls did not see', async () => {
    const seen: object[] = [];
    const tool = client.guard(async (mail: object) => void seen.push(mail), { step: 'send_mail' });
    const at = new Date(0);
    const mail = Object.defineProperties(
      { text: 'hello', at, list: [{ a: 1 }], [Symbol('s')]: 'bad' },
      {
        hidden: { value: 'bad', enumerable: false },
      },
    );
    await tool(mail);
    expect(seen).toEqual([{ text: 'hello', at, list: [{ a: 1 }] }]);
    expect(Reflect.ownKeys(seen[0] ?? {})).toEqual(['text', 'at', 'list']);
    expect((seen[0] as typeof mail).list).not.toBe(mail.list);
  });

  it('does not run a tool whose object is no copy and changes while it is checked', async () => {
    class Place {
      constructor(public text: string) {}
      toJSON() {
        return { text: this.text };
      }
    }
    ran = [];
    const tool = client.guard(async ({ place }: { place: Place }) => void ran.push(place.text), {
      step: 'send_mail',
    });
    await tool({ place: new Place('hello') });
    const place = new Place('hello');
    const call = failureOf(tool({ place }));
    place.text = 'bad';
    expect(await call).toBeInstanceOf(StepDataError);
    const own = guarded({ input: ({ text }) => ({ text }) });
    const mail = { text: 'hello' };
    const late = failureOf(own(mail));
    mail.text = 'bad';
    expect(String(await late)).toContain('its arguments have changed since they were checked');
    expect(ran).toEqual([]);
  });

  it('returns what onRefused makes of a refusal, and of nothing else', async () => {
    const onRefused = (error: Error) => `told: ${error.message}`;
    ran = [];
    const answering = client.guard(send, { step: 'send_mail', onRefused });
    expect(await answering({ text: 'hello' })).toBe('sent hello');
    expect(await answering({ text: 'bad' })).toMatch(/^told: Step "send_mail" was denied before it ran/);
    expect(ran).toEqual(['hello']);
    const failing = client.guard(() => Promise.reject(new Error('no mail today')), {
      ...{ step: 'send_mail', input: () => ({}), onRefused },
    });
    await expect(failing()).rejects.toThrow('no mail today');
    const unreadable = client.guard(async () => new Response('x'), {
      ...{ step: 'send_mail', input: () => ({}), onRefused },
    });
    await expect(unreadable()).rejects.toThrow(StepDataError);
  });

  it('runs and gives its result when no control objects', async () => {
    expect(await guarded()({ text: 'hello' })).toBe('sent hello');
  });

  it('does not run when a control denies its input', async () => {
    const error = await failureOf(guarded()({ text: 'a bad word' }));
    expect(error).toBeInstanceOf(DeniedError);
    expect(error).not.toBeInstanceOf(NotEvaluatedError);
    expect(error).toMatchObject({
      name: 'DeniedError',
      step: 'send_mail',
      stage: 'pre',
      controls: [`${AGENT}-no-bad`],
      verdict: { isSafe: false },
    });
    // A model may see the message, so only the reason quotes the pattern.
    const { message, reason, stack } = error as DeniedError;
    expect(message).toBe(
      `Step "send_mail" was denied before it ran by "${AGENT}-no-bad". A policy forbids it: do not repeat it unchanged.`,
    );
    expect(reason).toContain('Pattern found');
    for (const shown of [message, stack, String(error), JSON.stringify(error), inspect(error)]) {
      expect(shown).not.toContain('Pattern found');
    }
    expect(ran).toEqual([]);
  });

  it('does not run when a control steers, and reports how to mend it', async () => {
    const error = await failureOf(guarded()({ text: 'something vague' }));
    expect(error).toBeInstanceOf(SteerError);
    expect(error).toMatchObject({
      controls: [`${AGENT}-be-precise`],
      steering: 'Be precise.',
      requiredActions: ['name the customer'],
      message:
        `Step "send_mail" was steered before it ran by "${AGENT}-be-precise": Be precise. ` +
        'Required before it is repeated: name the customer.',
    });
    expect(ran).toEqual([]);
  });

  it('is denied rather than steered when controls do both', async () => {
    expect(await failureOf(guarded()({ text: 'bad and vague' }))).toBeInstanceOf(DeniedError);
  });

  it('keeps an output that is denied, and everything that quotes it, from its caller', async () => {
    const error = await failureOf(guarded()({ text: 'secret-4711' }));
    expect(ran).toEqual(['secret-4711']);
    expect(error).toBeInstanceOf(DeniedError);
    expect(error).toMatchObject({ stage: 'post', controls: [`${AGENT}-no-leak`] });
    const { message, stack, verdict, cause } = error as DeniedError;
    for (const text of [message, stack, String(cause)]) expect(text).not.toContain('4711');
    expect(verdict?.reason).toBeUndefined();
    expect(verdict?.matches.map((match) => match.result)).toMatchObject([{ matched: true }]);
    expect(verdict?.matches[0]?.result?.message).toBeUndefined();
  });

  it('checks only at the configured stages', async () => {
    expect(await guarded({ stages: ['post'] })({ text: 'bad' })).toBe('sent bad');
    expect(await guarded({ stages: ['pre'] })({ text: 'secret-1' })).toBe('sent secret-1');
  });

  it('shows controls what it is configured to show', async () => {
    expect(await guarded({ input: () => ({ hidden: true }) })({ text: 'bad' })).toBe('sent bad');
    expect(await guarded({ output: () => 'short' })({ text: 'secret-1' })).toBe('sent secret-1');
    expect(await failureOf(guarded({ output: () => 'secret-2' })({ text: 'fine' }))).toBeInstanceOf(
      DeniedError,
    );
  });

  it('shows what "input" makes of several arguments, and keeps "this"', async () => {
    const mailer = {
      prefix: 'to ',
      send: client.guard(
        function (this: unknown, name: string, text: string) {
          return `${(this as { prefix: string }).prefix}${name}: ${text}`;
        },
        { step: 'send', input: (name: string, text: string) => ({ name, text }) },
      ),
    };
    expect(await mailer.send('ann', 'hi')).toBe('to ann: hi');
    expect(await failureOf(mailer.send('ann', 'bad'))).toBeInstanceOf(DeniedError);
  });

  it('passes on what the tool throws', async () => {
    const boom = new Error('boom');
    const broken = client.guard(
      () => {
        throw boom;
      },
      { step: 'broken' },
    );
    expect(await failureOf(broken())).toBe(boom);
  });

  const bytes = new TextEncoder().encode('secret-1');
  it.each<[string, unknown]>([
    ['a Map', new Map([['text', 'secret-1']])],
    ['a Set', new Set(['secret-1'])],
    ['bytes', bytes],
    ['a Buffer', Buffer.from('secret-1')],
    ['an ArrayBuffer', bytes.buffer],
    ['bytes in a member', { data: [bytes] }],
    ['a function', () => 'secret-1'],
    ['a function in a member', { read: () => 'secret-1' }],
    ['a symbol', Symbol('secret-1')],
    ['a Response', new Response('secret-1')],
    ['a stream', new Response('secret-1').body],
    ['a stream in a member', { body: new Response('secret-1').body }],
    [
      'an async iterable',
      {
        async *[Symbol.asyncIterator]() {
          yield 'secret-1';
        },
      },
    ],
  ])('gives no result that no control can look at (%s)', async (_, result) => {
    const opaque = client.guard(() => result, { step: 'opaque' });
    const error = await failureOf(opaque());
    expect(error).toBeInstanceOf(StepDataError);
    expect(error).toMatchObject({ step: 'opaque', stage: 'post' });
    expect((error as Error).message).toMatch(
      /^Step "opaque" ran, and its result is withheld: output.*"output"/,
    );
    expect((error as Error).message).not.toContain('secret-1');
  });

  it('is not made of a generator, whose output would leave before its check', () => {
    const generators: readonly (() => unknown)[] = [
      async function* () {
        yield 'secret-1';
      },
      function* () {
        yield 'secret-1';
      },
    ];
    for (const generator of generators) {
      expect(() => client.guard(generator, { step: 'parts' })).toThrow(/step "parts" is a generator/);
      expect(() => client.guard(generator, { step: 'parts', stages: ['pre'] })).not.toThrow();
    }
  });

  it('takes the first argument as the input, whatever a framework adds', async () => {
    const seen: unknown[][] = [];
    const tool = client.guard(
      async (mail: Mail, ...more: unknown[]) => {
        seen.push([mail, ...more]);
        return 'sent';
      },
      { step: 'send_mail' },
    );
    const options = { toolCallId: 'call-1', messages: [{ role: 'user', content: 'bad' }] };
    expect(await failureOf(tool({ text: 'bad' }, options))).toBeInstanceOf(DeniedError);
    expect(await failureOf(tool({ text: 'bad' }, undefined))).toBeInstanceOf(DeniedError);
    expect(await failureOf(tool({ text: 'bad' }, options, { signal: null }))).toBeInstanceOf(DeniedError);
    expect(seen).toEqual([]);
    // The conversation is not part of the step: its "bad" is not seen by a control on everything.
    expect(await tool({ text: 'hello' }, options)).toBe('sent');
    expect(seen).toEqual([[{ text: 'hello' }, options]]);
  });

  it.each<[string, unknown]>([
    ['a text', 'bad'],
    ['a list', ['bad']],
    ['null', null],
    ['a number', 5],
    ['a Map', new Map([['text', 'bad']])],
    ['an object of a class', new URL('http://bad.example')],
  ])('does not run when its first argument is %s', async (_, first) => {
    let runs = 0;
    const tool = client.guard(
      (one: unknown, two?: unknown) => {
        runs += 1;
        return `${one}${two}`;
      },
      { step: 'send_mail' },
    );
    const error = await failureOf(tool(first));
    expect(error).toBeInstanceOf(StepDataError);
    expect(error).toMatchObject({ step: 'send_mail', stage: 'pre' });
    expect((error as Error).message).toContain('input: (text) => ({ text })');
    expect(await failureOf(tool(first, { messages: [] }))).toBeInstanceOf(StepDataError);
    expect(runs).toBe(0);
  });

  it('tells when no control checks it, at any stage, and otherwise stays silent', async () => {
    const told: unknown[] = [];
    const onUnchecked = (step: unknown): void => void told.push(step);
    const misspelled = client.guard(send, { step: 'sendMail', agent: UNLINKED, onUnchecked });
    ran = [];
    await misspelled({ text: 'hello' });
    await misspelled({ text: 'hello' });
    expect(told).toEqual([
      { agent: UNLINKED, step: 'sendMail' },
      { agent: UNLINKED, step: 'sendMail' },
    ]);
    const strict = client.guard(send, {
      step: 'sendMail',
      agent: UNLINKED,
      stages: ['pre'],
      onUnchecked: ({ step }) => {
        throw new Error(`nothing checks ${step}`);
      },
    });
    ran = [];
    expect(await failureOf(strict({ text: 'hello' }))).toMatchObject({ message: 'nothing checks sendMail' });
    expect(ran).toEqual([]);
    await guarded({ onUnchecked })({ text: 'hello' });
    expect(told).toHaveLength(2);
  });

  it('warns of it once for each tool by default', async () => {
    const warnings: unknown[] = [];
    const warn = vi.spyOn(console, 'warn').mockImplementation((text) => void warnings.push(text));
    onTestFinished(() => warn.mockRestore());
    const tool = client.guard(send, { step: 'sendMail', agent: UNLINKED });
    for (let calls = 0; calls < 3; calls += 1) await tool({ text: 'hello' });
    await guarded()({ text: 'hello' });
    expect(warnings).toEqual([expect.stringContaining('no control checks the step "sendMail"')]);
  });

  it('runs without arguments', async () => {
    const tool = client.guard(() => 'done', { step: 'no-arguments' });
    expect(await tool()).toBe('done');
  });

  it('keeps what a tool throws from its caller if a control denies it', async () => {
    const thrown: readonly unknown[] = [
      new Error('row: secret-4711'),
      new Error('failed', { cause: new Error('secret-4711') }),
      Object.assign(new Error('failed'), { response: { body: 'secret-4711' } }),
      new AggregateError([new Error('secret-4711')], 'several'),
      'secret-4711',
      { code: 'secret-4711' },
    ];
    for (const value of thrown) {
      const failing = client.guard(
        () => {
          throw value;
        },
        { step: 'failing' },
      );
      const error = await failureOf(failing());
      expect(error).toBeInstanceOf(DeniedError);
      expect(error).toMatchObject({ step: 'failing', stage: 'post' });
      expect(inspect(error, { showHidden: true, depth: 10 })).not.toContain('4711');
    }
  });

  it('passes on what the tool throws if only inputs are checked', async () => {
    const boom = new Error('secret-1');
    const failing = client.guard(
      () => {
        throw boom;
      },
      { step: 'failing', stages: ['pre'] },
    );
    expect(await failureOf(failing())).toBe(boom);
  });

  it('has a session, a step, a trace and a signal for each call', async () => {
    const aborted = AbortSignal.abort(new Error('left'));
    const asked: unknown[] = [];
    const evaluate: Client['evaluate'] = (request, given) => {
      asked.push([given?.sessionId, given?.stepId, given?.traceparent]);
      return client.evaluate(request, given);
    };
    type Call = { id: string; signal?: AbortSignal };
    const tool = guardTool(evaluate, (_mail: Mail, _call: Call) => 'sent', {
      step: 'send_mail',
      stages: ['pre'],
      sessionId: (_mail, { id }) => `session-${id}`,
      stepId: (_mail, { id }) => `step-${id}`,
      traceparent: (_mail, { id }) => `00-4bf92f3577b34da6a3ce929d0e0e473${id}-00f067aa0ba902b7-01`,
      signal: (_mail, { signal }) => signal,
    });
    expect(await tool({ text: 'hello' }, { id: '1' })).toBe('sent');
    expect(await failureOf(tool({ text: 'bad' }, { id: '2' }))).toBeInstanceOf(DeniedError);
    expect(await failureOf(tool({ text: 'hello' }, { id: '3', signal: aborted }))).toBe(aborted.reason);
    expect(asked).toEqual(
      ['1', '2', '3'].map((id) => [
        `session-${id}`,
        `step-${id}`,
        `00-4bf92f3577b34da6a3ce929d0e0e473${id}-00f067aa0ba902b7-01`,
      ]),
    );
  });

  it('refuses options that do not exist, and names the one that was meant', () => {
    const misspelled = { step: 'send_mail', sesionId: 'one' } as unknown as GuardOptions<[Mail], string>;
    expect(() => client.guard(send, misspelled)).toThrow(
      '"sesionId" does not exist; did you mean "sessionId"?',
    );
    const nameless = {} as unknown as GuardOptions<[Mail], string>;
    expect(() => client.guard(send, nameless)).toThrow('the option "step" is missing');
    const settings = { baseUrl: 'http://127.0.0.1:1', agnet: AGENT };
    expect(() => createClient(settings)).toThrow('"agnet" does not exist; did you mean "agent"?');
  });

  it('names what is wrong with a step', async () => {
    const without = { stage: 'pre' } as unknown as EvaluationRequest;
    expect(await failureOf(client.evaluate(without))).toMatchObject({
      message: 'step is missing: give { name, input }',
    });
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const error = await failureOf(client.evaluate({ stage: 'pre', step: { name: 'x', input: circular } }));
    expect((error as Error).message).toMatch(/^input(\.self)+…? ?.*contains itself$/);
    expect((error as Error).message.length).toBeLessThan(150);
  });

  it('fails at once after the service has refused connections for the time limit', async () => {
    // Long enough for a refusal on a busy machine: without one, nothing is known of the service.
    const away = createClient({ baseUrl: 'http://127.0.0.1:1', agent: AGENT, timeoutMs: 2_000 });
    await failureOf(away.guard(send, options)({ text: 'first' }));
    // Waits for its own, long limit unless it fails at the first refusal.
    const error = await failureOf(away.guard(send, { ...options, timeoutMs: 500_000 })({ text: 'second' }));
    expect(error).toBeInstanceOf(NotEvaluatedError);
    expect((error as NotEvaluatedError).reason).toContain('ECONNREFUSED');
    away.close();
  });

  it('does not run when the service is unreachable, unless configured to', async () => {
    const away = createClient({ baseUrl: 'http://127.0.0.1:1', agent: AGENT, timeoutMs: 100 });
    const error = await failureOf(away.guard(send, options)({ text: 'hello' }));
    expect(error).toBeInstanceOf(NotEvaluatedError);
    expect(error).toBeInstanceOf(DeniedError);
    expect(error).toMatchObject({ controls: [], verdict: undefined });
    const open = away.guard(send, { ...options, onUnavailable: 'allow' });
    expect(await open({ text: 'hello' })).toBe('sent hello');
    away.close();
  });
});
