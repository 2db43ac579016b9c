import { create, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  HelpSchema,
  PreconditionFailureSchema,
  QuotaFailureSchema,
  ResourceInfoSchema,
  RetryInfoSchema,
} from '../../../gen/proto/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../../gen/proto/google/rpc/status_pb.js';
import { encodeStatus } from '../../../src/serve/wire/encode-status.js';
import { RpcStatus, type StatusDetail } from '../../../src/serve/wire/rpc-status.js';

const text = fc.string({ unit: 'grapheme', maxLength: 200 });
const detail: fc.Arbitrary<StatusDetail> = fc.oneof(
  fc.record({
    desc: fc.constant(ErrorInfoSchema),
    value: fc.record({ reason: text, domain: text, metadata: fc.dictionary(text, text, { maxKeys: 4 }) }),
  }),
  fc.record({
    desc: fc.constant(BadRequestSchema),
    value: fc.record({
      fieldViolations: fc.array(fc.record({ field: text, description: text, reason: text }), {
        maxLength: 20,
      }),
    }),
  }),
  fc.record({
    desc: fc.constant(PreconditionFailureSchema),
    value: fc.record({
      violations: fc.array(fc.record({ type: text, subject: text, description: text }), { maxLength: 20 }),
    }),
  }),
  fc.record({
    desc: fc.constant(ResourceInfoSchema),
    value: fc.record(
      { resourceType: text, resourceName: text, owner: text, description: text },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    desc: fc.constant(HelpSchema),
    value: fc.record({ links: fc.array(fc.record({ description: text, url: text }), { maxLength: 3 }) }),
  }),
  fc.record({
    desc: fc.constant(QuotaFailureSchema),
    value: fc.record({
      violations: fc.array(fc.record({ subject: text, description: text }), { maxLength: 3 }),
    }),
  }),
  fc.record({
    desc: fc.constant(RetryInfoSchema),
    value: fc.record({ retryDelay: fc.record({ seconds: fc.bigInt(0n, 9n), nanos: fc.nat(9) }) }),
  }),
);

it('a status is encoded as protobuf-es encodes it', () => {
  fc.assert(
    fc.property(fc.nat(16), text, fc.array(detail, { maxLength: 4 }), (code, message, details) => {
      const packed = details.map(({ desc, value }) => anyPack(desc, create(desc, value)));
      const expected = toBinary(StatusSchema, create(StatusSchema, { code, message, details: packed }));
      const encoded = encodeStatus(new RpcStatus(code, message, details));
      expect(encoded.toString('hex')).toBe(Buffer.from(expected).toString('hex'));
    }),
  );
});
