import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { CLICKHOUSE_URL } from '../support/clickhouse.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { restClient } from '../support/http.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { compiled, spawnService } from '../support/service-process.js';
import { until } from '../support/until.js';
import { messagesOf } from './event-messages.support.js';
import { observability } from './event-streams.support.js';
import { eventRoutes } from './events.support.js';
import { type Message, sender } from './publish-events.support.js';

const sent = messagesOf('published-bot-1');

describe('a service that is killed', () => {
  describeOnEachDatabase('while events are published', (freshDatabaseUrl) => {
    it('has stored what it acknowledged, and takes the rest from a stream that continues', async () => {
      const environment = { DATABASE_URL: await freshDatabaseUrl(), SERVICE_EVENT_RETENTION_DAYS: '0' };
      const all = Array.from(
        { length: 400 },
        (_, at): Message => ({
          events: Array.from({ length: 10 }, (_, index) => sent(`${at}-${index}`, { spanId: 'killed' })),
        }),
      );
      const first = await spawnService(compiled, { environment });
      let last = 0;
      try {
        const url = await first.listening();
        const { messages, send } = sender();
        send(...all);
        for await (const reply of observability(rpcTransport('gRPC', url)).publishEvents(messages)) {
          last = Number(reply.acknowledgedMessages);
          first.process.kill('SIGKILL');
        }
      } catch (error) {
        expect(ConnectError.from(error).code).not.toBe(Code.InvalidArgument);
      }
      await first.ended;
      expect(last).toBeGreaterThan(0);
      const second = await spawnService(compiled, { environment });
      const url = await second.listening();
      const query = async () => (await eventRoutes(restClient(url)).query({ span_id: 'killed' })).body.total;
      expect(await query()).toBeGreaterThanOrEqual(last * 10);
      const { messages, send, end } = sender();
      send(...all.slice(last));
      end();
      const replies = observability(rpcTransport('gRPC', url)).publishEvents(messages);
      for await (const reply of replies) last = Number(reply.acknowledgedMessages);
      // On ClickHouse they are in the spool until the lease of the killed process expires.
      const isStored = (total: number) => CLICKHOUSE_URL === undefined || total >= 4_000;
      expect(await until(query, isStored)).toBe(4_000);
      await second.dispose();
      await first.dispose();
    });
  });
});
