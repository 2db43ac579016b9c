/**
 * Generates the Prisma clients of both databases into `gen/prisma/`. With `--if-missing` it does nothing when they
 * are already there and were made from the present models, and nothing in a production install, which has no Prisma
 * command line: there the clients are part of the build.
 *
 * The command line is installed under the name `prisma-cli`. Under its own name npm would take it for the optional peer
 * of @prisma/client, and install it with all it needs (300 MB) in production too.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { composeSchema, PACKAGE_ROOT, PROVIDERS, schemaFiles } from './compose-schema.mjs';

const require = createRequire(import.meta.url);
const ifMissing = process.argv.includes('--if-missing');
const prismaPackageFile = commandLinePackage();
if (prismaPackageFile === null) process.exit(0);
const prismaPackage = JSON.parse(readFileSync(prismaPackageFile, 'utf8'));

/** Null in a production install, for which a missing package is no mistake. */
function commandLinePackage() {
  try {
    return require.resolve('prisma-cli/package.json');
  } catch (error) {
    if (ifMissing && error.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

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

for (const provider of PROVIDERS) {
  if (!(ifMissing && isCurrent(provider))) generate(provider);
}
