import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createFileRegistry, type DescMessage, type DescMethod, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { STEPS } from '../e2e/every-rpc.steps.js';
import { ADMIN_KEY, READER_KEY, type Step, TOKEN_SETTINGS } from '../e2e/every-rpc.support.js';
import { methodNamed } from '../support/protocol-clients.js';
import { suiteClient, suiteService } from '../support/service-suite.js';

const IMAGE = path.resolve(import.meta.dirname, '../../proto/landed.binpb');

/** The API as deployed clients were generated from it. */
const LANDED = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(IMAGE)));

function landedMethod(name: string): DescMethod | undefined {
  const [service, method] = name.split('.');
  return LANDED.getService(`enforcement.v1.${service}`)?.methods.find((one) => one.name === method);
}

/** The method of a step as the landed API has it; undefined if the step needs a later method or member. */
function playable({ rpc, input }: Step): DescMethod | undefined {
  const method = landedMethod(rpc);
  return method !== undefined && hasMembers(method.input, input) ? method : undefined;
}

/** Whether a message type has all members of a value, at every level. */
function hasMembers(desc: DescMessage, value: unknown): boolean {
  if (typeof value !== 'object' || value === null || desc.typeName.startsWith('google.')) return true;
  if (Array.isArray(value)) return value.every((item) => hasMembers(desc, item));
  return Object.entries(value).every(([name, member]) => {
    const field = desc.fields.find((one) => one.name === name);
    if (field === undefined) return desc.typeName === 'enforcement.v1.ConditionList';
    return field.message === undefined || field.fieldKind === 'map' || hasMembers(field.message, member);
  });
}

// A protocol for each encoding of messages: what is around them is not of a release, and test/e2e/every-rpc.test.ts plays
// the same steps over all protocols.
describe.each(['gRPC (Connect transport)', 'Connect with JSON over h1'] as const)(
  'a client of the landed API, over %s',
  (protocol) => {
    const service = suiteService({
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: READER_KEY,
      SERVICE_ADMIN_API_KEYS: ADMIN_KEY,
      SERVICE_PACKS: TOKEN_SETTINGS.SERVICE_PACKS,
    });
    const client = suiteClient(service, protocol);

    it('receives every reply and every error of the script as before', async () => {
      let played = 0;
      for (const step of STEPS) {
        const { rpc, what, input, key, expected } = step;
        const method = playable(step);
        // The results of a step depend on those before it.
        const outcome = await client.call(method ?? methodNamed(rpc), input, key ?? undefined);
        if (method === undefined) continue;
        played += 1;
        if ('reason' in expected) {
          const { reason, grpc } = expected;
          expect({ rpc, what, ...outcome }).toMatchObject({ rpc, what, ok: false, reason, status: grpc });
        } else {
          const reply = outcome.ok ? known(expected.reply, outcome.reply) : {};
          expect({ rpc, what, ...outcome }).toMatchObject({ rpc, what, ok: true, reply });
        }
      }
      const landed = STEPS.filter(({ rpc }) => landedMethod(rpc) !== undefined);
      expect(played).toBeGreaterThan(landed.length / 2);
    });
  },
);

/** The expected members without those that the reply of an older message type cannot have. */
function known(expected: unknown, reply: unknown): object {
  if (Array.isArray(expected)) {
    return expected.map((item, index) => knownValue(item, (reply as unknown[])[index]));
  }
  const members = reply as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(expected as object)
      .filter(([name]) => Object.hasOwn(members, name))
      .map(([name, value]) => [name, knownValue(value, members[name])]),
  );
}

function knownValue(expected: unknown, found: unknown): unknown {
  const isPlain = Array.isArray(expected) || Object.getPrototypeOf(expected ?? 0) === Object.prototype;
  return isPlain && typeof found === 'object' && found !== null ? known(expected, found) : expected;
}
