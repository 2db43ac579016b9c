import type { Transport } from '@connectrpc/connect';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { beforeAll, expect, it } from 'vitest';
import { ObservabilityService } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { exchange } from '../support/http.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { describeService } from '../support/service-suite.js';
import { executeSql } from '../support/sql.js';

const BILLIONS = 'billions-bot-1';
const BEYOND_DOUBLES = 'beyond-doubles-1';
const INT32_MAX = 2 ** 31 - 1;
const UNITS = [1, 60, 3_600, 86_400];
const JSON_PROTOCOL = 'Connect with JSON';
const PROTOCOLS = [...RPC_PROTOCOLS, JSON_PROTOCOL] as const;

/** The sums of events of one second, in the rollups of every unit. */
function rollups(agent: string, controlId: number, executions: bigint, nano: bigint): string[] {
  const second = Math.floor(Date.now() / 1_000) - 60;
  return UNITS.map(
    (unit) => `('${agent}', ${unit}, ${second - (second % unit)}, ${controlId}, 'one',
      ${executions}, ${executions}, 0, 0, ${executions}, 0, 0, ${nano}, ${executions}, 0, ${nano})`,
  );
}

describeService('counts that int32 cannot hold', ({ service }) => {
  beforeAll(async () => {
    const values = [
      // The sum of their confidences, in billionths, exceeds 64 bits.
      ...[1, 2, 3, 4].flatMap((id) => rollups(BILLIONS, id, 3_000_000_000n, 3n * 10n ** 18n)),
      ...rollups(BEYOND_DOUBLES, 1, 2n ** 53n + 1n, 10n ** 18n),
      ...rollups(BEYOND_DOUBLES, 2, 2n ** 53n, 10n ** 18n),
    ];
    await executeSql(
      service.databaseUrl,
      `INSERT INTO "event_rollups" ("agent_name", "unit_s", "start_s", "control_id", "name_key", "executions",
        "matches", "non_matches", "errors", "denies", "steers", "observes", "confidence_nano", "durations",
        "duration_high", "duration_low") VALUES ${values.join(', ')}`,
    );
  });

  const transport = (protocol: (typeof PROTOCOLS)[number]): Transport =>
    protocol === JSON_PROTOCOL
      ? createConnectTransport({ baseUrl: service.url, httpVersion: '1.1', useBinaryFormat: false })
      : rpcTransport(protocol, service.url);

  it.each(PROTOCOLS)('are the largest int32 over %s, and exact in the int64 members', async (protocol) => {
    const client = createClient(ObservabilityService, transport(protocol));
    const saturated = {
      executionCount: INT32_MAX,
      matchCount: INT32_MAX,
      nonMatchCount: 0,
      errorCount: 0,
      nonMatchTotal: 0n,
      errorTotal: 0n,
    };
    const of = (total: bigint) => ({
      ...saturated,
      executionTotal: total,
      matchTotal: total,
      actionCounts: { deny: INT32_MAX },
      actionTotals: { deny: total },
    });
    const stats = await client.getStats({ agentName: BILLIONS, timeRange: '24h', includeTimeseries: true });
    expect(stats.totals).toMatchObject(of(12_000_000_000n));
    const filled = stats.totals?.timeseries.filter(({ executionTotal }) => executionTotal > 0n);
    expect(filled).toMatchObject([{ ...of(12_000_000_000n), avgConfidence: 1, avgDurationMs: 1_000 }]);
    expect(stats.controls).toHaveLength(4);
    expect(stats.controls[0]).toMatchObject({
      ...saturated,
      executionTotal: 3_000_000_000n,
      denyCount: INT32_MAX,
      denyTotal: 3_000_000_000n,
      steerTotal: 0n,
      observeTotal: 0n,
      avgConfidence: 1,
      avgDurationMs: 1_000,
    });
    const one = await client.getControlStats({ agentName: BILLIONS, controlId: 2, timeRange: '1h' });
    expect(one.stats).toMatchObject(of(3_000_000_000n));
    const overview = await client.getStatsOverview({ timeRange: '7d' });
    const beyond = 2n ** 54n + 1n;
    expect(overview.totals).toMatchObject(of(12_000_000_000n + beyond));
    expect(overview.agents).toMatchObject([
      { agentName: BEYOND_DOUBLES, ...of(beyond) },
      { agentName: BILLIONS, ...of(12_000_000_000n) },
    ]);
    expect(overview.controls[0]?.stats).toMatchObject({ controlId: 1, executionTotal: 2n ** 53n + 1n });
  });

  it('are exact numbers over REST, without the members of RPCs', async () => {
    const get = async (path: string) => {
      const { status, text } = await exchange(service.url, { path: `/api/v1/observability/${path}` });
      expect({ status, text }).toMatchObject({ status: 200, text: expect.not.stringContaining('_total') });
      return text;
    };
    const counted = '"execution_count":12000000000,"match_count":12000000000,"non_match_count":0';
    const stats = await get(`stats?agent_name=${BILLIONS}&time_range=24h&include_timeseries=true`);
    expect(stats).toContain(`"totals":{${counted},"error_count":0,"action_counts":{"deny":12000000000}`);
    expect(stats).toContain('"control_id":1,"control_name":"one","execution_count":3000000000');
    const one = await get(`stats/controls/2?agent_name=${BILLIONS}&time_range=1h`);
    expect(one).toContain('"stats":{"execution_count":3000000000');
    expect(await get('stats/overview?time_range=7d')).toContain(
      '"execution_count":18014398509481985,"match_count":18014398509481985',
    );
  });
});
