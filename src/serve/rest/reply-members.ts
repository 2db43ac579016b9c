import type { DescMessage } from '@bufbuild/protobuf';
import { header } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { optionOf } from '../../contract/warnings/proto-option.js';
import type { Call } from '../call/call.js';
import { ETAG_HEADER } from '../wire/reply-headers.js';

/** Sends members of a reply as headers. */
export type HeaderTeller = (reply: object, call: Call) => void;

/** Sends the members of a reply that JSON routes have in headers; absent ones are not sent. */
export function headerTeller(message: DescMessage): HeaderTeller {
  const members = message.fields.flatMap((field) => {
    const name = optionOf(field, header);
    return name === '' ? [] : [{ name: field.name, header: name }];
  });
  return (reply, call) => {
    for (const member of members) {
      const value = (reply as Record<string, unknown>)[member.name];
      if (value === undefined || value === null) continue;
      call.tellInHeader(member.header, member.header === ETAG_HEADER ? `"${value}"` : String(value));
    }
  };
}
