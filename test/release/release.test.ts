import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { setVersion } from '../../scripts/release-version.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Its version is that of the model's interface. */
const OWN_VERSION = 'evaluator-vendor-model';
const PYTHON = 'clients/python/pyproject.toml';
const OVERLAYS = ['sqlite', 'postgresql'].map(
  (name) => `deploy/kustomize/overlays/${name}/kustomization.yaml`,
);

const json = async (root: string, name: string) => JSON.parse(await readFile(path.join(root, name), 'utf8'));

/** Every place that names the version and is not generated. */
async function versions(root: string): Promise<Record<string, string>> {
  const lock = await json(root, 'package-lock.json');
  const found: Record<string, string> = {
    'package.json': (await json(root, 'package.json')).version,
    'package-lock.json': lock.version,
    'package-lock.json, root': lock.packages[''].version,
  };
  for (const name of await readdir(path.join(root, 'packages'))) {
    if (name === OWN_VERSION) continue;
    const { version, peerDependencies = {} } = await json(root, `packages/${name}/package.json`);
    const locked = lock.packages[`packages/${name}`];
    found[name] = version;
    found[`${name}, locked`] = locked.version;
    const client = '@control-enforcement/client';
    if (peerDependencies[client] === undefined) continue;
    found[`the client of ${name}`] = peerDependencies[client].slice(1);
    found[`the client of ${name}, locked`] = locked.peerDependencies[client].slice(1);
  }
  for (const overlay of OVERLAYS) {
    found[overlay] = parse(await readFile(path.join(root, overlay), 'utf8')).images[0].newTag;
  }
  found[PYTHON] = /^version = "(.*)"$/m.exec(await readFile(path.join(root, PYTHON), 'utf8'))?.[1] ?? '';
  const changelog = await readFile(path.join(root, 'CHANGELOG.md'), 'utf8');
  found['CHANGELOG.md'] = /^## \[(\d\S*)\]/m.exec(changelog)?.[1] ?? '';
  return found;
}

const distinct = (found: Record<string, string>) => [...new Set(Object.values(found))];

describe('The version', () => {
  it('is the same wherever it is named, also in generated files', async () => {
    const { version } = await json(ROOT, 'package.json');
    const found = await versions(ROOT);
    found['docs/openapi.json'] = (await json(ROOT, 'docs/openapi.json')).info.version;
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, version])));
  });

  it('of the last release is the one whose migrations and proto later changes are compared with', async () => {
    const { version } = await json(ROOT, 'prisma/landed.json');
    const changelog = await readFile(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
    expect(changelog).toContain(`\n## [${version}] - `);
  });
});

describe('A release', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'release-'));
    const packages = await readdir(path.join(ROOT, 'packages'));
    const names = ['package.json', 'package-lock.json', 'CHANGELOG.md', PYTHON, ...OVERLAYS];
    for (const name of [...names, ...packages.map((each) => `packages/${each}/package.json`)]) {
      await mkdir(path.dirname(path.join(root, name)), { recursive: true });
      await cp(path.join(ROOT, name), path.join(root, name));
    }
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('has its version everywhere; what was unreleased is its part of the changelog', async () => {
    setVersion(root, '99.0.0', '2031-02-03');
    expect(distinct(await versions(root))).toEqual(['99.0.0']);
    const own = `packages/${OWN_VERSION}/package.json`;
    expect(await json(root, own)).toEqual(await json(ROOT, own));
    const changelog = await readFile(path.join(root, 'CHANGELOG.md'), 'utf8');
    const unreleased = /^## \[Unreleased\]\n([\s\S]*?)^## /m;
    const before = await readFile(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
    expect(unreleased.exec(changelog)?.[1]?.trim()).toBe('');
    expect(/^## \[99\.0\.0\] - 2031-02-03\n([\s\S]*?)^## /m.exec(changelog)?.[1]).toBe(
      unreleased.exec(before)?.[1],
    );
  });

  it.each(['7', '0.0.1', 'v99.0.0', ''])(
    'is refused with the version %j, and nothing is changed',
    async (version) => {
      const before = await versions(root);
      expect(() => setVersion(root, version, '2031-02-03')).toThrow(/is no version|is not later than/);
      expect(await versions(root)).toEqual(before);
    },
  );
});

describe('The workflow', () => {
  it('runs what a change must pass, on the supported lines of Node.js, with the right to read only', async () => {
    const workflow = parse(await readFile(path.join(ROOT, '.github/workflows/ci.yml'), 'utf8'));
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const { steps, strategy } = workflow.jobs.checks;
    const { engines } = await json(ROOT, 'package.json');
    expect(strategy.matrix.node[0]).toBe(engines.node.replace('>=', ''));
    const lines = strategy.matrix.node.map((line: string) => line.split('.')[0]);
    const script = await readFile(path.join(ROOT, 'scripts/verify-node.mjs'), 'utf8');
    for (const line of lines) expect(script).toMatch(new RegExp(`\\b${line}\\b`));
    expect(steps.map(({ run }: { run?: string }) => run)).toContain('.ci/run');
    for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/@v\d+\.\d+\.\d+$/);
  });
});
