import { fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WatchControlsResponseSchema } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { QueryEventsResponseSchema } from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { type JsonObject, parseJson } from '../../../packages/exact-json/src/index.js';
import { messageMapper } from '../../../src/serve/connect/message-mapper.js';

/** JSON with every kind of number that is stored. */
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.bigInt(),
    fc.constantFrom(true, false, null, parseJson('0.12345678901234567890123e-7')),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value'), { maxKeys: 4 }),
}));
const struct = json.object as fc.Arbitrary<JsonObject>;

describe('a message whose Structs are in their binary form', () => {
  it('is read as the one that protobuf-es writes', () => {
    const [plain, encoded] = [
      messageMapper(WatchControlsResponseSchema),
      messageMapper(WatchControlsResponseSchema, 'encoded'),
    ];
    fc.assert(
      fc.property(fc.array(struct, { maxLength: 3 }), (configs) => {
        const conditions = configs.map((config) => ({
          selector: { path: 'input' },
          evaluator: { name: 'list', config },
        }));
        const control = { execution: 'sdk', condition: { and: conditions }, action: { decision: 'deny' } };
        const message = { revision: 5, full: { controls: [{ id: 1, name: 'a', control }] } };
        const read = (bytes: Uint8Array) => fromBinary(WatchControlsResponseSchema, bytes);
        expect(read(toBinary(WatchControlsResponseSchema, encoded.fromPlain(message) as never))).toEqual(
          read(toBinary(WatchControlsResponseSchema, plain.fromPlain(message) as never)),
        );
      }),
    );
  });

  it('omits a Struct that is absent or null, and has an empty one', () => {
    const { fromPlain } = messageMapper(QueryEventsResponseSchema, 'encoded');
    const events = [{ metadata: {} }, { metadata: null }, {}, { metadata: { rows: 2 } }];
    const bytes = toBinary(QueryEventsResponseSchema, fromPlain({ events }) as never);
    expect(fromBinary(QueryEventsResponseSchema, bytes).events.map(({ metadata }) => metadata)).toEqual([
      {},
      undefined,
      undefined,
      { rows: 2 },
    ]);
  });
});
