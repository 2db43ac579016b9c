import { createDatabaseTemplates } from './database-templates.js';

/** Makes the templates of the databases of the test run, on the server that an earlier setup has started. */
export default async function setup(): Promise<() => Promise<void>> {
  const serverUrl = process.env.TEST_DATABASE_URL;
  if (serverUrl === undefined) throw new Error('postgres-global-setup.ts comes first');
  return createDatabaseTemplates(serverUrl);
}
