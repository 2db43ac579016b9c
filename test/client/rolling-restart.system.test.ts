import { afterAll, expect, it } from 'vitest';
import { createClient } from '../../packages/client/src/node.js';
import { describeOnPostgresql } from '../support/databases.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { compiled, type ServiceProcess, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';
import { PATIENT_MS, seedAgent } from './client-harness.js';
import { keepAsking } from './keep-asking.js';
import { startTcpBalancer } from './tcp-balancer.js';

/** Answers of each client that show that it goes on. */
const MORE = 60;

describeOnPostgresql('a rolling restart of two replicas', (freshDatabaseUrl) => {
  const running = new Set<ServiceProcess>();
  afterAll(async () => {
    for (const service of running) await service.dispose();
  });

  it('loses no evaluation, streamed or called, when clients send again what is UNAVAILABLE', async () => {
    const environment = { DATABASE_URL: await freshDatabaseUrl() };
    const start = async () => {
      const service = await spawnService(compiled, { environment });
      running.add(service);
      return { service, url: await service.listening() };
    };
    let [first, second] = [await start(), await start()];
    await seedAgent(first.url);
    const balancer = await startTcpBalancer();
    balancer.setTargets([first.url, second.url]);

    const timeoutMs = PATIENT_MS;
    const clients = [
      createClient({ baseUrl: balancer.url, timeoutMs }),
      createClient({ baseUrl: balancer.url, timeoutMs }),
      createClient({ transport: rpcTransport('gRPC-Web over HTTP/1.1', balancer.url), timeoutMs }),
    ];
    const asked = clients.map((client) => keepAsking(client, 8));
    /** Every client gets answers, now. */
    const goesOn = async () => {
      const before = asked.map((one) => one.answers.length);
      await until(
        () => asked.map((one) => one.answers.length),
        (counts) => counts.every((count, index) => count > (before[index] ?? 0) + MORE),
      );
    };

    await goesOn();
    for (let round = 1; round <= 2; round += 1) {
      // The balancer does not know that it stops: that is for the clients to notice.
      first.service.process.kill('SIGTERM');
      expect(await first.service.ended).toEqual({ code: 0, signal: null });
      await goesOn();
      const replacement = await start();
      balancer.setTargets([second.url, replacement.url]);
      await goesOn();
      [first, second] = [second, replacement];
    }
    const outcomes = await Promise.all(asked.map((one) => one.stop()));
    expect(outcomes).toEqual(clients.map(() => ({ failures: [], wrong: [] })));
    // All four processes had a part in it.
    expect(balancer.taken.size).toBeGreaterThanOrEqual(3);
    for (const client of clients) client.close();
    balancer.close();
  });
});
