import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { describe, expect, it } from 'vitest';
import { Decision, Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  AppliesTo,
  type ControlExecutionEvent,
  ControlExecutionEventSchema,
  ObservabilityService,
} from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { evaluationsOf } from '../../../packages/dashboard/src/events/evaluations.js';
import { eventJson } from '../../../packages/dashboard/src/events/event-json.js';
import { exportEvents } from '../../../packages/dashboard/src/events/export-events.js';
import { denyWord } from '../../support/seed.js';
import { describeServiceOnSqlite } from '../../support/service-suite.js';
import { until } from '../../support/until.js';
import { HOSTILE } from '../dashboard-service.js';

function event(index: number, decisionId?: string): ControlExecutionEvent {
  return create(ControlExecutionEventSchema, {
    controlExecutionId: `check-${index}`,
    agentName: 'agent',
    checkStage: Stage.PRE,
    appliesTo: AppliesTo.TOOL_CALL,
    action: Decision.DENY,
    matched: true,
    revision: 7n,
    ...(decisionId === undefined ? {} : { decisionId }),
  });
}

async function* events(count: number): AsyncGenerator<ControlExecutionEvent> {
  for (let index = 0; index < count; index += 1) yield event(index);
}

describe('an export of events', () => {
  it('writes a line for each event, in pieces', async () => {
    const pieces: Uint8Array[] = [];
    const sink = { write: async (bytes: Uint8Array) => void pieces.push(bytes), finish: noop, discard: noop };
    const reported: number[] = [];
    const result = await exportEvents(events(2_000), sink, (progress) => reported.push(progress.events));
    const text = Buffer.concat(pieces).toString();
    expect(text.endsWith('}\n')).toBe(true);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.control_execution_id)).toEqual(
      Array.from({ length: 2_000 }, (_, index) => `check-${index}`),
    );
    expect(lines[0]).toMatchObject({
      check_stage: 'pre',
      applies_to: 'tool_call',
      action: 'deny',
      revision: 7,
      error_message: null,
      metadata: {},
    });
    expect(pieces.length).toBeGreaterThan(1);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(300_000);
    expect(result).toEqual({ events: 2_000, bytes: Buffer.byteLength(text) });
    expect(reported.at(-1)).toBe(2_000);
  });

  it('ends with the error of the file', async () => {
    const write = async () => Promise.reject(new Error('disk full'));
    await expect(exportEvents(events(1), { write, finish: noop, discard: noop }, () => {})).rejects.toThrow(
      'disk full',
    );
  });
});

describeServiceOnSqlite(
  'the line of an exported event',
  ({ call, seed, service }) => {
    it('is that of the JSON route', async () => {
      await seed.linked('exporting-agent', 'changing', denyWord('secret'));
      const step = { type: 'tool', name: `it's "${HOSTILE.markup}"`, input: { text: 'a secret' } };
      const evaluation = { agent_name: 'exporting-agent', stage: 'pre', step, session_id: HOSTILE.quotes };
      await call('POST', '/api/v1/evaluation', evaluation);
      const lines = async () => {
        const reply = await fetch(`${service.url}/api/v1/observability/events/export`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ include_step: true }),
        });
        return (await reply.text()).split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
      };
      await until(lines, ({ length }) => length > 0);
      const client = createClient(ObservabilityService, createGrpcTransport({ baseUrl: service.url }));
      const written: unknown[] = [];
      for await (const { event: exported } of client.exportEvents({})) {
        if (exported !== undefined) written.push(eventJson(exported));
      }
      expect(written).toEqual(await lines());
    });
  },
  { OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.2' },
);

describe('the events of a trace', () => {
  it('are grouped by their verdict; those without one stand alone', () => {
    const inOrder = [event(1, 'a'), event(2, 'b'), event(3), event(4, 'a'), event(5)];
    const ids = evaluationsOf(inOrder).map(({ checks }) => checks.map((check) => check.controlExecutionId));
    expect(ids).toEqual([['check-1', 'check-4'], ['check-2'], ['check-3'], ['check-5']]);
  });

  it('are one step if they have no verdict, but the agent, span and stage of the step', () => {
    const of = (index: number, agentName: string, spanId: string, checkStage = Stage.PRE) =>
      Object.assign(event(index), { agentName, spanId, checkStage });
    const inOrder = [
      of(1, 'a', 's'),
      of(2, 'a', 's'),
      of(3, 'b', 's'),
      of(4, 'a', 't'),
      of(5, 'a', 's', Stage.POST),
    ];
    const ids = evaluationsOf(inOrder).map(({ checks }) => checks.map((check) => check.controlExecutionId));
    expect(ids).toEqual([['check-1', 'check-2'], ['check-3'], ['check-4'], ['check-5']]);
  });
});

async function noop(): Promise<void> {}
