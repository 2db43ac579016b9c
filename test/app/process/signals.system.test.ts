import { afterEach, describe, expect, it } from 'vitest';
import { compiled, type ServiceProcess, signalGroup, spawnService } from '../../support/service-process.js';
import { until } from '../../support/until.js';
import { workersOf } from '../cluster/support/workers.js';

let service: ServiceProcess;
afterEach(() => service.dispose());

async function run(workers: string): Promise<void> {
  service = await spawnService(compiled, {
    environment: { SERVICE_WORKERS: workers, SERVICE_LOG_JSON: 'true' },
    ownGroup: true,
  });
}

/** Log lines about signals, as the signal and the process that tells of it. */
function told(): { signal: string; pid?: number }[] {
  return service
    .stdout()
    .split('\n')
    .filter((line) => line.includes('is ignored') || line.includes('no file to read again'))
    .map((line) => JSON.parse(line))
    .map(({ signal = 'SIGHUP', pid }) => ({ signal, ...(pid === undefined ? {} : { pid }) }));
}

async function expectServing(): Promise<void> {
  expect((await fetch(`${await service.listening()}/ready`)).status).toBe(200);
}

describe.each(['1', '2'])('a service of %s process(es)', (workers) => {
  it('continues when its terminal is closed, and each process that serves reads its files again once', async () => {
    await run(workers);
    await service.listening();
    const before = await workersOf(service);
    const processes = workers === '1' ? [{}] : before.map((pid) => ({ pid }));
    signalGroup(service.process, 'SIGHUP');
    await until(told, (lines) => lines.length >= processes.length);
    const expected = processes.map((one) => ({ signal: 'SIGHUP', ...one }));
    expect(told()).toHaveLength(expected.length);
    expect(told()).toEqual(expect.arrayContaining(expected));
    await expectServing();
    expect(await workersOf(service)).toEqual(before);
    service.process.kill('SIGTERM');
    expect(await service.ended).toEqual({ code: 0, signal: null });
  });

  it('passes SIGHUP on to each process that serves', async () => {
    await run(workers);
    await service.listening();
    const serving = workers === '1' ? [undefined] : await workersOf(service);
    service.process.kill('SIGHUP');
    await until(told, (lines) => lines.length >= serving.length);
    expect(new Set(told().map(({ pid }) => pid))).toEqual(new Set(serving));
    await expectServing();
  });

  it('continues after SIGUSR2, and after SIGPIPE without a log line', async () => {
    await run(workers);
    await service.listening();
    const before = await workersOf(service);
    signalGroup(service.process, 'SIGPIPE');
    signalGroup(service.process, 'SIGUSR2');
    await until(told, (lines) => lines.length === before.length + 1);
    expect(told().every(({ signal }) => signal === 'SIGUSR2')).toBe(true);
    await expectServing();
    expect(await workersOf(service)).toEqual(before);
  });

  it('starts although its terminal is closed meanwhile', async () => {
    await run(workers);
    await service.output(/./);
    service.process.kill('SIGHUP');
    await expectServing();
    expect(service.process.exitCode).toBe(null);
  });
});
