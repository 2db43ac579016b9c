import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../packages/client/src/node.js';
import { assemble, sizeOf } from '../../scripts/assemble.mjs';
import { buildah, buildImage } from '../../scripts/image.mjs';
import { restClient } from '../support/http.js';
import { evaluate, seeder } from '../support/seed.js';
import { compiledTree, type ServiceProcess, spawnCommand, spawnService } from '../support/service-process.js';

const LIMIT_MB = 120;
const AGENT = 'imaged-agent-1';
const ENVIRONMENT = {
  SERVICE_LOG_JSON: 'false',
  DATABASE_URL: 'file:./data/service.db',
  // A busy machine is no matter of this test.
  SERVICE_SHED_EVENT_LOOP_DELAY_MS: '0',
};

/** Building and running need buildah and the rights to mount: without them that part is not run, and says so. */
const canRunImages =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  spawnSync('buildah', ['--version']).status === 0 &&
  spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0;

/** What buildah tells about an image. */
interface ImageFacts {
  readonly OCIv1: {
    readonly config: {
      readonly User: string;
      readonly Env: readonly string[];
      readonly Entrypoint: readonly string[];
      readonly WorkingDir: string;
      readonly StopSignal: string;
      readonly Labels: Readonly<Record<string, string>>;
    };
  };
}

describe('the service with its production packages only', () => {
  let folder: string;
  let assembled: string;
  const running: ServiceProcess[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'image-test-'));
    assembled = path.join(folder, 'service');
    assemble(assembled, path.dirname(path.dirname(compiledTree.main)));
  });
  afterAll(async () => {
    for (const service of running) await service.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  it('is small, and lists its packages', async () => {
    expect(sizeOf(path.join(assembled, 'node_modules'))).toBeLessThan(LIMIT_MB * 1_000_000);
    const { bomFormat, components } = JSON.parse(
      await readFile(path.join(assembled, 'sbom.cdx.json'), 'utf8'),
    ) as { bomFormat: string; components: { name: string }[] };
    expect(bomFormat).toBe('CycloneDX');
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['fastify', '@prisma/client', 'zod']));
    expect(names.filter((name) => /^(?:prisma|typescript|vitest|effect|react)$/.test(name))).toEqual([]);
  });

  it('does the main job over REST and gRPC, serves its pages, and drains', async () => {
    const main = path.join(assembled, 'dist', 'src', 'main.js');
    const service = await spawnService({ ...compiledTree, main }, { environment: ENVIRONMENT });
    running.push(service);
    await mainJob(await service.listening());
    await drains(service, () => service.process.kill('SIGTERM'));
  });

  const name = 'as an image runs as an ordinary user on a read-only root, as process 1';
  if (!canRunImages)
    process.stderr.write(`not run, because buildah is not installed or may not mount: ${name}\n`);
  it.runIf(canRunImages)(name, async () => {
    const tag = `localhost/image-test-${process.pid}`;
    buildImage(tag, assembled);
    const container = buildah('from', tag);
    let child: number | undefined;
    try {
      const { config } = (JSON.parse(buildah('inspect', '--type', 'image', tag)) as ImageFacts).OCIv1;
      expect(config).toMatchObject({ User: '10001:10001', WorkingDir: '/', StopSignal: 'SIGTERM' });
      expect(config.Labels).toMatchObject({
        'org.opencontainers.image.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
        'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}$/),
      });
      const root = buildah('mount', container);
      const data = path.join(folder, 'data');
      await mkdir(data);
      await chown(data, 10_001, 10_001);
      for (const point of ['proc', 'dev']) await mkdir(path.join(root, point), { recursive: true });
      const script = `mount --bind "$ROOT" "$ROOT" && mount --bind "$DATA" "$ROOT/data" &&
        mount -t proc proc "$ROOT/proc" && mount --bind /dev "$ROOT/dev" && mount -o remount,bind,ro "$ROOT" &&
        exec env -i "$@"`;
      const own = { ...ENVIRONMENT, SERVICE_HOST: '127.0.0.1', SERVICE_PORT: '0' };
      const settings = Object.entries(own).map(([name, value]) => `${name}=${value}`);
      // Starts what the image starts, with its environment; there is no shell in it that could.
      const starts = ['/usr/sbin/chroot', `--userspec=${config.User}`, root, ...config.Entrypoint];
      const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private'];
      const service = spawnCommand(
        'unshare',
        [...namespaces, 'sh', '-c', script, 'sh', ...config.Env, ...settings, ...starts],
        { ROOT: root, DATA: data, PATH: process.env.PATH ?? '' },
        await mkdtemp(path.join(tmpdir(), 'image-run-')),
      );
      running.push(service);
      const url = await service.listening();
      const { pid } = service.process;
      child = Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'));
      const status = await readFile(`/proc/${child}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\s+10001\s+10001\s+10001\s+10001$/m);
      expect(status).toMatch(/^NSpid:\s+\d+\s+1$/m);
      expect(await readFile(`/proc/${child}/mounts`, 'utf8')).toMatch(/^\S+ \/ \S+ ro[, ]/m);
      await mainJob(url);
      await drains(service, () => process.kill(child ?? 0, 'SIGTERM'));
      child = undefined;
    } finally {
      // Of another user, so that it does not end with the process that started it.
      if (child !== undefined) process.kill(child, 'SIGKILL');
      buildah('rm', container);
      buildah('rmi', tag);
    }
  });

  async function mainJob(url: string): Promise<void> {
    const call = restClient(url);
    const seed = seeder(call);
    await seed.linked(AGENT, 'no-bad');
    expect((await evaluate(call, AGENT, 'bad')).body.is_safe).toBe(false);
    const client = createClient({ baseUrl: url, agent: AGENT, timeoutMs: 300_000 });
    const step = (text: string) => ({ stage: 'pre', step: { name: 'send_mail', input: { text } } }) as const;
    expect((await client.evaluate(step('bad'))).isSafe).toBe(false);
    expect((await client.evaluate(step('good'))).isSafe).toBe(true);
    client.close();
    for (const page of ['/ui/', '/docs', '/docs/swagger-ui-bundle.js', '/openapi.json', '/metrics']) {
      expect((await fetch(url + page)).status, page).toBe(200);
    }
  }

  /** A request that has begun when the signal comes is answered. */
  async function drains(service: ServiceProcess, stop: () => void): Promise<void> {
    const url = await service.listening();
    const body = JSON.stringify({
      agent_name: AGENT,
      stage: 'pre',
      step: { type: 'llm', name: 'a', input: 'bad' },
    });
    const headers = {
      expect: '100-continue',
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const request = http.request(`${url}/api/v1/evaluation`, { method: 'POST', headers });
    const response = once(request, 'response');
    request.flushHeaders();
    await once(request, 'continue');
    stop();
    await service.output(/finishing running requests/);
    request.end(body);
    const [reply] = (await response) as [http.IncomingMessage];
    expect(reply.statusCode).toBe(200);
    reply.resume();
    expect(await service.ended).toEqual({ code: 0, signal: null });
    expect(service.stdout()).toMatch(/stopped/);
  }
});
