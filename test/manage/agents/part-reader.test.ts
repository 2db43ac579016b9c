import { toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentControlSchema } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import type { AgentControl } from '../../../src/manage/agents/agent-controls.js';
import { controlBytes } from '../../../src/manage/agents/control-parts.js';
import { PartReader } from '../../../src/manage/agents/part-reader.js';
import { WatchedAgent } from '../../../src/manage/agents/watched-agent.js';
import { messageMapper } from '../../../src/serve/connect/message-mapper.js';
import { keyOf } from '../../support/scoped.js';

type Stored = { id: number; name: string; data: string };
interface Message {
  readonly revision: number;
  readonly full?: { readonly controls: readonly AgentControl[] };
  readonly changed?: { readonly upserted: readonly AgentControl[]; readonly removed: readonly number[] };
  readonly incomplete?: boolean;
}

const LIMIT = 2_000;
const present = ({ id, name, data }: Stored): AgentControl => ({
  id,
  name,
  control: { description: data } as never,
});

/** An agent whose states are those of a list, and a client of an earlier version, which does not know of parts. */
function agentAndClient() {
  let revision = 0;
  const agent = new WatchedAgent(keyOf('agent'), null, () => ({ revision, currentAtMs: 0 }));
  const reader = new PartReader(agent, false, LIMIT);
  const held = new Map<number, string>();
  const messages: Message[] = [];
  return {
    agent,
    held,
    messages,
    store(rows: readonly Stored[]) {
      revision += 1;
      agent.demand(revision);
      agent.take({ revision, policyIds: [] }, 0, rows, present);
    },
    startOver() {
      agent.startOver({ revision, currentAtMs: 0 });
    },
    /** Reads one message; false if there is none. */
    read(): boolean {
      const message = reader.next() as Message | null;
      if (message === null) return false;
      messages.push(message);
      if (message.full !== undefined) held.clear();
      for (const control of message.full?.controls ?? message.changed?.upserted ?? [])
        held.set(control.id, JSON.stringify(control));
      for (const id of message.changed?.removed ?? []) held.delete(id);
      return true;
    },
  };
}

const heldOf = (rows: readonly Stored[]) =>
  new Map(rows.map((row) => [row.id, JSON.stringify(present(row))]));

const rowsArbitrary = fc
  .uniqueArray(
    fc.record({
      id: fc.integer({ min: 1, max: 12 }),
      name: fc.constantFrom('a', 'b'),
      data: fc.constantFrom(10, 900, 3_000).map((size) => 'x'.repeat(size)),
    }),
    { selector: ({ id }) => id },
  )
  .map((rows) => rows.toSorted((left, right) => right.id - left.id));

describe('the messages for one client', () => {
  it('lead it to what is stored, in parts below the limit, whatever changes in between', () => {
    const eventArbitrary = fc.oneof(
      { weight: 3, arbitrary: fc.record({ rows: rowsArbitrary }) },
      { weight: 6, arbitrary: fc.constant('read' as const) },
      { weight: 1, arbitrary: fc.constant('start over' as const) },
    );
    fc.assert(
      fc.property(fc.array(eventArbitrary, { maxLength: 40 }), rowsArbitrary, (events, last) => {
        const client = agentAndClient();
        let stored: readonly Stored[] = [];
        const read = (): boolean => {
          const isRead = client.read();
          const message = client.messages.at(-1);
          if (isRead && message?.incomplete !== true) {
            expect(client.held).toEqual(heldOf(stored));
            expect(message?.revision).toBe(client.agent.revision);
          }
          return isRead;
        };
        for (const event of events) {
          if (event === 'read') read();
          else if (event === 'start over') client.startOver();
          else {
            stored = event.rows;
            client.store(event.rows);
          }
        }
        stored = last;
        client.store(last);
        while (read());
        expect(client.held).toEqual(heldOf(last));
        expect(client.messages.at(-1)?.incomplete).toBeUndefined();

        let complete = 0;
        let isFullPass = true;
        for (const { revision, full, changed, incomplete } of client.messages) {
          const controls = full?.controls ?? changed?.upserted ?? [];
          const bytes = controls.reduce((sum, control) => sum + controlBytes(control), 0);
          expect(bytes <= LIMIT || controls.length === 1).toBe(true);
          if (full !== undefined) isFullPass = true;
          if (incomplete === true) expect(revision).toBe(isFullPass ? 0 : complete);
          else {
            complete = revision;
            isFullPass = false;
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are one and shared as long as the controls fit', () => {
    const client = agentAndClient();
    const rows = [2, 1].map((id) => ({ id, name: 'a', data: 'x' }));
    client.store(rows);
    client.read();
    expect(client.messages).toEqual([{ revision: 1, full: { controls: rows.map(present) } }]);
    expect(client.messages[0]).toBe(client.agent.messageSince(0));
  });

  it('tell a client that waits for the rest that it has not got everything', () => {
    const client = agentAndClient();
    const reader = new PartReader(client.agent, false, LIMIT);
    expect(reader.unfinished()).toBeNull();
    client.store([3, 2, 1].map((id) => ({ id, name: 'a', data: 'x'.repeat(1_500) })));
    reader.next();
    client.startOver();
    expect(reader.next()).toBeNull();
    expect(reader.unfinished()).toEqual({
      revision: 0,
      changed: { upserted: [], removed: [] },
      incomplete: true,
    });
  });
});

describe('the size of a control', () => {
  it('is at least that of its message', () => {
    const { fromPlain } = messageMapper(AgentControlSchema);
    const value = fc.letrec<{ json: unknown }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        fc.bigInt(),
        fc.array(tie('json'), { maxLength: 20 }),
        fc.dictionary(fc.string({ maxLength: 150 }), tie('json'), { maxKeys: 8 }),
      ),
    })).json;
    fc.assert(
      fc.property(fc.array(value, { maxLength: 30 }), (values) => {
        const control = listControl(values);
        const bytes = toBinary(AgentControlSchema, fromPlain(control) as never).length;
        expect(controlBytes(control)).toBeGreaterThanOrEqual(bytes);
      }),
    );
  });
});

function listControl(values: readonly unknown[]): AgentControl {
  const control = {
    condition: {
      selector: { path: 'input' },
      evaluator: { name: 'list', config: { values }, metadata: null },
      and: null,
      or: null,
      not: null,
    },
    description: null,
    enabled: true,
    execution: 'server',
    scope: { step_types: ['tool'], step_names: null, step_name_regex: null, stages: ['pre', 'post'] },
    action: { decision: 'deny', steering_context: null, metadata: null },
    tags: ['a', 'b'],
    template: null,
    template_values: null,
  };
  return { id: 2 ** 31 - 1, name: 'a list', control: control as never };
}
