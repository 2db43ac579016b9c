/**
 * Builds an image with no other base than the Node.js that runs this script and the libraries it needs: no shell, no
 * package manager, no registry. Labels, user and command are those of the last stage of the Containerfile. Linux with
 * buildah only; elsewhere: docker build -f Containerfile .
 *
 * Usage: npm run build && node scripts/image.mjs [--tag NAME] [--archive FILE.tar]
 * `--archive` also writes it as an OCI archive, for `podman load -i` or `skopeo copy oci-archive:FILE.tar …`.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { assemble, sizeOf } from './assemble.mjs';
import { PACKAGE_ROOT } from './compose-schema.mjs';

/** Work without privileges, an overlay file system or namespaces. */
const BUILDAH = ['--storage-driver', 'vfs'];
const UNPRIVILEGED = ['--isolation', 'chroot'];

/** Runs a command and returns what it prints. */
export function run(command, words) {
  const { status, stdout, stderr, error } = spawnSync(command, words, { encoding: 'utf8' });
  if (status === 0) return stdout.trim();
  throw new Error(`${command} ${words.join(' ')} failed:\n${stdout ?? ''}${stderr ?? ''}${error ?? ''}`);
}

export const buildah = (...words) => run('buildah', [...BUILDAH, ...words]);

/** The files that the dynamic linker loads for a program, and the linker. */
function librariesOf(path) {
  const lines = run('ldd', [path]).split('\n');
  return lines.flatMap((line) => /(?:=>\s*|^\s*)(\/\S+)\s+\(/.exec(line)?.[1] ?? []);
}

/** Native parts of packages. */
function addonsBelow(folder) {
  const names = readdirSync(folder, { recursive: true }).map(String);
  return names.filter((name) => name.endsWith('.node')).map((name) => join(folder, name));
}

/** Puts Node.js, its libraries, and what they read of /etc into a folder that becomes the root of the image. */
function fillRoot(root, service) {
  const put = (path, target = path) => {
    mkdirSync(dirname(join(root, target)), { recursive: true });
    cpSync(realpathSync(path), join(root, target));
  };
  put(process.execPath, '/usr/local/bin/node');
  const programs = [process.execPath, ...addonsBelow(service)];
  for (const library of new Set(programs.flatMap(librariesOf))) put(library);
  mkdirSync(join(root, 'etc'));
  writeFileSync(join(root, 'etc', 'passwd'), 'root:x:0:0::/:/none\nservice:x:10001:10001::/data:/none\n');
  writeFileSync(join(root, 'etc', 'group'), 'root:x:0:\nservice:x:10001:\n');
  writeFileSync(join(root, 'etc', 'nsswitch.conf'), 'hosts: files dns\n');
  mkdirSync(join(root, 'tmp'), { mode: 0o1777 });
}

/** The last stage of the Containerfile, on top of the folder `root` instead of an image. */
function containerfile() {
  const [, last] = readFileSync(join(PACKAGE_ROOT, 'Containerfile'), 'utf8').split(
    /^FROM \$\{RUNTIME_IMAGE\}\n/m,
  );
  if (last === undefined) throw new Error('the Containerfile has no last stage of its own base');
  return `FROM scratch\nCOPY root/ /\nENV PATH=/usr/local/bin\n${last.replaceAll('--from=build ', '')}`;
}

/** Builds the image from an assembled service, and returns the sizes of its parts, in bytes. */
export function buildImage(tag, assembled) {
  const context = mkdtempSync(join(tmpdir(), 'image-'));
  try {
    const service = join(context, 'image', 'service');
    cpSync(assembled, service, { recursive: true, verbatimSymlinks: true });
    mkdirSync(join(context, 'image', 'owned', 'data'), { recursive: true });
    fillRoot(join(context, 'root'), service);
    writeFileSync(join(context, 'Containerfile'), containerfile());
    const { version } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'));
    const revision =
      spawnSync('git', ['rev-parse', 'HEAD'], { cwd: PACKAGE_ROOT, encoding: 'utf8' }).stdout ?? '';
    const facts = { VERSION: version, REVISION: revision.trim(), CREATED: new Date().toISOString() };
    const words = Object.entries(facts).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
    buildah(
      'build',
      ...UNPRIVILEGED,
      '--format',
      'oci',
      ...words,
      '-t',
      tag,
      '-f',
      join(context, 'Containerfile'),
      context,
    );
    return { service: sizeOf(service), base: sizeOf(join(context, 'root')) };
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({ options: { tag: { type: 'string' }, archive: { type: 'string' } } });
  const tag = values.tag ?? 'localhost/control-enforcement-service';
  const folder = mkdtempSync(join(tmpdir(), 'service-'));
  assemble(folder);
  const { service, base } = buildImage(tag, folder);
  rmSync(folder, { recursive: true, force: true });
  const mb = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
  process.stdout.write(`${tag}: service ${mb(service)}, Node.js and its libraries ${mb(base)}\n`);
  // Another storage driver than the default one: other commands do not see the image without this option.
  process.stdout.write(
    `it is in the store of buildah ${BUILDAH.join(' ')}: buildah ${BUILDAH.join(' ')} images\n`,
  );
  if (values.archive === undefined) {
    const archive = 'npm run image -- --archive service.tar';
    process.stdout.write(`for podman, docker or a registry, write an archive: ${archive}\n`);
  } else {
    buildah('push', tag, `oci-archive:${values.archive}`);
    const name = 'control-enforcement-service';
    process.stdout.write(
      `run it: podman load -i ${values.archive} && podman run --read-only -v service-data:/data -p 8000:8000 ${tag}\n` +
        `push it: skopeo copy oci-archive:${values.archive} docker://REGISTRY/${name}:VERSION\n`,
    );
  }
}
