import { restClient } from '../../support/http.js';
import { createKeysFile } from '../../support/keys-file.js';
import { denyWord, seeder } from '../../support/seed.js';
import { startService } from '../../support/service.js';

export const AGENT = 'gateway-bot-01';
export const LIMITED = 'other-bot-0001';

/** A control about steps with this name, of any type, with an expression of CEL. */
const about = (step: string, expression: string, action: object = { decision: 'deny' }) => ({
  execution: 'server',
  scope: { step_names: [step], stages: ['pre'] },
  condition: { selector: {}, evaluator: { name: 'cel', config: { expression, on_missing: 'no_match' } } },
  action,
});

/** One service with the adapters of gateways, and an agent whose tools are denied, steered, asked about, limited and changed. */
export async function startGatewayService() {
  const keys = createKeysFile([
    { name: 'boss', key: 'admin-key', role: 'admin' },
    { name: 'ann', key: 'approver-key', role: 'approver' },
    { name: 'gateway', key: 'gateway-key', role: 'agent' },
    { name: 'limited', key: 'limited-key', role: 'agent', agents: [LIMITED] },
  ]);
  const service = await startService({ ...keys.environment, SERVICE_ADAPTERS: 'ext-authz,ext-mcp' });
  const admin = restClient(service.url, { 'x-api-key': 'admin-key' });
  const seed = seeder(admin);
  await seed.agent(AGENT);
  await seed.agent(LIMITED);
  const controls = {
    'no-large-payments': about('pay', 'input.amount > 1000.0'),
    'exports-by-page': about('export', 'true', {
      decision: 'steer',
      steering_context: { message: 'Export a page at a time.' },
    }),
    'asks-to-share': about('share', 'true', {
      decision: 'deny',
      approval: { approvers: ['role:approver'], question: 'Share it?' },
    }),
    'one-search': {
      execution: 'server',
      scope: { step_names: ['search'] },
      condition: {
        selector: { path: '*' },
        evaluator: { name: 'rate', config: { limit: 1, period: '24h', key: ['agent'] } },
      },
      action: { decision: 'deny' },
    },
    'no-keys': denyWord('sk-[a-z0-9]+', {
      scope: { step_names: ['send_note'], stages: ['pre'] },
      action: { decision: 'deny', modify: [{ path: 'input.text', replace: 'matches', with: '[redacted]' }] },
    }),
    'no-keys-in-results': {
      execution: 'server',
      scope: { stages: ['post'] },
      condition: {
        selector: { path: 'output' },
        evaluator: { name: 'regex', config: { pattern: 'sk-[a-z0-9]+' } },
      },
      action: { decision: 'deny', modify: [{ path: 'output', replace: 'matches', with: '[redacted]' }] },
    },
    'no-secrets': denyWord('/etc/shadow', { scope: { stages: ['pre'] } }),
    'sees-notes': about('list_notes', 'true', { decision: 'observe' }),
    'nothing-deleted': about('DELETE api.example.com/orders/7', 'true'),
  };
  for (const [name, data] of Object.entries(controls)) await seed.link(AGENT, await seed.control(name, data));
  return {
    service,
    admin,
    approve: (id: number) =>
      admin(
        'POST',
        `/api/v1/approvals/${id}/decide`,
        { decision: 'approve' },
        { 'x-api-key': 'approver-key' },
      ),
    async stop() {
      await service.stop();
      keys.remove();
    },
  };
}

export type GatewayService = Awaited<ReturnType<typeof startGatewayService>>;
