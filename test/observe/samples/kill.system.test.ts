import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeOnEachDatabase } from '../../support/databases.js';
import { restClient } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { compiled, spawnService } from '../../support/service-process.js';
import { queryRow } from '../../support/sql.js';
import { until } from '../../support/until.js';

const AGENT = 'killed-bot-0001';
const CARD = '4111111111111111';

describeOnEachDatabase('samples of a process that is killed', (freshDatabaseUrl, kind) => {
  it('are whole, and masked', async () => {
    const url = await freshDatabaseUrl();
    const service = await spawnService(compiled, { environment: { DATABASE_URL: url } });
    onTestFinished(() => service.dispose());
    const call = restClient(await service.listening());
    await seeder(call).agent(AGENT);
    expect((await call('POST', '/api/v1/sampling-rules', { share: 1 })).status).toBe(200);
    const step = { type: 'tool', name: 'pay', input: { card: CARD, text: `with ${CARD}` } };
    const evaluate = () => call('POST', '/api/v1/evaluation', { agent_name: AGENT, stage: 'pre', step });
    const stored = async () => Number((await queryRow(url, 'SELECT COUNT(*) FROM step_samples'))[0]);
    const more = () => Promise.all(Array.from({ length: 60 }, evaluate));
    // Some are written when it ends, others wait.
    await more();
    await until(stored, (rows) => rows > 0);
    for (let at = 0; at < 3; at += 1) await more();
    service.process.kill('SIGKILL');
    await service.ended;
    const [count, broken] = await queryRow(
      url,
      `SELECT COUNT(*), COALESCE(SUM(CASE WHEN content LIKE 'plain:{"step":%' AND masked_values > 0 THEN 0 ELSE 1 END), 0) FROM step_samples`,
    );
    expect(Number(count)).toBeGreaterThan(0);
    expect(Number(broken)).toBe(0);
    if (kind !== 'sqlite') return;
    const file = url.slice('file:'.length);
    for (const name of readdirSync(path.dirname(file)).filter((one) => one.startsWith(path.basename(file)))) {
      expect([name, readFileSync(path.join(path.dirname(file), name)).includes(CARD)]).toEqual([name, false]);
    }
  });
});
