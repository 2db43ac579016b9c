/**
 * Gives the next release its version, which is that of package.json, wherever else it is named: the packages, the lock
 * file, the manifests of deploy/, the changelog. Generated files then follow by `npm run generate`, which this runs.
 * Usage: npm run release:version 7.8.0
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from './compose-schema.mjs';

const CLIENT = '@control-enforcement/client';
const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

function edit(root, name, change) {
  const file = join(root, name);
  const before = readFileSync(file, 'utf8');
  const after = change(before);
  if (after === before) throw new Error(`${name} does not name the version`);
  writeFileSync(file, after);
}

/** Whether one version is later than another. */
function isLater(one, other) {
  const [, ...ones] = VERSION.exec(one) ?? [];
  const [, ...others] = VERSION.exec(other) ?? [];
  const at = ones.findIndex((part, index) => part !== others[index]);
  return at >= 0 && Number(ones[at]) > Number(others[at]);
}

/** Changes every file that is not generated. `date` is that of the release, as in 2026-11-23. */
export function setVersion(root, version, date) {
  const present = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
  if (!VERSION.test(version)) throw new Error(`${version} is no version, such as 7.8.0`);
  if (!isLater(version, present)) throw new Error(`${version} is not later than ${present}`);
  const packages = readdirSync(join(root, 'packages'))
    .map((name) => `packages/${name}`)
    // A package with a version of its own keeps it.
    .filter(
      (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')).version === present,
    );
  for (const folder of ['.', ...packages]) {
    edit(root, join(folder, 'package.json'), (text) =>
      text
        .replace(`"version": "${present}"`, `"version": "${version}"`)
        // The adapters of frameworks need the client that they were packed with, or a later one.
        .replace(`"${CLIENT}": "^${present}"`, `"${CLIENT}": "^${version}"`),
    );
  }
  edit(root, 'package-lock.json', (text) => {
    const lock = JSON.parse(text);
    lock.version = version;
    for (const name of ['', ...packages]) {
      lock.packages[name].version = version;
      const { peerDependencies = {} } = lock.packages[name];
      if (peerDependencies[CLIENT] !== undefined) peerDependencies[CLIENT] = `^${version}`;
    }
    return `${JSON.stringify(lock, null, 2)}\n`;
  });
  for (const overlay of ['sqlite', 'postgresql']) {
    edit(root, `deploy/kustomize/overlays/${overlay}/kustomization.yaml`, (text) =>
      text.replace(`newTag: ${present}`, `newTag: ${version}`),
    );
  }
  edit(root, 'clients/python/pyproject.toml', (text) =>
    text.replace(`version = "${present}"`, `version = "${version}"`),
  );
  edit(root, 'CHANGELOG.md', (text) =>
    text.replace(/^## \[Unreleased\]\n/m, `## [Unreleased]\n\n## [${version}] - ${date}\n`),
  );
}

if (import.meta.filename === process.argv[1]) {
  const [version = ''] = process.argv.slice(2);
  setVersion(PACKAGE_ROOT, version, new Date().toISOString().slice(0, 10));
  const shell = process.platform === 'win32';
  const run = spawnSync('npm', ['run', 'generate'], { cwd: PACKAGE_ROOT, stdio: 'inherit', shell });
  if (run.status !== 0) throw new Error('the generated files could not be renewed: npm run generate');
  process.stdout.write(`version ${version}; after the release: npm run landed\n`);
}
