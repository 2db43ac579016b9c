/**
 * Prisma wants one folder per database with the models inside. The models exist once, in `prisma/models/`; this
 * composes both folders under `gen/prisma/schema/` by copying, because links do not survive every checkout.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGE_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The databases the service runs on, by Prisma's names. */
export const PROVIDERS = /** @type {const} */ (['sqlite', 'postgresql']);

/** @typedef {(typeof PROVIDERS)[number]} Provider */

/**
 * The files that make up one schema, in a fixed order.
 * @param {Provider} provider
 * @returns {{ name: string, content: string }[]}
 */
export function schemaFiles(provider) {
  const models = join(PACKAGE_ROOT, 'prisma', 'models');
  const names = readdirSync(models).filter((name) => name.endsWith('.prisma'));
  const files = names.sort().map((name) => ({ name, content: readFileSync(join(models, name), 'utf8') }));
  const datasource = join(PACKAGE_ROOT, 'prisma', provider, 'datasource.prisma');
  return [{ name: 'datasource.prisma', content: readFileSync(datasource, 'utf8') }, ...files];
}

/**
 * Where the versioned migrations of one database are.
 * @param {Provider} provider
 */
export function migrationsFolder(provider) {
  return join(PACKAGE_ROOT, 'prisma', provider, 'migrations');
}

/**
 * Writes the composed schema of one database and returns its folder.
 * @param {Provider} provider
 */
export function composeSchema(provider) {
  const folder = join(PACKAGE_ROOT, 'gen', 'prisma', 'schema', provider);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, content } of schemaFiles(provider)) writeFileSync(join(folder, name), content);
  return folder;
}
