import type { DescMessage } from '@bufbuild/protobuf';
import { header } from '../../../gen/proto/enforcement/v1/options_pb.js';
import { optionOf } from '../../contract/warnings/proto-option.js';
import { retryAfterOf } from '../../decide/decisions/applied-limits.js';
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import type { AppliedLimit } from '../../kernel/core/memory.js';
import type { Call } from '../call/call.js';
import {
  ETAG_HEADER,
  RATE_LIMIT_HEADER,
  RATE_LIMIT_POLICY_HEADER,
  RETRY_AFTER_HEADER,
} from '../wire/reply-headers.js';

/** Sends the limit that is nearest its end in headers, and the time after which an unsafe step may be repeated. */
export function tellLimits(
  verdict: RevisedVerdict,
  limits: readonly AppliedLimit[],
  call: Pick<Call, 'tellInHeader'>,
): void {
  const nearest = limits.find(isCounted);
  if (nearest !== undefined) {
    const name = quotaName(nearest);
    call.tellInHeader(
      RATE_LIMIT_POLICY_HEADER,
      `${name};q=${whole(nearest.limit)}${seconds('w', nearest.windowUs)}`,
    );
    const left = `${name};r=${whole(nearest.remaining)}${seconds('t', nearest.resetsAfterUs)}`;
    call.tellInHeader(RATE_LIMIT_HEADER, left);
  }
  const retryAfterUs = retryAfterOf(verdict);
  if (retryAfterUs !== null) call.tellInHeader(RETRY_AFTER_HEADER, String(secondsOf(retryAfterUs)));
}

/** Whether its numbers are those of a count. */
function isCounted({ degraded }: AppliedLimit): boolean {
  return degraded === null || degraded === 'local';
}

const PRINTABLE = /^[\x20-\x7e]+$/;

/** The name of the control as a String of structured fields (RFC 9651, section 3.3.3), which has ASCII alone. */
function quotaName({ controlName, controlId }: AppliedLimit): string {
  const name = PRINTABLE.test(controlName) ? controlName : `control-${controlId}`;
  return `"${name.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** The largest Integer of structured fields. */
const LARGEST = 999_999_999_999_999;

function whole(value: number): number {
  return Math.min(LARGEST, Math.max(0, Math.floor(value)));
}

function seconds(parameter: string, us: number | null): string {
  return us === null ? '' : `;${parameter}=${secondsOf(us)}`;
}

function secondsOf(us: number): number {
  return whole(Math.ceil(us / 1_000_000));
}

/** Sends members of a reply as headers. */
type HeaderTeller = (reply: object, call: Call) => void;

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
