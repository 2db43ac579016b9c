import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { ECHO, entryOf, type Reply } from '../../../test/app/process/support/worker-modules.js';
import { compiledTree } from '../../../test/support/service-process.js';
import { SupervisedWorker, type SupervisionOptions, type WorkerEnd } from '../src/supervised-worker.js';

/** Longer than any start takes. */
const LONG_MS = 600_000;
const STARTED = { startLimit: { ms: LONG_MS, problem: 'the start took too long' } };

const threadOf = (text: string) => () => new Worker(entryOf(text));

describe('a supervised worker', () => {
  let thread: SupervisedWorker<Reply>;
  let ended: Promise<WorkerEnd>;
  let ready: Promise<unknown>;
  const notes: unknown[] = [];
  const start = (options: Partial<SupervisionOptions> = {}): void => {
    ready = new Promise((onReady) => {
      ended = new Promise((onEnd) => {
        thread = new SupervisedWorker({
          start: () => new Worker(ECHO),
          onNote: (note) => notes.push(note),
          ...options,
          onReady,
          onEnd,
        });
      });
    });
  };
  const ask = (request: object) =>
    new Promise<Reply | Error>((resolve) => {
      thread.request(request, resolve);
    });
  afterEach(async () => {
    await thread.kill(new Error('the test is over'));
    notes.splice(0);
  });

  it('answers several requests, each by its own reply', async () => {
    start();
    const asked = [ask({ echo: 1, afterMs: 100 }), ask({ echo: 2 }), ask({ echo: 3 })];
    expect(thread.unanswered.size).toBe(3);
    const echoes = (await Promise.all(asked)).map((reply) => (reply as Reply).echo);
    expect(echoes).toEqual([1, 2, 3]);
    expect(thread.unanswered.size).toBe(0);
  });

  it('is ready when its module reports it, and passes on its messages', async () => {
    start({ ...STARTED, start: () => new Worker(ECHO, { workerData: { some: 'facts' } }) });
    expect(thread.isReady).toBe(false);
    expect(await ready).toEqual({ some: 'facts' });
    expect(thread.isReady).toBe(true);
    thread.post('unknown');
    await ask({});
    expect(notes).toEqual([{ note: 'unknown' }]);
  });

  it('ends when it does not start in time', async () => {
    start({ start: threadOf('for (;;);'), startLimit: { ms: 100, problem: 'the start took too long' } });
    expect(await ended).toMatchObject({ error: { message: 'the start took too long' }, wasReady: false });
  });

  it('ends when its module reports that it cannot be used', async () => {
    const text = `import { parentPort } from 'node:worker_threads';
      parentPort.on('message', () => {});
      parentPort.postMessage({ failed: 'no such thing' });`;
    start({ ...STARTED, start: threadOf(text) });
    expect(await ended).toMatchObject({ error: { message: 'no such thing' }, wasReady: false });
    expect(thread.isReady).toBe(false);
  });

  it.each<[string, string, Partial<WorkerEnd>]>([
    ['an error', 'throw "no error"', { error: new Error('no error'), code: 1 }],
    ['itself', 'process.exit(7)', { error: undefined, code: 7 }],
  ])('reports an end by %s, and leaves its requests to its owner', async (_name, text, end) => {
    start({ start: threadOf(text) });
    let answer: Reply | Error | undefined;
    thread.request({}, (given) => {
      answer = given;
    });
    expect(await ended).toEqual({ ...end, wasReady: true, wasKilled: false });
    expect(answer).toBeUndefined();
    for (const answered of thread.unanswered.values()) answered(new Error('lost'));
    expect(answer).toEqual(new Error('lost'));
  });

  it('that is killed fails its requests at once', async () => {
    start();
    const asked = [ask({ loop: true }), ask({})];
    const killed = thread.kill(new Error('no more'));
    expect(await Promise.all(asked)).toEqual([new Error('no more'), new Error('no more')]);
    await killed;
    expect(await ended).toMatchObject({ error: { message: 'no more' }, wasKilled: true });
  });

  it('that exceeds its heap ends with the code of the engine', async () => {
    start({
      start: () =>
        new Worker(entryOf('for (let all = {}; ; ) all = { all };'), {
          resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
        }),
    });
    expect(await ended).toMatchObject({ error: { code: 'ERR_WORKER_OUT_OF_MEMORY' } });
  });

  it('is closed after all earlier requests', async () => {
    start();
    const earlier = [ask({ echo: 1 }), ask({ echo: 2 })];
    const order: unknown[] = [];
    for (const asked of earlier) void asked.then((reply) => order.push((reply as Reply).echo));
    await thread.close('close');
    expect(order).toEqual([1, 2]);
    expect(await ended).toEqual({ error: undefined, code: 0, wasReady: true, wasKilled: false });
  });
});

describe('a process', () => {
  /** Output of a process that does this with a thread, and ends by itself. */
  const outputOf = async (text: string): Promise<string> => {
    const module = path.resolve(compiledTree.main, '../../packages/supervised-worker/src/index.js');
    const source = `import { Worker } from 'node:worker_threads';
      import { SupervisedWorker } from ${JSON.stringify(module)};
      const thread = new SupervisedWorker({
        start: () => new Worker(new URL(${JSON.stringify(String(ECHO))})),
        startLimit: { ms: ${LONG_MS}, problem: 'late' },
        onReady: () => console.log('ready'),
        onEnd: () => console.log('ended'),
      });
      ${text}`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', source]);
    return stdout;
  };

  it('does not wait for a thread without requests', async () => {
    expect(await outputOf('')).toBe('');
  });

  it('waits for a start when referenced, and not for the idle thread', async () => {
    expect(await outputOf('thread.ref();')).toBe('ready\n');
  });

  it('waits for answers, and not for the idle thread', async () => {
    const text = "thread.request({ afterMs: 50 }, () => console.log('answered'));";
    expect(await outputOf(text)).toBe('ready\nanswered\n');
  });

  it('waits for the end of a thread that is killed', async () => {
    expect(await outputOf("thread.kill(new Error('no more'));")).toBe('ended\n');
  });
});
