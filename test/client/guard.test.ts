import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Client,
  createClient,
  DeniedError,
  type GuardOptions,
  NotEvaluatedError,
  SteerError,
} from '../../packages/client/src/node.js';
import { startService, type TestService } from '../support/service.js';
import { AGENT, seedAgent } from './client-harness.js';

interface Mail {
  readonly text: string;
}

describe('a guarded tool', () => {
  let service: TestService;
  let client: Client;
  let ran: string[];
  const options: GuardOptions<[Mail], string> = { step: 'send_mail' };
  const send = async ({ text }: Mail): Promise<string> => {
    ran.push(text);
    return `sent ${text}`;
  };
  beforeAll(async () => {
    service = await startService();
    await seedAgent(service.url);
    client = createClient({ baseUrl: service.url, agent: AGENT });
  });
  afterAll(async () => {
    client.close();
    await service.stop();
  });

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
    expect(String(error)).toContain('Pattern found');
    expect(ran).toEqual([]);
  });

  it('does not run when a control steers, and reports how to mend it', async () => {
    const error = await failureOf(guarded()({ text: 'something vague' }));
    expect(error).toBeInstanceOf(SteerError);
    expect(error).toMatchObject({
      controls: [`${AGENT}-be-precise`],
      steering: 'Be precise.',
      requiredActions: ['name the customer'],
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

  it('shows all arguments when there are several, and keeps "this"', async () => {
    const mailer = {
      prefix: 'to ',
      send: client.guard(
        function (this: unknown, name: string, text: string) {
          return `${(this as { prefix: string }).prefix}${name}: ${text}`;
        },
        { step: 'send' },
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

  it('gives no result that no control can look at', async () => {
    const opaque = client.guard(() => new Map([['text', 'secret-1']]), { step: 'opaque' });
    expect(await failureOf(opaque())).toBeInstanceOf(TypeError);
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
