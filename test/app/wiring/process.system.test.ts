import { writeFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SETTINGS } from '../../../src/contract/config/settings.js';
import { VERSION } from '../../../src/contract/runtime/package-root.js';
import { openedInSuite, openedInTest } from '../../support/opened.js';
import {
  compiled,
  type ServiceProcess,
  type SpawnOptions,
  spawnService,
} from '../../support/service-process.js';

const NO_CERTIFICATE = /SERVICE_TLS_CERT_FILE: the file \/nowhere\/cert\.pem cannot be read \(ENOENT/;
const AUTH_OFF = /API keys are off/g;

describe('the process', () => {
  const processes = openedInTest<ServiceProcess>((one) => one.dispose());

  async function run(options: SpawnOptions = {}): Promise<ServiceProcess> {
    const one = await spawnService(compiled, options);
    processes.push(one);
    return one;
  }
  const shared = openedInSuite<ServiceProcess>((one) => one.dispose());
  const started = new Map<Record<string, string>, Promise<ServiceProcess>>();

  /** A service that listens, for all tests that only look at one with the same settings. */
  function sharedService(environment: Record<string, string>): Promise<ServiceProcess> {
    const known = started.get(environment);
    if (known !== undefined) return known;
    const starting = spawnService(compiled, { environment }).then(async (one) => {
      shared.push(one);
      await one.listening();
      return one;
    });
    started.set(environment, starting);
    return starting;
  }
  /** Nothing that is worth a warning. */
  const CAREFUL = {
    SERVICE_API_KEY_ENABLED: 'true',
    SERVICE_API_KEYS: 'a-key-of-16-char',
    SERVICE_SESSION_SECRET: 'x'.repeat(32),
  };
  const DEFAULTS = {};

  async function fails(environment: Record<string, string>) {
    const prepare = (directory: string) =>
      writeFile(path.join(directory, 'notes.txt'), 'no database\n'.repeat(100));
    const service = await run({ environment, prepare });
    return { ...(await service.ended), stdout: service.stdout(), stderr: service.stderr(), service };
  }

  it('explains itself with --help and names every variable', async () => {
    const help = await run({ arguments: ['--help'] });
    expect(await help.ended).toEqual({ code: 0, signal: null });
    for (const { names } of SETTINGS) for (const name of names) expect(help.stdout()).toContain(name);
    expect(help.stderr()).toBe('');
  });
  it('prints its version with --version', async () => {
    const version = await run({ arguments: ['--version'] });
    expect(await version.ended).toEqual({ code: 0, signal: null });
    expect(version.stdout().trim()).toBe(VERSION);
  });
  it('refuses an unknown argument', async () => {
    const unknown = await run({ arguments: ['--prot=1'] });
    expect(await unknown.ended).toEqual({ code: 2, signal: null });
    expect(unknown.stderr()).toBe('Unknown argument --prot=1; see --help.\n');
  });

  it('starts without any configuration, on a SQLite file below its working directory', async () => {
    const service = await sharedService(DEFAULTS);
    const reply = await fetch(`${await service.listening()}/ready`);
    expect(reply.status).toBe(200);
    await expect(
      writeFile(path.join(service.directory, 'data', 'service.db'), '', { flag: 'wx' }),
    ).rejects.toThrow('EEXIST');
    expect(service.stderr()).toBe('');
  });
  it('reads .env, against which the environment wins', async () => {
    const service = await run({
      environment: { SERVICE_LOG_JSON: 'true' },
      prepare: (directory) =>
        writeFile(
          path.join(directory, '.env'),
          'SERVICE_API_KEY_ENABLED=true\nSERVICE_API_KEYS=from-file\nSERVICE_LOG_JSON=false\nSERVICE_QUOTA=1\n',
        ),
    });
    const url = await service.listening();
    const status = async (key: string) =>
      (await fetch(`${url}/api/v1/agents`, { headers: { 'x-api-key': key } })).status;
    expect([await status('from-file'), await status('other')]).toEqual([200, 401]);
    const [line = ''] = /.*SERVICE_QUOTA is not a variable.*/.exec(service.stdout()) ?? [];
    expect(JSON.parse(line)).toMatchObject({ level: 40 });
  });

  it('warns once when anyone may do everything, and not when keys are demanded', async () => {
    const open = await sharedService(DEFAULTS);
    expect(open.stdout().match(AUTH_OFF)).toHaveLength(1);
    expect(open.stdout()).not.toMatch(/have no effect/);
    const closed = await sharedService(CAREFUL);
    expect(closed.stdout().match(AUTH_OFF)).toBeNull();
    expect(closed.stdout()).not.toMatch(/WARN: (?!created a new, empty database)/);
  });

  it('logs where its database and its documentation are', async () => {
    const service = await sharedService(DEFAULTS);
    const url = await service.listening();
    const [line = ''] = /.*ready for REST.*/.exec(service.stdout()) ?? [];
    expect(line).toContain(`"docs":"${new URL('/docs', url).href}"`);
    expect(line).toMatch(/"database":"[^"]+\.db"/);
  });

  it('warns louder when others can reach a service without keys', async () => {
    const local = await run({ environment: { SERVICE_HOST: 'localhost' } });
    // Warnings come first; these processes need not go on.
    await local.output(/WARN.*every program on this machine may do everything/);
    const open = await run({ environment: { SERVICE_HOST: '0.0.0.0' } });
    await open.output(/WARN.*listens on 0\.0\.0\.0: anyone who reaches this port may do everything/);
  });

  it('warns when the secret of the sessions is short', async () => {
    const warning = /SERVICE_SESSION_SECRET is short/;
    const short = await run({ environment: { SERVICE_SESSION_SECRET: 'x'.repeat(31) } });
    await short.output(warning);
    expect(short.stdout()).not.toContain('xxx');
    const long = await sharedService(CAREFUL);
    expect(long.stdout()).not.toMatch(warning);
  });

  it('warns when a key is short, without revealing it', async () => {
    const short = await run({
      environment: {
        SERVICE_API_KEY_ENABLED: 'false',
        SERVICE_API_KEYS: 'a,qqq,long-enough-for-a-key',
        SERVICE_ADMIN_API_KEYS: 'q',
      },
    });
    await short.listening();
    expect(short.stdout()).toMatch(/WARN: SERVICE_API_KEYS has 2 keys of fewer than 16 characters/);
    expect(short.stdout()).toMatch(/WARN: SERVICE_ADMIN_API_KEYS has 1 key of fewer than 16 characters/);
    expect(short.stdout()).not.toContain('qqq');
    expect(short.stdout()).toMatch(
      /WARN: SERVICE_API_KEYS, SERVICE_ADMIN_API_KEYS, SERVICE_OPERATOR_API_KEYS and SERVICE_KEYS_FILE have no effect, because /,
    );
  });

  it('does not start with a wrong value', async () => {
    const { code, stdout, stderr } = await fails({ SERVICE_PORT: 'eighty', SERVICE_DEBUG: 'x' });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr.trim().split('\n')).toEqual([
      'The configuration cannot be used:',
      '  - SERVICE_PORT: must be a whole number from 0 to 65535; for example SERVICE_PORT=8000',
      '  - SERVICE_DEBUG: must be true or false; for example SERVICE_DEBUG=true',
    ]);
  });
  it('does not start with authentication on and no key', async () => {
    const { code, stderr } = await fails({ SERVICE_API_KEY_ENABLED: 'true' });
    expect(code).toBe(1);
    expect(stderr).toContain('SERVICE_API_KEY_ENABLED: it is on but no key is configured');
  });

  it.each([
    [
      'cannot be reached',
      'postgresql://someone:planted-password@127.0.0.1:1/service',
      /DATABASE_URL: PostgreSQL at 127.0.0.1:1 refuses connections/,
    ],
    [
      'is no well-formed address',
      'postgresql://someone:planted-password@[/service',
      /well-formed PostgreSQL URL/,
    ],
    ['is at a place that is no folder', 'file:/dev/null/service.db', /\/dev\/null/],
    ['is another kind of file', 'file:notes.txt', /not a database/],
  ])('does not start when its database %s', async (_name, url, reason) => {
    const { code, stdout, stderr } = await fails({ DATABASE_URL: url });
    expect(code).toBe(1);
    expectOneLine(stdout, reason);
    expect(stderr).toBe('');
    expect(stdout).not.toContain('planted-password');
  });

  it.each([
    ['do not exist', '1', '/nowhere/cert.pem', '/nowhere/key.pem', NO_CERTIFICATE],
    [
      'do not exist and several processes serve',
      '2',
      '/nowhere/cert.pem',
      '/nowhere/key.pem',
      NO_CERTIFICATE,
    ],
    [
      'lack the key',
      '1',
      '/dev/null',
      '/nowhere/key.pem',
      /SERVICE_TLS_KEY_FILE: the file \/nowhere\/key\.pem cannot be read/,
    ],
    [
      'hold no certificate',
      '1',
      '/dev/null',
      '/dev/null',
      /SERVICE_TLS_CERT_FILE=\/dev\/null and SERVICE_TLS_KEY_FILE=\/dev\/null cannot be used.*TLS certificate cannot be read/,
    ],
  ])('does not start when its TLS files %s', async (_name, workers, cert, key, reason) => {
    const environment = { SERVICE_WORKERS: workers, SERVICE_TLS_CERT_FILE: cert, SERVICE_TLS_KEY_FILE: key };
    const { code, stdout, stderr } = await fails(environment);
    expect(code).toBe(1);
    expectOneLine(stdout, reason);
    expect(stderr).toBe('');
  });

  it('does not start on a busy port', async () => {
    const other = net.createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as net.AddressInfo;
    const { code, stdout, stderr } = await fails({ SERVICE_PORT: String(port) });
    expect(code).toBe(1);
    expectOneLine(
      stdout,
      new RegExp(`SERVICE_PORT: port ${port} of 127.0.0.1 is in use by another program \\(EADDRINUSE\\)`),
    );
    expect(stdout).not.toContain('created a new, empty database');
    expect(stderr).toBe('');
  });
});

/** One line says why and nothing hides it; the others warn of what is new or missing, or tell what went well. */
function expectOneLine(stdout: string, reason: RegExp): void {
  const lines = stdout.trim().split('\n');
  const [line, ...others] = lines.filter(
    (one) =>
      !/ INFO(?: \(\d+\))?: | WARN(?: \(\d+\))?: (?:API keys are off|created a new, empty database)/.test(
        one,
      ),
  );
  expect(others).toEqual([]);
  expect(line).toMatch(/FATAL.*the service cannot start: /);
  expect(line).toMatch(reason);
}
