import { join } from 'node:path';
import { defineConfig } from 'prisma-cli/config';
import { composeSchema, migrationsFolder, PACKAGE_ROOT } from './scripts/compose-schema.mjs';

/**
 * For the Prisma command line only (`prisma migrate dev` and its kin); the service never reads it.
 * `DATABASE_PROVIDER` chooses the database, `DATABASE_URL` where it is.
 */
const provider = process.env.DATABASE_PROVIDER === 'postgresql' ? 'postgresql' : 'sqlite';

// The engine from npm instead of a binary that would have to be downloaded.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= join(PACKAGE_ROOT, 'scripts', 'schema-engine.mjs');

export default defineConfig({
  schema: composeSchema(provider),
  migrations: { path: migrationsFolder(provider) },
  datasource: {
    url:
      process.env.DATABASE_URL ??
      (provider === 'sqlite' ? 'file:./data/development.db' : 'postgresql://localhost:5432/development'),
  },
});
