import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CompiledService, compileService, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';

let compiled: CompiledService;
beforeAll(async () => {
  compiled = await compileService();
});
afterAll(() => compiled.remove());

it.each([
  ['JSON', 'true'],
  ['readable', 'false'],
])(
  'a service whose %s log nobody reads any more serves on and stops when told to',
  async (_name, json) => {
    const service = await spawnService(compiled, {
      environment: { SERVICE_LOG_JSON: json, SERVICE_LOG_LEVEL: 'debug', SERVICE_DRAIN_SECONDS: '1' },
    });
    try {
      const output = json === 'true' ? /"address":"(http:[^"]+)"/ : /address.*?(http:\/\/[\d.]+:\d+)/;
      const url = (await service.output(output))[1] ?? '';
      service.process.stdout?.destroy();
      service.process.stderr?.destroy();
      // Each of them is logged.
      for (let count = 0; count < 5; count += 1) expect((await fetch(`${url}/health`)).status).toBe(200);
      service.process.kill('SIGTERM');
      await until(
        () => service.process.exitCode,
        (code) => code !== null,
        10_000,
      );
      expect(service.process.exitCode).toBe(0);
    } finally {
      await service.dispose();
    }
  },
  30_000,
);
