import { expect, it } from 'vitest';
import { startHostileLoad } from '../serve/http/hostile-load.js';
import { restClient } from '../support/http.js';
import { metric, parseMetrics } from '../support/prometheus.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { compiled, spawnService } from '../support/service-process.js';

const AGENT = 'laned-agent-1';
const IDLE_STREAMS = 10_000;
const ROUNDS = 200;
const MIB = 1024 * 1024;
/** Generous: an idle stream takes some ten kilobytes, and the garbage collector takes its time. */
const MAX_GROWTH_MIB = 700;

it(`${IDLE_STREAMS} idle streams beside every kind of hostile client leave others served and memory bounded`, async () => {
  const process = await spawnService(compiled, {
    // Shedding would serve the others less; here every one of them is to be served.
    environment: { SERVICE_LOG_JSON: 'true', SERVICE_SHED_EVENT_LOOP_DELAY_MS: '0' },
  });
  let end = () => {};
  try {
    const url = await process.listening();
    const call = restClient(url);
    const memoryMib = async () => {
      const samples = parseMetrics((await call('GET', '/metrics')).body);
      return metric(samples, 'control_enforcement_server_process_resident_memory_bytes') / MIB;
    };
    const seed = seeder(call);
    await seed.linked(AGENT, 'no-bad', denyWord('bad'));
    const before = await memoryMib();
    end = await startHostileLoad(url, { idle: IDLE_STREAMS, neverReading: 16, resetting: 2, slow: 200 });
    let most = 0;
    for (let count = 0; count < ROUNDS; count += 1) {
      const { body } = await evaluate(call, AGENT, count % 2 === 0 ? 'bad' : 'good');
      expect(body.is_safe).toBe(count % 2 === 1);
      most = Math.max(most, await memoryMib());
    }
    console.log(`hostile load: ${before.toFixed(0)} MiB before, ${most.toFixed(0)} MiB at most`);
    expect(most - before).toBeLessThan(MAX_GROWTH_MIB);
  } finally {
    end();
    await process.dispose();
  }
}, 300_000);
