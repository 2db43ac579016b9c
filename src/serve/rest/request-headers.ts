import type { DescMessage } from '@bufbuild/protobuf';
import { header } from '../../../gen/proto/enforcement/v1/options_pb.js';
import type { JsonObject } from '../../../packages/exact-json/src/index.js';
import { invalidRequest } from '../../contract/input/parse-input.js';
import { optionOf } from '../../contract/warnings/proto-option.js';
import { IF_MATCH_HEADER } from '../wire/reply-headers.js';
import type { ArrivedBody } from './rest-body.js';

/** A version as an entity tag. A weak one counts as well: proxies that compress replies make tags weak. */
const VERSION_TAG = /^(?:W\/)?"(\d{1,15})"$/;

/** A member that a header carries. */
export interface HeaderMember {
  /** Name of the member. */
  readonly name: string;
  /** Name of the header as declared. */
  readonly header: string;
}

/** Members of a message that JSON routes take from headers. */
export function headerMembers(message: DescMessage): HeaderMember[] {
  return message.fields.flatMap((field) => {
    const name = optionOf(field, header);
    return name === '' ? [] : [{ name: field.name, header: name }];
  });
}

/**
 * The members that a request has in its headers. Throws a VALIDATION_ERROR for a header that cannot be read, or that
 * contradicts the same member elsewhere in the request.
 */
export function readHeaderMembers(
  members: readonly HeaderMember[],
  request: ArrivedBody,
  elsewhere: JsonObject,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { name, header: from } of members) {
    const text = request.headers[from.toLowerCase()];
    if (typeof text !== 'string') continue;
    const value = from === IF_MATCH_HEADER ? versionOf(text) : text;
    const other = elsewhere[name];
    if (other !== undefined && other !== null && String(other) !== value) {
      throw refused(from, `says something else than the member ${name} of the request; send one of them`);
    }
    found[name] = value;
  }
  return found;
}

/** The version of a header If-Match, or `*`. */
function versionOf(text: string): string {
  const value = text.trim();
  if (value === '*') return value;
  const version = VERSION_TAG.exec(value)?.[1];
  if (version !== undefined) return String(Number(version));
  throw refused(IF_MATCH_HEADER, 'must be one version in quotes, such as "3", or *');
}

function refused(name: string, message: string): Error {
  return invalidRequest([{ resource: 'Request', field: `header.${name}`, code: 'value_error', message }]);
}
