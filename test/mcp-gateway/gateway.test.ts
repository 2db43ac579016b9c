import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteService } from '../support/service-suite.js';
import { mcpClient, startTestGateway, type TestGateway, textOf, VERSIONS } from './gateway.support.js';
import { startUpstream, type UpstreamServer } from './upstream-server.js';

const AGENT = 'mail-agent-01';

const control = (path: string, pattern: string, action: object, scope: object = {}) => ({
  execution: 'server',
  scope,
  condition: { selector: { path }, evaluator: { name: 'regex', config: { pattern } } },
  action,
});
const CONTROLS = {
  'no-cards': control('input.text', '\\b\\d{16}\\b', { decision: 'deny' }, { stages: ['pre'] }),
  'no-haste': control('input.text', 'urgent', { decision: 'steer', steering_context: { message: 'Write it without haste.' } }, { stages: ['pre'] }),
  'no-secrets': control('output', 'SECRET', { decision: 'deny' }, { stages: ['post'] }),
  'no-drops': control('name', '.*', { decision: 'deny' }, { step_names: ['drop_table'] }),
};

describe.each(['modern', 'legacy'] as const)('a gateway before a %s server', (era) => {
  const service = suiteService();
  let upstream: UpstreamServer;
  let gateway: TestGateway;
  beforeAll(async () => {
    await service.seed.agent(AGENT);
    for (const [name, data] of Object.entries(CONTROLS)) await service.seed.link(AGENT, await service.seed.control(name, data));
    upstream = await startUpstream(era);
    gateway = await startTestGateway(service.url, {
      upstreams: [{ name: 'mail', url: upstream.url }],
      mapping: { agent: { fixed: AGENT }, tool_names: 'plain' },
      hidden: ['hidden_*'],
    });
  });
  afterAll(async () => {
    await gateway?.close();
    await upstream?.stop();
  });

  describe.each(VERSIONS)('for a client of version %s', (version) => {
    it('passes calls on, and denies and steers them', async () => {
      const client = await mcpClient(gateway.url, version);
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      expect(client.getInstructions()).toBe('Mails and files.');
      upstream.ran.length = 0;
      const send = (text: string) => client.callTool({ name: 'send_mail', arguments: { to: 'ann', text } });
      expect(textOf(await send('hello'))).toBe('sent hello to ann');
      const denied = await send('4111111111111111');
      expect([denied.isError, textOf(denied)]).toEqual([true, expect.stringContaining('denied before it ran by "no-cards"')]);
      expect(textOf(await send('urgent'))).toContain('Write it without haste.');
      expect(textOf(await send('SECRET'))).toContain('denied after it ran by "no-secrets"');
      expect(upstream.ran.map(([, input]) => (input as { text: string }).text)).toEqual(['hello', 'SECRET']);
    });
  });
});
