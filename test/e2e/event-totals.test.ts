import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import {
  QueryEventsRequestSchema,
  TotalKind,
} from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import type { RestReply } from '../support/http.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { describeServiceOnSqlite } from '../support/service-suite.js';
import { observability } from './event-streams.support.js';
import { event, eventRoutes, problems } from './events.support.js';

const STORED = 12_000;

describeServiceOnSqlite('the total of a search for events', ({ service }) => {
  const routes = eventRoutes(service.call);
  beforeAll(async () => {
    for (let at = 0; at < STORED; at += 1_000) {
      const part = Array.from({ length: 1_000 }, (_, index) =>
        event({ control_execution_id: `e-${at + index}`, check_stage: index < 50 ? 'post' : 'pre' }),
      );
      expect((await routes.send(...part)).body).toMatchObject({ status: 'queued' });
    }
  });

  it('is exact, and not described, without the member', async () => {
    const { body } = await routes.query({ agent_name: 'events-bot-01', limit: 1 });
    expect(Object.keys(body)).toEqual(['events', 'total', 'limit', 'offset', 'next_cursor']);
    expect(body.total).toBe(STORED);
    const same = await routes.query({ agent_name: 'events-bot-01', limit: 1, total: null });
    expect(same.body).toEqual(body);
  });

  it('is an estimate beyond 10,000 events, and says so', async () => {
    const query = async (filter: object) =>
      (await routes.query({ limit: 1, total: 'estimate', ...filter })).body;
    expect(await query({})).toMatchObject({ total: STORED, total_kind: 'exact' });
    expect(await query({ check_stages: ['post'] })).toMatchObject({ total: 600, total_kind: 'exact' });
    expect(await query({ matched: true })).toMatchObject({ total: STORED, total_kind: 'estimate' });
    const { total, total_kind } = await query({ check_stages: ['pre'] });
    expect(total_kind).toBe('estimate');
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThanOrEqual(STORED);
  });

  it('is left out on request, and pages go on by their cursor', async () => {
    const found = new Set<string>();
    let cursor: unknown = null;
    do {
      const { body }: RestReply = await routes.query({
        check_stages: ['post'],
        limit: 250,
        cursor,
        total: 'none',
      });
      expect(body).toMatchObject({ total: 0, total_kind: 'none' });
      for (const one of body.events as { control_execution_id: string }[])
        found.add(one.control_execution_id);
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(found.size).toBe(600);
  });

  it.each(RPC_PROTOCOLS)('is described over %s only if it is asked for', async (protocol) => {
    const client = observability(rpcTransport(protocol, service.url));
    const query = (total: TotalKind) => client.queryEvents({ matched: true, limit: 1, total });
    expect(await query(TotalKind.UNSPECIFIED)).toMatchObject({
      eventTotal: BigInt(STORED),
      totalKind: TotalKind.UNSPECIFIED,
    });
    expect(await query(TotalKind.EXACT)).toMatchObject({
      eventTotal: BigInt(STORED),
      totalKind: TotalKind.EXACT,
    });
    expect(await query(TotalKind.ESTIMATE)).toMatchObject({ totalKind: TotalKind.ESTIMATE });
    const none = await query(TotalKind.NONE);
    expect(none).toMatchObject({ total: 0, eventTotal: 0n, totalKind: TotalKind.NONE });
    expect(none.nextCursor).toBeDefined();
  });

  it.each(RPC_PROTOCOLS)('is refused over %s if its kind is unknown', async (protocol) => {
    const client = observability(rpcTransport(protocol, service.url));
    const error = await client
      .queryEvents(create(QueryEventsRequestSchema, { total: 99 as TotalKind }))
      .then(() => undefined, ConnectError.from);
    expect(error?.code).toBe(Code.InvalidArgument);
    expect(error?.rawMessage).toContain('total');
  });

  it('is refused as JSON if its kind is unknown', async () => {
    for (const total of ['rough', 'EXACT', '', 1, true, ['none']]) {
      expect(problems(await routes.query({ total }))).toEqual(['total literal_error']);
    }
  });
});
