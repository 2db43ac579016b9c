import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { restClient } from '../../support/http.js';
import { compiledTree, spawnService } from '../../support/service-process.js';
import { startOtlpReceiver } from './otlp-receiver.support.js';
import { AGENT, restWayTo } from './telemetry-clients.js';

const LOADED = path.join(import.meta.dirname, 'loaded-packages.cjs');

describe('the process', () => {
  /** Runs a service for one evaluation, and stops it like any manager of processes. */
  async function run(environment: Record<string, string>) {
    const service = await spawnService(compiledTree, {
      environment: {
        NODE_OPTIONS: `--require ${LOADED}`,
        DATABASE_URL: 'file:service.db',
        SERVICE_LOG_JSON: 'true',
        SERVICE_DRAIN_SECONDS: '1',
        ...environment,
      },
    });
    try {
      const url = await service.listening();
      await restClient(url)('POST', '/api/v1/agents/initAgent', { agent: { agent_name: AGENT } });
      await restWayTo(url).evaluate({ name: 'the only step' }, {});
      service.process.kill('SIGTERM');
      const { code } = await service.ended;
      const loaded = /^loaded: (.*)$/m.exec(service.stderr())?.[1]?.split(' ');
      return { code, loaded, stdout: service.stdout() };
    } finally {
      await service.dispose();
    }
  }

  it('loads nothing of OpenTelemetry when telemetry is off', async () => {
    const { code, loaded } = await run({});
    expect(code).toBe(0);
    // The client of Prometheus loads this one.
    expect(loaded).toEqual(['@opentelemetry/api']);
  });

  it('sends what waits before it ends', async () => {
    const receiver = await startOtlpReceiver();
    const { code, loaded } = await run({ SERVICE_OTLP_ENDPOINT: receiver.url });
    const { spans, metrics } = await receiver.received();
    await receiver.stop();
    expect(code).toBe(0);
    expect(loaded).toContain('@opentelemetry/sdk-trace');
    expect(spans.map(({ attributes }) => attributes['control_enforcement.step.name'])).toEqual([
      'the only step',
    ]);
    const evaluations = metrics.findLast(
      ({ name }) => name === 'control_enforcement_server_evaluations_total',
    );
    expect(evaluations?.points).toMatchObject([{ value: 1 }]);
  });

  it('ends without a receiver, and says what was lost', async () => {
    const gone = await startOtlpReceiver();
    await gone.stop();
    const { code, stdout } = await run({ SERVICE_OTLP_ENDPOINT: gone.url });
    expect(code).toBe(0);
    const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
    const told = lines
      .map((line) => JSON.parse(line))
      .find(({ msg }) => msg === 'spans were lost at shutdown');
    expect(told).toMatchObject({ lost: 1 });
  });
});
