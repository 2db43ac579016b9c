import { describe, expect, it } from 'vitest';
import { restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { startService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { startOtlpReceiver } from './otlp-receiver.support.js';
import { AGENT, asked, parent, restWayTo, STEP_NAME } from './telemetry-clients.js';

describe('sampling', () => {
  it('a ratio of 0 leaves out what has no parent, and keeps what a caller samples', async () => {
    const receiver = await startOtlpReceiver();
    const service = await startService({
      SERVICE_OTLP_ENDPOINT: receiver.url,
      SERVICE_OTLP_SIGNALS: 'traces',
      SERVICE_OTLP_SAMPLE_RATIO: '0',
    });
    await seeder(restClient(service.url)).agent(AGENT);
    const way = restWayTo(service.url);
    const [root, continued] = [asked(), asked()];
    await way.evaluate(root, {});
    await way.evaluate(continued, { traceparent: parent().header });
    // Sends what waits.
    await service.stop();
    const { spans } = await receiver.received();
    expect(spans.map(({ attributes }) => attributes[STEP_NAME])).toEqual([continued.name]);
    await receiver.stop();
  });
});

describe('a receiver that is away', () => {
  it('gets what waits when it is back, and evaluations go on meanwhile', async () => {
    const first = await startOtlpReceiver();
    await first.stop();
    const service = await startService({ SERVICE_OTLP_ENDPOINT: first.url, SERVICE_OTLP_SIGNALS: 'traces' });
    await seeder(restClient(service.url)).agent(AGENT);
    const way = restWayTo(service.url);
    const during = [asked(), asked(), asked()];
    for (const one of during) await way.evaluate(one, {});
    const second = await startOtlpReceiver(first.port);
    const { spans } = await until(
      () => second.received(),
      (answer) => answer.spans.length >= during.length,
    );
    expect(spans.map(({ attributes }) => attributes[STEP_NAME])).toEqual(during.map(({ name }) => name));
    await service.stop();
    await second.stop();
  });

  it('that refuses is named in one log line, and what it refused is counted', async () => {
    const receiver = await startOtlpReceiver();
    await receiver.answer(400);
    const service = await startService({
      SERVICE_OTLP_ENDPOINT: receiver.url,
      SERVICE_OTLP_SIGNALS: 'traces',
    });
    await seeder(restClient(service.url)).agent(AGENT);
    const way = restWayTo(service.url);
    for (const attempt of [1, 2]) {
      await way.evaluate(asked(), {});
      await until(
        () => receiver.received(),
        ({ refused }) => refused === attempt,
      );
    }
    await until(
      async () => (await fetch(`${service.url}/metrics`)).text(),
      (page) => /_telemetry_items_total\{signal="traces",result="failed"[^}]*\} 2$/m.test(page),
    );
    const told = service.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
    expect(told.filter(({ msg }) => msg === 'traces could not be sent over OTLP')).toHaveLength(1);
    await service.stop();
    await receiver.stop();
  });
});
