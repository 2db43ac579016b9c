import type { DescMessage } from '@bufbuild/protobuf';
import { duplicateNames, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { memberPath, type Spelling, unknownMembers } from './unknown-members.js';
import { listed, MAX_LISTED_WARNINGS, type Warning } from './warning.js';

/** A request as received. */
export interface ReceivedRequest {
  readonly desc: DescMessage;
  readonly value: JsonValue;
  readonly spelling: Spelling;
  /** Members given by the path of the request. */
  readonly elsewhere: readonly string[];
  /** The text that the value was parsed from; null when it was not JSON. */
  readonly text: string | null;
  /** Other parts known to have no effect. */
  readonly others?: Iterable<Warning>;
}

/** Parts of a request without effect: members that its message does not have, and duplicate members. */
export function requestWarnings(request: ReceivedRequest): Warning[] {
  const { desc, value, spelling, elsewhere, text, others = [] } = request;
  const unknown = unknownMembers(desc, value, { spelling, elsewhere });
  return listed(text === null ? [] : duplicateMembers(text), unknown, others);
}

function duplicateMembers(text: string): Warning[] {
  return duplicateNames(text, MAX_LISTED_WARNINGS).map(({ path }) => ({
    code: 'duplicate_member',
    field: pathText(path),
    message: 'stands in this object more than once; only the last one counts',
  }));
}

/** The dotted path of a member, from names and indexes. */
export function pathText(path: readonly (string | number)[]): string {
  return path.reduce<string>(joined, '');
}

function joined(path: string, part: string | number): string {
  return typeof part === 'number' ? `${path}[${part}]` : memberPath(path, part);
}
