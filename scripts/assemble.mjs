/**
 * Puts together a folder that has everything to run the built service, and nothing else: compiled code, migrations,
 * the dashboard, production packages without what never runs, and a list of those packages (`sbom.cdx.json`, CycloneDX).
 * Usage: npm run build && node scripts/assemble.mjs FOLDER
 *
 * The image is made of it; it also runs by itself: node FOLDER/dist/src/main.js
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PACKAGE_ROOT } from './compose-schema.mjs';

/** Files and folders of the repository that the running service reads. */
const CONTENTS = [
  'package.json',
  'package-lock.json',
  'LICENSE',
  'docs/openapi.json',
  'packs',
  'prisma/sqlite/migrations',
  'prisma/postgresql/migrations',
  'packages/dashboard/dist',
  'packages/evaluator-onnx/dist',
  'packages/evaluator-vendor-model/dist',
];
/** For compilers and debuggers only. */
const UNUSED_FILE = /\.(?:d\.[cm]?ts|map|tsbuildinfo|flow)$|\.LICENSE\.txt\.gz$/;

/** Query compilers of other databases, and forms of the used ones that the generated clients do not load. */
const PRISMA_RUNTIME = join('node_modules', '@prisma', 'client', 'runtime');
const UNUSED_COMPILER =
  /^(?:query_compiler_(?!fast_bg\.(?:sqlite|postgresql)\.(?:wasm-base64\.)?mjs$)|wasm-compiler-edge)/;

/** Only @prisma/client names it, as an optional peer; npm then keeps the one that the build uses. */
const UNUSED_PACKAGES = ['typescript', '@typescript'];

/** Forms of the packages of OpenTelemetry that Node.js does not load. */
const UNUSED_FORMS = ['esm', 'esnext'];

/** Parts of the page at /docs that it does not load. */
const UNUSED_VIEWER = /^swagger-ui(?:-es-bundle(?:-core)?)?\.js$/;

/** @returns {string[]} the paths of all files below a folder, without following links */
function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** What of the compiled code is the service; tests compile into folders beside it. */
const COMPILED = ['src', 'gen', 'packages'];

function copyContents(folder, compiled) {
  const copy = (source, name) => {
    if (!existsSync(source)) throw new Error(`${source} does not exist: run npm run build`);
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(source, join(folder, name), { recursive: true, filter: (path) => !UNUSED_FILE.test(path) });
  };
  for (const name of CONTENTS) copy(join(PACKAGE_ROOT, name), name);
  for (const name of COMPILED) copy(join(compiled, name), join('dist', name));
  // npm compares the lock file with the manifests of all packages of the repository.
  for (const { name } of readdirSync(join(PACKAGE_ROOT, 'packages'), { withFileTypes: true })) {
    mkdirSync(join(folder, 'packages', name), { recursive: true });
    cpSync(join(PACKAGE_ROOT, manifestOf(name)), join(folder, manifestOf(name)));
  }
}

function npm(folder, ...words) {
  const run = spawnSync('npm', words, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  if (run.status === 0) return run.stdout;
  throw new Error(`npm ${words.join(' ')} failed:\n${run.stdout ?? ''}${run.stderr ?? ''}${run.error ?? ''}`);
}

/** The builds of libsql for the C library of another system cannot be loaded here. */
function unusedLibsql() {
  if (process.platform !== 'linux') return /^$/;
  const { header } = /** @type {any} */ (process.report.getReport());
  return header.glibcVersionRuntime === undefined ? /-gnu/ : /-musl/;
}

function prune(folder) {
  const modules = join(folder, 'node_modules');
  for (const name of UNUSED_PACKAGES) rmSync(join(modules, name), { recursive: true, force: true });
  const runtime = join(folder, PRISMA_RUNTIME);
  for (const name of readdirSync(runtime)) if (UNUSED_COMPILER.test(name)) rmSync(join(runtime, name));
  const viewer = join(modules, 'swagger-ui-dist');
  for (const name of readdirSync(viewer)) if (UNUSED_VIEWER.test(name)) rmSync(join(viewer, name));
  const other = unusedLibsql();
  for (const name of readdirSync(join(modules, '@libsql'))) {
    if (other.test(name)) rmSync(join(modules, '@libsql', name), { recursive: true });
  }
  const telemetry = join(modules, '@opentelemetry');
  for (const name of readdirSync(telemetry)) {
    for (const form of UNUSED_FORMS) {
      rmSync(join(telemetry, name, 'build', form), { recursive: true, force: true });
    }
  }
  for (const path of filesBelow(modules)) if (UNUSED_FILE.test(path)) rmSync(path);
  for (const name of ['.package-lock.json', '.bin']) {
    rmSync(join(modules, name), { recursive: true, force: true });
  }
}

/** Manifests as they are in production; otherwise npm misses the packages of the build. */
function stripManifests(folder) {
  const manifests = ['package.json', ...readdirSync(join(folder, 'packages')).map(manifestOf)];
  for (const path of manifests.map((name) => join(folder, name))) {
    const { devDependencies, scripts, allowScripts, ...manifest } = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  }
  rmSync(join(folder, 'package-lock.json'));
}

const manifestOf = (name) => join('packages', name, 'package.json');

/** Bytes of all files below a folder. */
export function sizeOf(folder) {
  return filesBelow(folder).reduce((sum, path) => sum + lstatSync(path).size, 0);
}

/** Fills a folder, which must not exist or be empty. `compiled` is the folder with the compiled code. */
export function assemble(folder, compiled = join(PACKAGE_ROOT, 'dist')) {
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  copyContents(folder, compiled);
  npm(folder, 'ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund');
  prune(folder);
  stripManifests(folder);
  const sbom = npm(folder, 'sbom', '--sbom-format=cyclonedx', '--sbom-type=application');
  writeFileSync(join(folder, 'sbom.cdx.json'), sbom);
}

if (import.meta.filename === process.argv[1]) {
  const [given] = process.argv.slice(2);
  if (given === undefined) throw new Error('give the folder to fill, for example: /tmp/service');
  const folder = resolve(given);
  assemble(folder);
  const mb = (path) => `${(sizeOf(path) / 1e6).toFixed(1)} MB`;
  const { components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8'));
  process.stdout.write(
    `${folder}: ${mb(folder)}, of which packages ${mb(join(folder, 'node_modules'))} (${components.length} packages)\n`,
  );
}
