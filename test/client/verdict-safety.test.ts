import { readFileSync } from 'node:fs';
import path from 'node:path';
import { create, createFileRegistry, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decision } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  type EvaluateResponse,
  EvaluateResponseSchema,
  Outcome,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { evaluatedBy, withLocal } from '../../packages/client/src/combined.js';
import { guardTool } from '../../packages/client/src/guard.js';
import { DeniedError, isSafe, outcomeOf, SteerError } from '../../packages/client/src/node.js';

const IMAGE = readFileSync(path.resolve(import.meta.dirname, '../../proto/landed.binpb'));
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, IMAGE));
/** The response as clients know it that were generated from the proto of the last release. */
const LANDED = registry.getMessage('enforcement.v1.EvaluateResponse');
if (LANDED === undefined) throw new Error('the proto of the last release has no EvaluateResponse');
const landed = LANDED;

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const enumValue = fc.oneof(fc.integer({ min: 0, max: 12 }), int32);
const FIELDS = Math.max(...EvaluateResponseSchema.fields.map(({ number }) => number));
/** Fields that no version knows yet, of every wire type, with random content. */
const futureField = fc
  .tuple(
    fc.integer({ min: FIELDS + 1, max: 2_000 }).filter((number) => number < 19_000),
    fc.constantFrom(WireType.Varint, WireType.Bit32, WireType.Bit64, WireType.LengthDelimited),
    fc.uint8Array({ minLength: 0, maxLength: 40 }),
    fc.nat(),
  )
  .map(([number, type, bytes, value]) => {
    const writer = new BinaryWriter().tag(number, type);
    if (type === WireType.Varint) return writer.uint32(value).finish();
    if (type === WireType.Bit32) return writer.fixed32(value).finish();
    if (type === WireType.Bit64) return writer.fixed64(value).finish();
    return writer.bytes(bytes).finish();
  });
const futureBytes = fc.array(futureField, { maxLength: 6 }).map((fields) => Buffer.concat(fields));
const control = fc.record({ controlId: fc.nat(), controlName: fc.string(), action: enumValue });

/** An unsafe verdict of any later service, as bytes: with enum values and members that nobody knows. */
const unsafeBytes = fc
  .record({ matches: fc.array(control), errors: fc.array(control), outcome: enumValue, more: futureBytes })
  .map(({ more, outcome, ...lists }) => {
    const verdict = create(EvaluateResponseSchema, { ...lists, isSafe: false, confidence: 1, outcome });
    return Buffer.concat([toBinary(EvaluateResponseSchema, verdict), more]);
  });

const read = (bytes: Uint8Array): EvaluateResponse => fromBinary(EvaluateResponseSchema, bytes);

describe('an unsafe verdict of any later service', () => {
  it('is unsafe for a client of the last release, whatever it has besides', () => {
    fc.assert(
      fc.property(unsafeBytes, (bytes) => {
        const verdict = fromBinary(landed, bytes) as Message & Record<string, unknown>;
        // Clients of the last release proceed if and only if this is true.
        expect(verdict.isSafe).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is unsafe for this client, and a guarded tool does not run', async () => {
    await fc.assert(
      fc.asyncProperty(unsafeBytes, async (bytes) => {
        const verdict = read(bytes);
        expect(isSafe(verdict)).toBe(false);
        expect(outcomeOf(verdict)).not.toBe('allow');
        let hasRun = false;
        const tool = guardTool(
          async () => evaluatedBy(verdict),
          () => {
            hasRun = true;
          },
          { step: 'send_mail' },
        );
        const error = await tool().catch((reason: unknown) => reason);
        expect(error instanceof DeniedError || error instanceof SteerError).toBe(true);
        expect(hasRun).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('makes a verdict with local controls unsafe, on either side', () => {
    const allowed = create(EvaluateResponseSchema, { isSafe: true, confidence: 1, outcome: Outcome.ALLOW });
    fc.assert(
      fc.property(unsafeBytes, (bytes) => {
        for (const combined of [
          withLocal(evaluatedBy(read(bytes)), allowed),
          withLocal(evaluatedBy(allowed), read(bytes)),
        ]) {
          expect(combined.isSafe).toBe(false);
          expect(combined).not.toMatchObject({ outcome: 'allow' });
        }
      }),
    );
  });
});

describe('a verdict that calls a step safe', () => {
  const safe = (more: object) => create(EvaluateResponseSchema, { isSafe: true, confidence: 1, ...more });

  it('is safe with the outcome allow, and without one from a service that has none', () => {
    for (const outcome of [Outcome.UNSPECIFIED, Outcome.ALLOW]) {
      const verdict = safe({
        outcome,
        matches: [{ action: Decision.OBSERVE }],
        errors: [{ action: Decision.STEER }],
      });
      expect([isSafe(verdict), outcomeOf(verdict)]).toEqual([true, 'allow']);
    }
  });

  it('is unsafe with any other outcome, known or not', () => {
    const others = enumValue.filter((value) => value !== Outcome.ALLOW && value !== Outcome.UNSPECIFIED);
    fc.assert(
      fc.property(others, (outcome) => {
        expect(isSafe(safe({ outcome }))).toBe(false);
        expect(outcomeOf(safe({ outcome }))).not.toBe('allow');
      }),
    );
  });

  it('is unsafe when a match does anything but observe, or a failed control does anything but observe or steer', () => {
    const outcome = fc.constantFrom(Outcome.UNSPECIFIED, Outcome.ALLOW);
    fc.assert(
      fc.property(enumValue, outcome, futureBytes, (action, given, more) => {
        const decode = (lists: object) =>
          read(Buffer.concat([toBinary(EvaluateResponseSchema, safe({ outcome: given, ...lists })), more]));
        const observes = action === Decision.OBSERVE;
        expect(isSafe(decode({ matches: [{ action }] }))).toBe(observes);
        expect(isSafe(decode({ errors: [{ action }] }))).toBe(observes || action === Decision.STEER);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the outcome of an unsafe verdict', () => {
  const unsafe = (more: object) => create(EvaluateResponseSchema, { isSafe: false, ...more });
  const deny = { action: Decision.DENY };
  const steer = { action: Decision.STEER };

  it.each([
    ['deny', 'nothing that says why', {}],
    ['deny', 'a deny', { matches: [steer, deny] }],
    ['deny', 'a failed deny', { matches: [steer], errors: [deny] }],
    ['deny', 'an unknown decision', { matches: [steer, { action: 9 }] }],
    ['steer', 'a steer from a service without outcomes', { matches: [steer] }],
    ['steer', 'a steer', { matches: [steer], outcome: Outcome.STEER }],
    ['deny', 'the outcome steer and no steer control', { outcome: Outcome.STEER }],
    ['deny', 'the outcome steer and a deny', { matches: [steer, deny], outcome: Outcome.STEER }],
    ['deny', 'the outcome allow', { outcome: Outcome.ALLOW }],
    ['ask', 'the outcome ask', { matches: [deny], outcome: Outcome.ASK, approval: { id: 1 } }],
    ['deny', 'the outcome ask and no approval', { matches: [deny], outcome: Outcome.ASK }],
    [
      'modify',
      'the outcome modify',
      { matches: [deny], outcome: Outcome.MODIFY, modification: { stepJson: '{}' } },
    ],
    ['deny', 'the outcome modify and no modification', { matches: [deny], outcome: Outcome.MODIFY }],
    ['deny', 'an unknown outcome', { matches: [steer], outcome: 77 }],
  ] as const)('is %s with %s', (expected, _what, more) => {
    expect(outcomeOf(unsafe(more))).toBe(expected);
  });
});
