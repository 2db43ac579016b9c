import { createDatabaseTemplates } from './database-templates.js';

/** Makes the templates of the databases of the test run, on the server that an earlier setup has started if there is one. */
export default function setup(): Promise<() => Promise<void>> {
  return createDatabaseTemplates(process.env.TEST_DATABASE_URL);
}
