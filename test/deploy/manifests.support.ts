import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';

const ROOT = path.resolve(import.meta.dirname, '../..');
export const DEPLOY = path.join(ROOT, 'deploy');

// biome-ignore lint/suspicious/noExplicitAny: manifests have many shapes, which the compiler checks
export type Manifest = any;

/** The documents of a YAML text; problems of its syntax, such as a repeated member, throw. */
export function parsed(text: string): Manifest[] {
  return parseAllDocuments(text, { strict: true, uniqueKeys: true }).map((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw problem;
    return document.toJS();
  });
}

/** All files of a kind of name below a folder of deploy/. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const file = path.join(folder, name);
    return statSync(file).isDirectory() ? filesBelow(file) : [file];
  });
}

/** `kustomize`, on its own or in kubectl; undefined if neither is installed. */
export const KUSTOMIZE = [
  ['kustomize', 'build'],
  ['kubectl', 'kustomize'],
].find(([command = '', word = '']) => spawnSync(command, [word, '--help']).status === 0);

export function build(overlay: string): Manifest[] {
  const [command = '', word = ''] = KUSTOMIZE ?? [];
  const folder = path.join(DEPLOY, 'kustomize', 'overlays', overlay);
  return parsed(execFileSync(command, [word, folder], { encoding: 'utf8' }));
}

/** Where the types of a resource are, by its apiVersion. */
function moduleOf(apiVersion: string): string {
  const [version = '', group = 'core'] = apiVersion.split('/').reverse();
  return `kubernetes-types/${group.split('.')[0]}/${version}`;
}

/** Resources of Prometheus's operator, as far as they are used here. */
const OPERATOR_TYPES = `
interface Meta { name: string; namespace?: string; labels?: Record<string, string> }
interface ServiceMonitor { apiVersion: 'monitoring.coreos.com/v1'; kind: 'ServiceMonitor'; metadata: Meta;
  spec: { selector: { matchLabels: Record<string, string> };
    endpoints: { port: string; path?: string; interval?: string }[] } }
interface PrometheusRule { apiVersion: 'monitoring.coreos.com/v1'; kind: 'PrometheusRule'; metadata: Meta;
  spec: { groups: { name: string; rules: (
    { alert: string; expr: string; for?: string;
      labels: Record<string, string>; annotations: { summary: string; runbook_url: string } }
    | { record: string; expr: string })[] }[] } }`;

/**
 * What is wrong with manifests by the types made from the OpenAPI documents of Kubernetes: wrong types, missing and
 * unknown members. The compiler refuses unknown members of literals. A patch may lack members.
 */
export function problemsOf(
  manifests: readonly { from: string; manifest: Manifest; isPatch: boolean }[],
): string {
  const lines = manifests.map(({ from, manifest, isPatch }, index) => {
    const type = manifest.apiVersion.startsWith('monitoring.')
      ? manifest.kind
      : `import('${moduleOf(manifest.apiVersion)}').${manifest.kind}`;
    const partial = isPatch ? `Partially<${type}>` : type;
    return `// ${from}\nexport const manifest${index}: ${partial} = ${JSON.stringify(manifest, null, 1)};`;
  });
  const partially =
    'type Partially<T> = T extends readonly (infer E)[] ? Partially<E>[] : T extends object ? { [K in keyof T]?: Partially<T[K]> | null } : T;';
  const folder = mkdtempSync(path.join(ROOT, 'dist', 'manifests-'));
  try {
    writeFileSync(path.join(folder, 'manifests.ts'), [OPERATOR_TYPES, partially, ...lines].join('\n'));
    const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = [
      '--noEmit',
      '--strict',
      '--ignoreConfig',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--types',
      '',
      '--skipLibCheck',
    ];
    const run = spawnSync(process.execPath, [compiler, ...options, path.join(folder, 'manifests.ts')], {
      encoding: 'utf8',
    });
    return run.status === 0 ? '' : run.stdout + run.stderr;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
