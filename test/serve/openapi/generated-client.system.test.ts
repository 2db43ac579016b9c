import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnSqlite } from '../../support/databases.js';
import { readOpenApi } from '../../support/openapi-document.js';
import { suiteService } from '../../support/service-suite.js';
import { type ClientPrograms, compileClientPrograms } from './client-program.js';

const KEY = 'admin-key';

/** Programs are checked by their own compiler run; here only their results are looked at. */
type Program = (baseUrl: string, apiKey: string) => Promise<Record<string, unknown>>;

describeOnSqlite(
  'a TypeScript client that is generated from the document and compiled in strict mode',
  (freshDatabaseUrl) => {
    let programs: ClientPrograms<Program>;
    const service = suiteService(async () => ({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_ADMIN_API_KEYS: KEY,
    }));
    beforeAll(async () => {
      programs = await compileClientPrograms(await readOpenApi(service.url), ['session', 'events']);
    });
    afterAll(() => programs.remove());

    it('goes the whole way from registration to deletion', async () => {
      const result = await programs.run.session?.(service.url, KEY);
      const { controlId, policyId } = result ?? {};
      expect(result).toMatchObject({
        registered: { created: true, controls: [], overwrite_applied: false },
        verdict: {
          is_safe: false,
          matches: [
            { control_id: controlId, action: 'deny', steering_context: { message: 'no card numbers' } },
          ],
          errors: [],
          non_matches: [],
        },
        pages: [['second'], ['no-cards']],
        patched: { success: true, name: 'no-card-numbers', enabled: false },
        definition: { enabled: false, tags: ['pii'], action: { decision: 'deny' } },
        full: { id: controlId, data: { description: null, scope: { stages: null } } },
        safeNow: { is_safe: true, matches: [] },
        effective: [controlId],
        policies: [policyId],
        rendered: { enabled: true, template_values: { words: ['alpha'] } },
        refused: [409, 'CONTROL_IN_USE'],
        invalid: ['name too_short'],
        deleted: { success: true, dissociated_from_agents: ['generated-client-bot'] },
        gone: 'CONTROL_NOT_FOUND',
        evaluators: expect.arrayContaining(['regex', 'list', 'json']),
        config: { requires_api_key: true, auth_mode: 'api-key' },
      });
    });

    it('reports events, finds them and counts them', async () => {
      expect(await programs.run.events?.(service.url, KEY)).toEqual({
        stored: { received: 1, enqueued: 1, dropped: 0, status: 'queued' },
        found: [['00000000-0000-4000-8000-000000000001', 'in-the-client']],
        total: 1,
        matches: 1,
      });
    });
  },
);
