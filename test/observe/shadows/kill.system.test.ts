import { expect, it, onTestFinished } from 'vitest';
import { describeOnEachDatabase } from '../../support/databases.js';
import { type RestClient, restClient } from '../../support/http.js';
import { denyWord, evaluate, seeder } from '../../support/seed.js';
import { compiled, type ServiceProcess, spawnService } from '../../support/service-process.js';
import { queryRow } from '../../support/sql.js';
import { until } from '../../support/until.js';

const AGENT = 'killed-bot-0001';
/** Of a shadow, the latest differences. */
const KEPT = 20;
/** Lives of the service: each ends in the middle of evaluations. */
const KILLS = 3;

describeOnEachDatabase('shadows of a process that is killed', (freshDatabaseUrl) => {
  it('have decided no verdict, and as many differences as they count', async () => {
    const url = await freshDatabaseUrl();
    let service: ServiceProcess | undefined;
    onTestFinished(() => service?.dispose());
    const started = async () => {
      await service?.dispose();
      service = await spawnService(compiled, { environment: { DATABASE_URL: url } });
      return { service, call: restClient(await service.listening()) };
    };
    const wrong: string[] = [];
    const judged = async (call: RestClient, text: string, isSafe: boolean) => {
      const { status, body } = await evaluate(call, AGENT, text);
      if (status !== 200 || body.is_safe !== isSafe) wrong.push(`${text}: ${status} ${body.outcome}`);
    };
    /** Counted steps and differences, and differences that are kept, as one statement sees them. */
    const stored = async () => {
      const row = await queryRow(
        url,
        `SELECT s.both_matched, s.neither_matched, s.only_live_matched + s.only_shadow_matched,
           (SELECT COUNT(*) FROM shadow_differences d WHERE d.shadow_id = s.id) FROM control_shadows s`,
      );
      const [both = 0, neither = 0, differing = 0, kept = 0] = row.map(Number);
      return { both, neither, differing, kept };
    };

    const first = await started();
    let { call } = first;
    const id = await seeder(call).linked(AGENT, 'live', denyWord('bad'));
    const set = await call('PUT', `/api/v1/controls/${id}/shadow`, { data: denyWord('bad|worse') });
    expect(set.status).toBe(200);
    for (let life = 0; life < KILLS; life += 1) {
      const before = await stored();
      const killed = service?.process;
      let isOver = false;
      // One in nine differs, so that most counts are written with few differences.
      const work = Array.from({ length: 3 }, async (_, lane) => {
        try {
          for (let at = lane; ; at += 1) {
            await judged(
              call,
              ['fine', 'bad', 'worse'][at % 9 === 0 ? 2 : at % 2] ?? '',
              at % 9 === 0 || at % 2 === 0,
            );
          }
        } catch (error) {
          // Its connection was cut.
          if (!isOver) throw error;
        }
      });
      await until(stored, ({ neither }) => neither > before.neither);
      isOver = true;
      killed?.kill('SIGKILL');
      await Promise.all(work);
      await service?.ended;
      const left = await stored();
      expect(left.kept).toBe(Math.min(KEPT, left.differing));
      ({ call } = await started());
      const { shadow } = (await call('GET', `/api/v1/controls/${id}/shadow`)).body;
      expect([shadow.both_matched, shadow.neither_matched, shadow.only_live_matched]).toEqual([
        left.both,
        left.neither,
        0,
      ]);
      expect([shadow.only_shadow_matched, shadow.differences.length]).toEqual([left.differing, left.kept]);
    }
    expect(wrong).toEqual([]);
  });
});
