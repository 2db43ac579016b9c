import { createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { describeService } from '../support/service-suite.js';

const CONTROLS = '/api/v1/controls';
const condition = { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'x' } } };
const asking = (approval: object) => ({
  condition,
  execution: 'server',
  scope: { stages: ['pre'] },
  action: { decision: 'deny', approval: { approvers: ['role:approver'], ...approval } },
});
const text = (value: string) => ({ kind: { case: 'stringValue' as const, value } });

describeService('definitions with approval and modify', ({ call, service }) => {
  it('are stored, printed and patched over REST as they were given', async () => {
    for (const [index, approval] of [
      {},
      { bind: 'step', reuse: 'once' },
      { bind: ['input.a', '*'], reuse: { seconds: 600 }, question: 'Pay {input.a}?', separate: false },
    ].entries()) {
      const data = asking(approval);
      const created = await call('PUT', CONTROLS, { name: `rest-${index}`, data });
      expect(created.status).toBe(200);
      const path = `${CONTROLS}/${created.body.control_id}/data`;
      const read = await call('GET', path);
      expect((read.body.data as { action: object }).action).toEqual(data.action);
      expect((await call('PUT', path, { data: read.body.data })).status).toBe(200);
      expect((await call('GET', path)).body).toEqual(read.body);
    }
    const refused = await call('PUT', CONTROLS, { name: 'refused', data: asking({ quorum: 11 }) });
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toMatchObject([{ field: 'data.action.approval.quorum' }]);
  });

  describe.each(RPC_PROTOCOLS)('over %s', (protocol) => {
    const named = RPC_PROTOCOLS.indexOf(protocol);
    const client = () => createClient(ControlService, rpcTransport(protocol, service.url));
    const definition = (action: object) => ({
      condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'x' } } },
      execution: 1,
      scope: { stages: [1] },
      action: { decision: 1, ...action },
    });

    it('have the same members', async () => {
      const list = { kind: { case: 'listValue' as const, value: { values: [text('input.a')] } } };
      const seconds = { kind: { case: 'numberValue' as const, value: 600 } };
      const reuse = { kind: { case: 'structValue' as const, value: { fields: { seconds } } } };
      const approval = { approvers: ['name:ann'], bind: list, reuse };
      const { controlId } = await client().createControl({
        name: `rpc-${named}`,
        data: definition({ approval }),
      });
      const rest = await call('GET', `${CONTROLS}/${controlId}/data`);
      expect(rest.body.data).toMatchObject({
        action: { approval: { approvers: ['name:ann'], bind: ['input.a'], reuse: { seconds: 600 } } },
      });
      const { data } = await client().getControlData({ controlId });
      expect(data).toMatchObject({ action: { approval, modify: [] } });
      const changes = [
        { path: 'input', replace: 'matches', with: '' },
        { path: 'input.a', remove: true },
      ];
      const { controlId: changing } = await client().createControl({
        name: `changing-${named}`,
        data: definition({ modify: changes }),
      });
      const { data: read } = await client().getControlData({ controlId: changing });
      expect(read).toMatchObject({ action: { modify: changes } });
      const { body } = await call('GET', `${CONTROLS}/${changing}/data`);
      expect(body.data).toMatchObject({ action: { modify: changes } });
    });
  });
});
