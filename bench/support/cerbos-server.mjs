/**
 * Cerbos with the rules of the CEL benchmark, from its package on npm, which is 100 MB and no dependency of the project:
 * `npm install --no-save @cerbos/cerbos-linux-x64@0.55.0` brings it.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromJson, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { celOf, STEP } from './cel-rules.mjs';

/** @import { CelRule } from './cel-rules.mjs' */

export const CHECK = '/cerbos.svc.v1.CerbosService/CheckResources';
/** Clock ticks of Linux in a second, as getconf CLK_TCK prints them on every usual machine. */
const TICKS = 100;
const STARTS_WITHIN_MS = 20_000;

/** The program; null when its package is not installed. */
export function cerbosProgram() {
  try {
    return createRequire(import.meta.url).resolve('@cerbos/cerbos-linux-x64/cerbos-linux-x64');
  } catch {
    return null;
  }
}

/**
 * @param {string} program
 * @param {readonly CelRule[]} rules
 */
export async function startCerbos(program, rules) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-cerbos-'));
  const [grpcPort, httpPort] = [await freePort(), await freePort()];
  writeFileSync(join(folder, 'policy.json'), JSON.stringify(policyOf(rules)));
  const settings = [
    `server.grpcListenAddr=127.0.0.1:${grpcPort}`,
    `server.httpListenAddr=127.0.0.1:${httpPort}`,
    'storage.driver=disk',
    `storage.disk.directory=${folder}`,
    'telemetry.disabled=true',
    'audit.enabled=false',
  ];
  const words = ['server', '--log-level=ERROR', ...settings.map((setting) => `--set=${setting}`)];
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = async () => {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await demandDecision(httpPort, STEP.input, 'EFFECT_ALLOW');
    await demandDecision(httpPort, { ...STEP.input, amount: 1e9, to: 'x@elsewhere.org' }, 'EFFECT_DENY');
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${grpcPort}`, cpuSeconds: async () => cpuSecondsOf(child.pid ?? 0), stop };
}

/** @param {readonly CelRule[]} rules */
function policyOf(rules) {
  const denied = rules.map((rule) => ({
    actions: ['pre'],
    effect: 'EFFECT_DENY',
    roles: ['agent'],
    condition: { match: { expr: celOf(rule, 'R.attr') } },
  }));
  const allowed = { actions: ['pre'], effect: 'EFFECT_ALLOW', roles: ['agent'] };
  return {
    apiVersion: 'api.cerbos.dev/v1',
    resourcePolicy: { version: 'default', resource: 'step', rules: [allowed, ...denied] },
  };
}

/**
 * Asks until it answers, and throws for another decision.
 * @param {number} port @param {object} attr @param {string} expected
 */
async function demandDecision(port, attr, expected) {
  const body = JSON.stringify({
    principal: { id: 'bench', roles: ['agent'] },
    resources: [{ actions: ['pre'], resource: { kind: 'step', id: '1', attr } }],
  });
  const end = performance.now() + STARTS_WITHIN_MS;
  for (;;) {
    try {
      const reply = await fetch(`http://127.0.0.1:${port}/api/check/resources`, { method: 'POST', body });
      const text = await reply.text();
      const effect = JSON.parse(text).results?.[0]?.actions?.pre;
      if (effect === expected) return;
      throw new Error(`cerbos decided ${text}, not ${expected}`);
    } catch (error) {
      if (!(error instanceof TypeError) || performance.now() > end) throw error;
      await sleep(100);
    }
  }
}

/** A gRPC message with one check of the step, as api/public/cerbos/request/v1/request.proto of Cerbos describes it. */
export function checkMessage() {
  const principal = new BinaryWriter().uint32(tag(1)).string('bench').uint32(tag(3)).string('agent').finish();
  const resource = new BinaryWriter().uint32(tag(1)).string('step').uint32(tag(3)).string('1');
  for (const [name, value] of Object.entries(STEP.input)) {
    const encoded = toBinary(ValueSchema, fromJson(ValueSchema, value));
    const entry = new BinaryWriter().uint32(tag(1)).string(name).uint32(tag(2)).bytes(encoded).finish();
    resource.uint32(tag(4)).bytes(entry);
  }
  const checked = new BinaryWriter()
    .uint32(tag(1))
    .string('pre')
    .uint32(tag(2))
    .bytes(resource.finish())
    .finish();
  const request = new BinaryWriter().uint32(tag(3)).bytes(principal).uint32(tag(4)).bytes(checked).finish();
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(request.length, 1);
  return Buffer.concat([prefix, request]);
}

/** The tag of a field whose value has a length. @param {number} field */
const tag = (field) => (field << 3) | 2;

/** @param {number} pid */
function cpuSecondsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
