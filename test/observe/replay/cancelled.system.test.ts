import { createClient } from '@connectrpc/connect';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { SampleService } from '../../../gen/proto/enforcement/v1/sample_service_pb.js';
import { replayed } from '../../e2e/replay.support.js';
import {
  json,
  type ModelServer,
  openModel,
  silent,
} from '../../kernel/evaluators/vendor-model/model-server.js';
import { rpcTransport } from '../../support/rpc-transports.js';
import { evaluate } from '../../support/seed.js';
import { suiteService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';

const AGENT = 'cancelled-bot-1';
/** More than one page of a replay. */
const SAMPLES = 60;
const CONTROL = {
  execution: 'server',
  condition: {
    selector: { path: 'input' },
    evaluator: {
      name: 'vendor.model',
      config: { metric: 'input_toxicity', operator: 'gt', target_value: 0.5 },
    },
  },
  action: { decision: 'deny' },
};

describe('a replay that its caller cancels', () => {
  let model: ModelServer;
  const service = suiteService(async () => {
    model = await openModel(json({ score: 0.1 }));
    return { VENDOR_API_URL: model.url, VENDOR_API_KEY: 'secret' };
  });
  afterAll(() => model?.stop());

  const whole = async (signal: AbortSignal) => {
    const reply = await fetch(`${service.url}/api/v1/samples/replay`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
      signal,
    });
    await reply.text();
  };
  const streamed = async (signal: AbortSignal) => {
    const client = createClient(SampleService, rpcTransport('gRPC', service.url));
    for await (const _ of client.replaySamples({}, { signal }));
  };

  beforeEach(async () => {
    model.behave(json({ score: 0.1 }));
    if (model.requests.length > 0) return;
    await service.seed.linked(AGENT, 'model', CONTROL);
    expect((await service.call('POST', '/api/v1/sampling-rules', { share: 1 })).status).toBe(200);
    for (let at = 0; at < SAMPLES; at += 1) await evaluate(service.call, AGENT, `words ${at}`);
    await until(
      () => service.call('GET', '/api/v1/samples?limit=1'),
      ({ body }) => body.pagination.total === SAMPLES,
    );
  });

  it.each([
    ['REST', whole],
    ['gRPC', streamed],
  ] as const)('over %s ends in the middle of a sample, and evaluates no other', async (_name, replay) => {
    const before = model.requests.length;
    model.behave(silent);
    const caller = new AbortController();
    const left = replay(caller.signal).then(
      () => 'ended',
      () => 'cancelled',
    );
    await until(
      () => model.open(),
      (open) => open === 1,
    );
    caller.abort();
    expect(await left).toBe('cancelled');
    await until(
      () => model.open(),
      (open) => open === 0,
    );
    // What would still be evaluated is asked for as well now, in turns with these.
    model.behave(json({ score: 0.1 }));
    const { summary } = await replayed(service.url, { max_samples: 3 });
    expect(summary).toMatchObject({ samples: 3, changed: 0 });
    expect(model.requests.length - before).toBe(1 + 3);
  });
});
