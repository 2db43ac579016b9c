import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { curlText, typeScriptText } from '../../../packages/dashboard/src/playground/call-texts.js';
import { runExample, seedClientExample } from '../../support/client-example.js';
import { describeOnSqlite } from '../../support/databases.js';
import { compileService } from '../../support/service-process.js';
import { ADMIN_KEY, HOSTILE, REGULAR_KEY, startKeyedService } from '../dashboard-service.js';

describeOnSqlite('the calls of the playground', (freshDatabaseUrl) => {
  it('can be run, whatever is in the step', async () => {
    const service = await startKeyedService(await freshDatabaseUrl());
    onTestFinished(() => service.stop());
    await seedClientExample(service.url, { 'x-api-key': ADMIN_KEY });
    const input = { text: 'card 4111111111111111', 'a\'"$`\\': HOSTILE.rightToLeft };
    const call = {
      origin: service.url,
      apiBase: '/api/v1',
      keysRequired: true,
      agentName: 'billing-bot-01',
      stage: 'pre' as const,
      step: JSON.stringify({ type: 'tool', name: `it's "${HOSTILE.markup}"`, input }),
    };
    const env = { ...process.env, SERVICE_API_KEY: REGULAR_KEY };
    const { stdout } = await promisify(execFile)('sh', ['-c', curlText(call)], { env });
    const matches = [{ control_name: 'no-card-numbers' }];
    expect(JSON.parse(stdout)).toMatchObject({ is_safe: false, matches });

    const program = typeScriptText(call)
      .replace('@control-enforcement/client', '../packages/client/src/node.js')
      .replace('process.env.SERVICE_API_KEY', JSON.stringify(REGULAR_KEY));
    const { main } = await compileService();
    const folder = path.resolve(path.dirname(main), '..');
    const name = `playground-${new URL(service.url).port}`;
    const printed = await runExample(folder, name, program, { skipLibCheck: true });
    expect(printed).toMatch(/^deny deny control "no-card-numbers"/);
  });
});
