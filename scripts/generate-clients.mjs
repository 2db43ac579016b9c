/**
 * Generates the Prisma clients of both databases into `gen/prisma/`. With `--if-missing` it does nothing when they
 * are already there and were made from the present models.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { composeSchema, PACKAGE_ROOT, PROVIDERS, schemaFiles } from './compose-schema.mjs';

const require = createRequire(import.meta.url);
const prismaPackageFile = require.resolve('prisma/package.json');
const prismaPackage = JSON.parse(readFileSync(prismaPackageFile, 'utf8'));

/** @param {import('./compose-schema.mjs').Provider} provider */
function fingerprint(provider) {
  const hash = createHash('sha256').update(prismaPackage.version);
  for (const { name, content } of schemaFiles(provider)) hash.update(`\0${name}\0${content}`);
  return hash.digest('hex');
}

/** @param {import('./compose-schema.mjs').Provider} provider */
function fingerprintFile(provider) {
  return join(PACKAGE_ROOT, 'gen', 'prisma', provider, 'fingerprint');
}

/** @param {import('./compose-schema.mjs').Provider} provider */
function isCurrent(provider) {
  const file = fingerprintFile(provider);
  return existsSync(file) && readFileSync(file, 'utf8') === fingerprint(provider);
}

/** @param {import('./compose-schema.mjs').Provider} provider */
function generate(provider) {
  const cli = join(dirname(prismaPackageFile), prismaPackage.bin.prisma);
  const run = spawnSync(
    process.execPath,
    [cli, 'generate', `--schema=${composeSchema(provider)}`, '--no-hints'],
    {
      cwd: PACKAGE_ROOT,
      encoding: 'utf8',
      env: {
        ...process.env,
        // Generating needs no engine, but the command looks for one first and would try to download it.
        PRISMA_SCHEMA_ENGINE_BINARY: join(PACKAGE_ROOT, 'scripts', 'schema-engine.mjs'),
        PRISMA_HIDE_UPDATE_MESSAGE: '1',
        CHECKPOINT_DISABLE: '1',
      },
    },
  );
  if (run.status !== 0 || !existsSync(join(PACKAGE_ROOT, 'gen', 'prisma', provider, 'client.ts'))) {
    process.stderr.write(`${run.stdout ?? ''}${run.stderr ?? ''}${run.error ?? ''}\n`);
    throw new Error(`generating the Prisma client for ${provider} failed`);
  }
  writeFileSync(fingerprintFile(provider), fingerprint(provider));
}

const ifMissing = process.argv.includes('--if-missing');
for (const provider of PROVIDERS) {
  if (!(ifMissing && isCurrent(provider))) generate(provider);
}
