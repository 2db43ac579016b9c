import { describe, expect, it, onTestFinished } from 'vitest';
import { compiled, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { until } from '../../support/until.js';

/** What may happen to who reads the log, and requests that are logged then; a pipe takes some hundred of their lines. */
const READERS = [
  ['is gone', 5, (service: ServiceProcess) => void service.process.stdout?.destroy()],
  ['is gone, as is the one of stderr', 5, destroyBoth],
  ['does not read any more', 1_500, (service: ServiceProcess) => void service.process.stdout?.pause()],
] as const;

function destroyBoth({ process }: ServiceProcess): void {
  process.stdout?.destroy();
  process.stderr?.destroy();
}

describe.each([
  ['JSON', 'true'],
  ['readable', 'false'],
])('a service with a %s log', (_name, json) => {
  it.each(READERS)('whose reader %s serves on and stops on a signal', async (_what, requests, breakOff) => {
    const service = await spawnService(compiled, {
      environment: { SERVICE_LOG_JSON: json, SERVICE_LOG_LEVEL: 'debug', SERVICE_DRAIN_SECONDS: '0' },
    });
    onTestFinished(() => service.dispose());
    onTestFinished(() => void service.process.stdout?.resume());
    const output = json === 'true' ? /"address":"(http:[^"]+)"/ : /address.*?(http:\/\/[\d.]+:\d+)/;
    const url = (await service.output(output))[1] ?? '';
    breakOff(service);
    // Each of them is logged.
    for (let count = 0; count < requests; count += 1) {
      const reply = await fetch(`${url}/health`);
      expect(reply.status).toBe(200);
      await reply.arrayBuffer();
    }
    service.process.kill('SIGTERM');
    await until(
      () => service.process.exitCode,
      (code) => code !== null,
    );
    expect(service.process.exitCode).toBe(0);
  });
});
