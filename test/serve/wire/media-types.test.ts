import { describe, expect, it } from 'vitest';
import { MEDIA_TYPES, mediaTypeOf } from '../../../src/serve/wire/media-types.js';

const NOTHING = { isStream: false, isWhole: false, isJson: false, isPlainJson: false, isBase64: false };
const PLAIN_JSON = { protocol: 'connect', ...NOTHING, isWhole: true, isJson: true, isPlainJson: true };
const JSON_WITH_MORE = { ...PLAIN_JSON, isPlainJson: false };
const NAMED_JSON = { ...JSON_WITH_MORE, isWhole: false };
const BINARY = { protocol: 'connect', ...NOTHING, isWhole: true };
const UNKNOWN = { protocol: 'connect', ...NOTHING };
const stream = (protocol: string, more: object = {}) => ({ protocol, ...NOTHING, isStream: true, ...more });

const TYPES: Readonly<Record<string, object>> = {
  'application/json': PLAIN_JSON,
  'Application/JSON': PLAIN_JSON,
  'application/json; charset=utf-8': PLAIN_JSON,
  'application/json;charset=UTF-8': PLAIN_JSON,
  'application/json ; charset=utf-8': JSON_WITH_MORE,
  'application/json; charset=latin1': JSON_WITH_MORE,
  'application/json ': JSON_WITH_MORE,
  'application/merge-patch+json': NAMED_JSON,
  'application/vnd.api+json; v=1': NAMED_JSON,
  'application/jsonl': UNKNOWN,
  ' application/json': UNKNOWN,
  'text/json': UNKNOWN,
  'application/x-ndjson': UNKNOWN,
  'application/proto': BINARY,
  'application/PROTO; a=b': BINARY,
  'application/protobuf': UNKNOWN,
  'application/connect+proto': stream('connect'),
  'application/connect+json': stream('connect', { isJson: true }),
  'application/connect': UNKNOWN,
  'Application/Connect+json': { ...UNKNOWN, isJson: true },
  'application/grpc': stream('grpc'),
  'application/grpc+proto': stream('grpc'),
  'application/grpc+json': stream('grpc', { isJson: true }),
  'application/grpc;a=b': stream('grpc'),
  'Application/grpc': UNKNOWN,
  'application/grpc-web': stream('grpc-web'),
  'application/grpc-web+proto': stream('grpc-web'),
  'application/grpc-web+json': stream('grpc-web', { isJson: true }),
  'application/grpc-web-text': stream('grpc-web', { isBase64: true }),
  'application/grpc-web-text+proto': stream('grpc-web', { isBase64: true }),
  '': UNKNOWN,
};

describe('a media type', () => {
  it.each(Object.entries(TYPES))('is read from %j', (text, type) => {
    expect(mediaTypeOf(text)).toEqual(type);
  });

  it('may be absent', () => {
    expect(mediaTypeOf(undefined)).toEqual(UNKNOWN);
  });

  it('with a name is not parsed again', () => {
    for (const name of Object.values(MEDIA_TYPES)) expect(mediaTypeOf(name)).toBe(mediaTypeOf(name));
  });
});
