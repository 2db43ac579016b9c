import { startService, type TestService } from '../support/service.js';

export const READER_KEY = 'reader-key-1';
export const ADMIN_KEY = 'admin-key-1';
/** An origin of the web console that is listed, so that it may send cookies. */
export const CONSOLE_ORIGIN = 'http://console.example';

/** Starts the service the way it is deployed: keys of both kinds, a console on another origin. */
export function startDeployed(databaseUrl: string): Promise<TestService> {
  return startService({
    DATABASE_URL: databaseUrl,
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: READER_KEY,
    SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
    SERVICE_SESSION_SECRET: 'a secret that only this test knows, 32 bytes',
    SERVICE_CORS_ORIGINS: CONSOLE_ORIGIN,
  });
}

/** A template with one parameter. */
export const WORDS_TEMPLATE = {
  description: 'stops words',
  parameters: { words: { type: 'string_list', label: 'Words' } },
  definition_template: {
    execution: 'server',
    condition: {
      selector: { path: 'input' },
      evaluator: { name: 'list', config: { values: { $param: 'words' }, match_mode: 'contains' } },
    },
    action: { decision: 'deny' },
  },
};
