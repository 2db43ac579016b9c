import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../../packages/exact-json/src/index.js';
import { MAX_DATA_SIZE, MAX_QUEUED_CHECKS } from '../../../../src/kernel/evaluators/custom/check-pool.js';
import { withGrowingTime } from '../../../support/growing-time.js';
import { loadModule } from './support.js';

const MATCHED = { matched: true, confidence: 1, message: null, metadata: null, error: null };

describe('a custom evaluator', () => {
  it('shows what its module declares about it', async () => {
    const { evaluator } = await loadModule('unruly.mjs');
    expect(evaluator).toMatchObject({
      name: 'unruly',
      version: '1.2.3',
      description: 'Misbehaves on demand.',
      requiresApiKey: false,
      timeoutMs: 300_000,
      external: true,
      configJsonSchema: { type: 'object', properties: { words: { type: 'integer' } } },
    });
  });
  it('has the time limit of the service when it states none', async () => {
    const { evaluator } = await loadModule('with-zod.mjs', { timeoutMs: 1_234 });
    expect(evaluator.timeoutMs).toBe(1_234);
  });
  it('answers, with defaults for what it leaves out', async () => {
    const { check } = await loadModule('unruly.mjs');
    expect(await check('bad')).toEqual(MATCHED);
    expect(await check('good')).toEqual({ ...MATCHED, matched: false });
    expect(await check(null)).toEqual({ ...MATCHED, matched: false });
    const answer = { matched: true, confidence: 0.25, message: 'why', metadata: { a: [1, { b: null }] } };
    expect(await check({ do: 'answer', answer })).toEqual({ ...answer, error: null });
  });
  it('sees integers beyond 2^53 with all their digits, and members named __proto__ as data', async () => {
    const { check } = await loadModule('unruly.mjs');
    const big = await check({ do: 'describe data', value: 2n ** 60n + 1n });
    expect(big.metadata).toMatchObject({ type: 'bigint', text: '1152921504606846977' });
    const data = JSON.parse('{"do": "describe data", "value": 1, "__proto__": {"do": "loop"}}') as JsonValue;
    expect((await check(data)).metadata).toMatchObject({ type: 'number' });
  });
  it('gets the configuration that its zod schema made', async () => {
    const { check, evaluator } = await loadModule('with-zod.mjs');
    expect((await check('x', { other: 1 })).metadata).toEqual({ config: { limit: 5 } });
    expect(evaluator.configJsonSchema).toMatchObject({
      type: 'object',
      properties: { limit: { type: 'integer', minimum: 1, default: 5 }, words: { type: 'array' } },
    });
  });
  it('fails on a configuration that a refinement refuses', async () => {
    const { check, evaluator } = await loadModule('with-zod.mjs');
    const config = { limit: 1, words: ['a', 'b'] };
    expect(evaluator.configSchema.safeParse(config).success).toBe(true);
    await expect(check('x', config)).rejects.toThrow('more words than the limit');
  });
  it.each<[string, JsonValue]>([
    ['nothing', null],
    ['no boolean', { matched: 'yes' }],
    ['a confidence above 1', { matched: true, confidence: 1.5 }],
    ['a message that is no text', { matched: true, message: 5 }],
    ['metadata that are a list', { matched: true, metadata: [] }],
    ['an integer that JSON cannot hold', { matched: true, metadata: { n: 2n ** 60n } }],
  ])('fails when it answers %s', async (_name, answer) => {
    const { check } = await loadModule('unruly.mjs');
    await expect(check({ do: 'answer', answer })).rejects.toThrow();
    expect(await check('bad')).toEqual(MATCHED);
  });
  it('fails when its answer is huge', async () => {
    const { check } = await loadModule('unruly.mjs');
    await expect(check({ do: 'answer much', length: 300_000 })).rejects.toThrow('the answer exceeds');
  });
  it('fails when it throws, and keeps its worker', async () => {
    const { check, status } = await loadModule('unruly.mjs');
    await expect(check({ do: 'throw' })).rejects.toThrow('thrown on demand');
    expect(status().workerRestarts).toBe(0);
  });
  it('sees no environment but what it is given', async () => {
    const { check } = await loadModule('unruly.mjs', { environment: { TONE: 'polite' } });
    expect((await check({ do: 'environment' })).metadata).toEqual({ TONE: 'polite' });
  });
  it('writes to the log, and not without end', async () => {
    const { check, logged } = await loadModule('unruly.mjs');
    const startedAtMs = performance.now();
    await check({ do: 'print', lines: 10_000 });
    const seconds = Math.ceil((performance.now() - startedAtMs) / 1_000);
    const first = { evaluator: 'unruly', output: 'line 0' };
    expect(logged[0]).toEqual({ facts: first, message: 'output of a custom evaluator' });
    expect(logged.length).toBeGreaterThan(10);
    // Fifty lines per second, and one that counts the others.
    expect(logged.length).toBeLessThanOrEqual(51 * (seconds + 1));
    expect(logged.length).toBeLessThan(10_000);
  });
});

describe('a check that goes wrong', () => {
  it('is given up when it does not end, its worker is replaced, and what waited behind it is answered', async () => {
    await withGrowingTime(2_000, async (ms) => {
      const environment = { TIME_LIMIT: String(ms) };
      const { check, status } = await loadModule('unruly.mjs', { environment });
      const looping = expect(check({ do: 'loop' })).rejects.toThrow(`timeout after ${ms} ms`);
      // What waits has a limit of its own, and needs some of it for the new worker.
      await pause(0.75 * ms);
      const waiting = expect(check('bad')).resolves.toEqual(MATCHED);
      const before = status();
      await Promise.all([looping, waiting]);
      expect(before).toEqual({ running: 1, queued: 1, workerRestarts: 0 });
      expect(status()).toEqual({ running: 0, queued: 0, workerRestarts: 1 });
    });
  });
  it('receives an abort when its time is up, and keeps its worker when it ends then', async () => {
    await withGrowingTime(2_000, async (ms) => {
      const { check, status, logged } = await loadModule('unruly.mjs', {
        environment: { TIME_LIMIT: String(ms) },
        // On a busy machine it takes a while until a worker hears of it.
        abortGraceMs: 600_000,
      });
      await expect(check({ do: 'wait for abort' })).rejects.toThrow('timeout');
      expect(await check('bad')).toEqual(MATCHED);
      expect(status().workerRestarts).toBe(0);
      expect(logged).toHaveLength(1);
    });
  });
  it.each([
    ['ends its worker', 'exit', 'the worker ended with exit code 3'],
    ['is ended by a signal', 'be killed', 'the process was ended by SIGKILL'],
    ['crashes within the engine', 'abort', 'the process was ended by SIGABRT'],
    ['fills the heap', 'fill the heap', 'out of memory'],
    ['fills the heap with one array', 'fill one array', 'memory'],
    ['fills buffers', 'fill buffers', 'the process grew too much'],
  ])('fails when it %s, and the next one is answered', async (_name, what, why) => {
    // Filling a heap takes a busy machine long, and its worker has a low priority.
    const environment = { TIME_LIMIT: '500000' };
    const { check, status } = await loadModule('unruly.mjs', {
      maxMemoryBytes: 500 * 1024 * 1024,
      environment,
    });
    await expect(check({ do: what })).rejects.toThrow(why);
    expect(await check('bad')).toEqual(MATCHED);
    expect(status().workerRestarts).toBeGreaterThan(0);
  });
  it('is done again when a leftover of an earlier one ended its worker', async () => {
    const { check, status, logged } = await loadModule('unruly.mjs');
    expect(await check({ do: 'crash later' })).toEqual(MATCHED);
    expect(await check({ do: 'wait', ms: 100 })).toMatchObject({ message: 'waited' });
    expect(status().workerRestarts).toBe(1);
    expect(logged.at(-1)?.facts).toEqual({ evaluator: 'unruly', reason: 'a stray error' });
  });
  it('is refused when too many wait', async () => {
    const { check, status } = await loadModule('unruly.mjs');
    const waiting = Array.from({ length: MAX_QUEUED_CHECKS + 1 }, (_, index) =>
      check(index === 0 ? { do: 'wait', ms: 100 } : 'bad'),
    );
    expect(status()).toMatchObject({ running: 1, queued: MAX_QUEUED_CHECKS });
    await expect(check('bad')).rejects.toThrow('the queue of the evaluator is full');
    expect((await Promise.all(waiting)).every(({ matched }) => matched)).toBe(true);
  });
  it('is refused when its data are large', async () => {
    const { check } = await loadModule('unruly.mjs');
    await expect(check('x'.repeat(MAX_DATA_SIZE))).rejects.toThrow('too large');
    await expect(check(new Array(MAX_DATA_SIZE / 8).fill(0))).rejects.toThrow('too large');
    expect(await check('x'.repeat(MAX_DATA_SIZE - 100))).toMatchObject({ matched: false });
  });
  it('leaves the queue when it is no longer awaited', async () => {
    const { check, status } = await loadModule('unruly.mjs');
    const running = check({ do: 'wait', ms: 200 });
    const controller = new AbortController();
    const waiting = check('bad', {}, controller.signal);
    expect(status()).toMatchObject({ running: 1, queued: 1 });
    controller.abort();
    await expect(waiting).rejects.toThrow('the check was given up');
    expect(status()).toMatchObject({ running: 1, queued: 0 });
    await expect(check('bad', {}, controller.signal)).rejects.toThrow('the check was given up');
    expect(await running).toMatchObject({ message: 'waited' });
  });
  it('ends with the service', async () => {
    const { check, evaluator } = await loadModule('unruly.mjs');
    const checks = [check({ do: 'wait', ms: 60_000 }), check('bad')];
    const refused = checks.map((one) => expect(one).rejects.toThrow('the service is shutting down'));
    await evaluator.close?.();
    await Promise.all(refused);
    await expect(check('bad')).rejects.toThrow('the service is shutting down');
  });
});

describe('several workers', () => {
  it('do checks at the same time, so that one that does not end delays no other', async () => {
    const { check, status } = await loadModule('unruly.mjs', { workers: 2 });
    expect(await check('bad')).toEqual(MATCHED);
    void check({ do: 'loop' }).catch(() => null);
    expect(await check('bad')).toEqual(MATCHED);
    expect(status()).toEqual({ running: 1, queued: 0, workerRestarts: 0 });
  });
  it('are not shared by evaluators', async () => {
    const [first, second] = [await loadModule('unruly.mjs'), await loadModule('with-zod.mjs')];
    for (const data of [{ do: 'loop' }, 'bad', 'bad']) void first.check(data).catch(() => null);
    expect(first.status()).toMatchObject({ running: 1, queued: 2 });
    expect(second.status()).toMatchObject({ running: 0, queued: 0 });
    expect((await second.check('x')).matched).toBe(true);
    expect(first.status()).toMatchObject({ running: 1, queued: 2 });
  });
});
