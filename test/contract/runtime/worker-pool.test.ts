import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkerEnd } from '../../../packages/supervised-worker/src/index.js';
import {
  type WorkerJob,
  WorkerPool,
  type WorkerPoolOptions,
} from '../../../src/contract/runtime/worker-pool.js';
import { ECHO, entryOf, type Reply } from '../../app/process/support/worker-modules.js';
import { until } from '../../support/until.js';

/** Longer than any answer takes. */
const LONG_MS = 600_000;

interface Job extends WorkerJob<Reply> {
  readonly answer: Promise<Reply>;
}

function jobOf(request: object, limitMs = LONG_MS): Job {
  const { promise, resolve, reject } = settleable();
  // Some tests look at it later.
  promise.catch(() => {});
  const settle = (answer: Reply | Error) => (answer instanceof Error ? reject(answer) : resolve(answer));
  return { limitMs, begin: () => request, settle, answer: promise };
}

function settleable() {
  let resolve: (reply: Reply) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<Reply>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}

describe('a pool of threads', () => {
  let pool: WorkerPool<Job, Reply>;
  let ends: WorkerEnd[];
  /** What becomes of the job of an ended thread. */
  let fate: Reply | Error | null;
  const open = (options: Partial<WorkerPoolOptions<Job, Reply>> = {}): void => {
    pool = new WorkerPool<Job, Reply>({
      start: () => new Worker(ECHO),
      startLimit: { ms: LONG_MS, problem: 'the start took too long' },
      size: 1,
      maxQueued: 10,
      overdue: 'the job took too long',
      onEnd(end) {
        ends.push(end);
        return fate;
      },
      ...options,
    });
  };
  const run = (request: object, limitMs?: number): Job => {
    const job = jobOf(request, limitMs);
    pool.add(job);
    return job;
  };
  /** Two jobs that run until they are aborted. */
  const twoRunning = async (): Promise<Job[]> => {
    const jobs = [run({ untilAbort: true }), run({ untilAbort: true })];
    await until(
      () => pool.running.length,
      (running) => running === 2,
    );
    return jobs;
  };
  beforeEach(() => {
    ends = [];
    fate = new Error('its thread ended');
  });
  afterEach(() => pool.close(new Error('closed')));

  it('starts no more threads than jobs, and no more than its size', async () => {
    open({ size: 2 });
    const first = await run({ echo: 1 }).answer;
    expect((await run({ echo: 2 }).answer).thread).toBe(first.thread);
    const held = await twoRunning();
    const behind = run({ echo: 'behind' });
    expect(pool.queued).toBe(1);
    for (const job of held) pool.abort(job);
    const threads = await Promise.all(held.map(async ({ answer }) => (await answer).thread));
    expect(threads).toContain(first.thread);
    expect(new Set(threads).size).toBe(2);
    expect(threads).toContain((await behind.answer).thread);
  });

  it('moves the memory of a job into its thread', async () => {
    open();
    const bytes = new Uint8Array([1, 2, 3]);
    const job = { ...jobOf({ echo: bytes }), transfer: [bytes.buffer] };
    pool.add(job);
    expect((await job.answer).echo).toEqual(new Uint8Array([1, 2, 3]));
    expect(bytes.byteLength).toBe(0);
  });

  it('kills a stuck job; others continue in other threads, and those behind it in a new one', async () => {
    open({ size: 2 });
    const slow = run({ untilAbort: true });
    const stuck = run({ loop: true }, 300);
    const behind = run({ echo: 'behind' });
    await expect(stuck.answer).rejects.toThrow('the job took too long');
    const { thread } = await behind.answer;
    expect(pool.running).toEqual([slow]);
    pool.abort(slow);
    expect((await slow.answer).thread).not.toBe(thread);
    expect(ends).toMatchObject([{ wasReady: true, wasKilled: true }]);
  });

  it('replaces a thread that crashed, and settles its job as decided', async () => {
    open();
    const crashing = run({ crash: 'a stray error' });
    const behind = run({ echo: 'behind' });
    await expect(crashing.answer).rejects.toThrow('its thread ended');
    expect(await behind.answer).toMatchObject({ echo: 'behind' });
    expect(ends).toMatchObject([{ error: { message: 'a stray error' }, wasReady: true, wasKilled: false }]);
  });

  it('repeats a job before all others when requested', async () => {
    open();
    fate = null;
    const order: string[] = [];
    let runs = 0;
    const job: Job = {
      ...jobOf({}),
      begin: () => (runs++ === 0 ? { crash: 'once' } : { echo: 'again' }),
      settle: () => order.push('repeated'),
    };
    pool.add(job);
    await run({ echo: 'behind' }).answer.then(() => order.push('behind'));
    expect(order).toEqual(['repeated', 'behind']);
  });

  it('is full when as many jobs wait as it may queue', async () => {
    open({ maxQueued: 2 });
    const jobs = [1, 2].map((echo) => run({ echo, afterMs: 50 }));
    expect(pool.isFull).toBe(false);
    jobs.push(run({ echo: 3 }));
    expect(pool.isFull).toBe(true);
    await Promise.all(jobs.map(({ answer }) => answer));
    expect(pool.isFull).toBe(false);
    expect(pool.queued).toBe(0);
  });

  it('never begins a job that is aborted while it waits', async () => {
    open();
    const running = run({ echo: 'running', afterMs: 50 });
    const aborted = run({ crash: 'begun all the same' });
    const behind = run({ echo: 'behind' });
    pool.abort(aborted);
    expect(await running.answer).toMatchObject({ echo: 'running' });
    expect(await behind.answer).toMatchObject({ echo: 'behind' });
    expect(ends).toEqual([]);
  });

  it('notifies a thread that its job is aborted, and keeps it', async () => {
    open();
    const { thread } = await run({}).answer;
    const aborted = run({ untilAbort: true });
    pool.abort(aborted);
    expect(await aborted.answer).toMatchObject({ echo: 'aborted', thread });
    expect((await run({}).answer).thread).toBe(thread);
  });

  it('kills a running job on demand', async () => {
    open();
    const stuck = run({ loop: true });
    await until(
      () => pool.running,
      (jobs) => jobs.length === 1,
    );
    pool.kill(stuck, new Error('no more'));
    await expect(stuck.answer).rejects.toThrow('no more');
    expect(pool.running).toEqual([]);
    expect(await run({ echo: 'next' }).answer).toMatchObject({ echo: 'next' });
  });

  it('passes the job that waited for a thread which could not start', async () => {
    fate = null;
    const lost: (Job | undefined)[] = [];
    open({
      start: () => new Worker(entryOf('throw new Error("broken")')),
      onEnd(end, job) {
        lost.push(job);
        return end.error ?? null;
      },
    });
    const jobs = [run({}), run({})];
    await Promise.all(jobs.map(({ answer }) => expect(answer).rejects.toThrow('broken')));
    expect(lost).toEqual(jobs);
  });

  it('starts no thread for a job while it may not', async () => {
    let may = false;
    open({ mayStart: () => may });
    const job = run({ echo: 'late' });
    expect(pool.queued).toBe(1);
    may = true;
    pool.warm();
    expect(await job.answer).toMatchObject({ echo: 'late' });
  });

  it('fails everything when it is closed, and starts anew afterwards', async () => {
    open();
    const { thread } = await run({}).answer;
    const jobs = [run({ loop: true }), run({})];
    await pool.close(new Error('closed'));
    await Promise.all(jobs.map(({ answer }) => expect(answer).rejects.toThrow('closed')));
    expect(ends).toEqual([]);
    expect((await run({}).answer).thread).not.toBe(thread);
  });
});
