import type { RestClient, RestReply } from '../support/http.js';
import { executeSql, sqlText } from '../support/sql.js';

/** What clients report of a check; every required member. */
export function event(more: object = {}): Record<string, unknown> {
  return {
    trace_id: 'trace-1',
    span_id: 'span-1',
    agent_name: 'events-bot-01',
    control_id: 7,
    control_name: 'no-cards',
    check_stage: 'pre',
    applies_to: 'llm_call',
    action: 'deny',
    matched: true,
    confidence: 0.5,
    ...more,
  };
}

/** The routes of observability. */
export function eventRoutes(call: RestClient) {
  const base = '/api/v1/observability';
  const get = (path: string, query: object) =>
    call('GET', `${base}${path}?${new URLSearchParams(query as Record<string, string>)}`);
  return {
    send: (...events: unknown[]): Promise<RestReply> => call('POST', `${base}/events`, { events }),
    query: (filter: unknown): Promise<RestReply> => call('POST', `${base}/events/query`, filter),
    stats: (query: object): Promise<RestReply> => get('/stats', query),
    controlStats: (id: number | string, query: object): Promise<RestReply> =>
      get(`/stats/controls/${id}`, query),
    status: (): Promise<RestReply> => call('GET', `${base}/status`),
  };
}

/** Problems of a refused request, as `field code`. */
export function problems(reply: RestReply): string[] {
  return (reply.body.errors ?? []).map((item: { field?: string; code: string }) =>
    `${item.field ?? ''} ${item.code}`.trim(),
  );
}

/** Makes the database itself refuse new events of a control, until the returned function is called. */
export async function refuseEventsOf(databaseUrl: string, controlName: string): Promise<() => Promise<void>> {
  const name = sqlText(controlName);
  const [refuse, accept] = databaseUrl.startsWith('postgres')
    ? [
        `ALTER TABLE "events" ADD CONSTRAINT "refused" CHECK ("control_name" <> ${name}) NOT VALID`,
        'ALTER TABLE "events" DROP CONSTRAINT "refused"',
      ]
    : [
        `CREATE TRIGGER "refused" BEFORE INSERT ON "events" WHEN NEW."control_name" = ${name}
           BEGIN SELECT RAISE(ABORT, 'refused'); END`,
        'DROP TRIGGER "refused"',
      ];
  await executeSql(databaseUrl, refuse);
  return () => executeSql(databaseUrl, accept);
}
