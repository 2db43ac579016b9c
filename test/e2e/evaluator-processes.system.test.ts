import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { restClient } from '../support/http.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { compiled, type ServiceProcess, signalGroup, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';

const UNRULY = path.resolve(import.meta.dirname, '../kernel/evaluators/custom/modules/unruly.mjs');

describe('a service with a custom evaluator', () => {
  let service: ServiceProcess;
  let call: ReturnType<typeof restClient>;
  afterEach(() => service.dispose());
  /** Starts the service with an agent whose steps are checked by the evaluator. */
  const start = async (): Promise<void> => {
    const environment = { SERVICE_EVALUATORS: UNRULY, MAX_CONCURRENT_EVALUATIONS: '1', TIME_LIMIT: '600000' };
    service = await spawnService(compiled, { environment, ownGroup: true });
    call = restClient(await service.listening());
    const seed = seeder(call);
    await seed.agent('agent-under-test');
    const condition = { selector: { path: 'input' }, evaluator: { name: 'unruly', config: {} } };
    await seed.link('agent-under-test', await seed.control('control', denyWord('', { condition })));
  };
  const check = (what: string) => evaluate(call, 'agent-under-test', { do: what });
  /** The process of the evaluator. */
  const workerOf = async (): Promise<number> => {
    const { body } = await check('tell its process');
    const [match] = body.matches as { result: { metadata: { pid: number } } }[];
    return match?.result.metadata.pid ?? 0;
  };
  const isThere = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it('answers after each end of its process, which fails closed', async () => {
    await start();
    for (const what of ['abort', 'be killed', 'fill one array', 'fill buffers']) {
      const { status, body } = await check(what);
      expect({ what, status, safe: body.is_safe }).toEqual({ what, status: 200, safe: false });
    }
    expect((await evaluate(call, 'agent-under-test', 'good')).body).toMatchObject({
      is_safe: true,
      errors: [],
    });
  });

  it('keeps its process during signals to the whole group, as of a terminal, until it stops', async () => {
    await start();
    const worker = await workerOf();
    process.kill(worker, 'SIGINT');
    process.kill(worker, 'SIGTERM');
    expect(await workerOf()).toBe(worker);
    signalGroup(service.process, 'SIGINT');
    expect(await service.ended).toMatchObject({ code: 0 });
    await until(
      () => isThere(worker),
      (there) => !there,
    );
  });

  it.each([
    ['is idle', null],
    ['is in a loop', 'loop'],
  ])('leaves no process that %s after kill -9', async (_name, what) => {
    await start();
    const worker = await workerOf();
    if (what !== null) {
      check(what).catch(() => null);
      await until(
        async () => String((await call('GET', '/metrics')).body),
        (text) => /evaluator_running\{evaluator="unruly"[^}]*\} 1/.test(text),
      );
    }
    service.process.kill('SIGKILL');
    await service.ended;
    await until(
      () => isThere(worker),
      (there) => !there,
    );
  });
});
