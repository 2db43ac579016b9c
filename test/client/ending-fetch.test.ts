import { describe, expect, it } from 'vitest';
import { endingFetch } from '../../packages/client/src/ending-fetch.js';

describe('a fetch that ends with its signal', () => {
  /** Replies with a part of a body, and does nothing when its signal is aborted. */
  const forgetful = () => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    let cancelledWith: unknown;
    const fetch = endingFetch(async () => {
      const body = new ReadableStream<Uint8Array>({
        start(started) {
          controller = started;
          started.enqueue(Uint8Array.of(1, 2));
        },
        cancel(reason) {
          cancelledWith = reason;
        },
      });
      return new Response(body, { status: 203, headers: { 'x-kept': 'yes' } });
    });
    return { fetch, body: () => controller, cancelledWith: () => cancelledWith };
  };

  it('ends a read that waits, and cancels the body', async () => {
    const { fetch, cancelledWith } = forgetful();
    const abort = new AbortController();
    const reply = await fetch('http://localhost', { signal: abort.signal });
    expect([reply.status, reply.headers.get('x-kept')]).toEqual([203, 'yes']);
    const reader = reply.body?.getReader();
    expect((await reader?.read())?.value).toEqual(Uint8Array.of(1, 2));
    const waiting = reader?.read();
    const reason = new Error('closed');
    abort.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(cancelledWith()).toBe(reason);
  });

  it('ends when the signal is aborted before the body is read', async () => {
    const { fetch, cancelledWith } = forgetful();
    const abort = new AbortController();
    const reply = await fetch('http://localhost', { signal: abort.signal });
    abort.abort(new Error('closed'));
    await expect(reply.arrayBuffer()).rejects.toThrow('closed');
    expect(cancelledWith()).toBe(abort.signal.reason);
  });

  it('passes on the end and the failure of the body', async () => {
    const { signal } = new AbortController();
    const whole = forgetful();
    const reply = await whole.fetch('http://localhost', { signal });
    whole.body()?.close();
    expect(new Uint8Array(await reply.arrayBuffer())).toEqual(Uint8Array.of(1, 2));
    const broken = forgetful();
    const failing = await broken.fetch('http://localhost', { signal });
    broken.body()?.error(new Error('connection lost'));
    await expect(failing.arrayBuffer()).rejects.toThrow('connection lost');
  });

  it('returns the reply itself without a signal', async () => {
    const reply = new Response('text');
    expect(await endingFetch(async () => reply)('http://localhost')).toBe(reply);
  });
});
