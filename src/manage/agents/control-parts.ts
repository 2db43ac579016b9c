import { AgentControlSchema } from '../../../gen/proto/enforcement/v1/agent_service_pb.js';
import { maxMessageBytes } from '../../contract/call/message-bytes.js';
import { callerError, type ServiceError } from '../../contract/errors/service-error.js';
import type { AgentControl } from './agent-controls.js';

/** Bytes of a message around its controls: other members, a page token, a revision. */
const ENVELOPE_BYTES = 256;
/** Tag and length of a control in protobuf; in JSON, a comma. */
const SEPARATOR_BYTES = 6;

/** Limits of a part; null for none. */
export interface PartLimits {
  readonly maxControls: number | null;
  /** Of the message with the part, in every encoding. */
  readonly maxBytes: number | null;
}

/**
 * The first controls that fit into one message: at least one, unless there are none. Throws PAYLOAD_TOO_LARGE if not
 * even the first one fits.
 */
export function firstPart<Control extends AgentControl>(
  controls: readonly Control[],
  { maxControls, maxBytes }: PartLimits,
): readonly Control[] {
  const candidates = maxControls === null ? controls : controls.slice(0, maxControls);
  if (maxBytes === null) return candidates;
  let bytes = ENVELOPE_BYTES;
  for (const [index, control] of candidates.entries()) {
    bytes += controlBytes(control);
    if (bytes <= maxBytes) continue;
    if (index === 0) throw controlTooLarge(control, bytes, maxBytes);
    return candidates.slice(0, index);
  }
  return candidates;
}

/** Whether controls have at most `maxBytes` together. */
export function fits(controls: readonly AgentControl[], maxBytes: number): boolean {
  let bytes = 0;
  for (const control of controls) {
    bytes += controlBytes(control);
    if (bytes > maxBytes) return false;
  }
  return true;
}

/** Sizes of controls, which are sent many times and never change. */
const known = new WeakMap<object, number>();

/** What a control takes of a message, in every encoding, in bytes: never less than it really takes. */
export function controlBytes({ id, name, control }: AgentControl): number {
  const found = known.get(control);
  if (found !== undefined) return found;
  const bytes = SEPARATOR_BYTES + maxMessageBytes(AgentControlSchema, { id, name, control });
  known.set(control, bytes);
  return bytes;
}

function controlTooLarge({ id, name }: AgentControl, bytes: number, maxBytes: number): ServiceError {
  return callerError('PAYLOAD_TOO_LARGE', {
    detail: `Control ${id} needs a message of up to ${bytes} bytes; max_message_bytes allows ${maxBytes}.`,
    hint: `Call again with max_message_bytes of at least ${bytes}, or without it.`,
    name,
    kind: 'Control',
    items: [
      {
        resource: 'Request',
        field: 'max_message_bytes',
        code: 'greater_than_equal',
        message: `must be at least ${bytes} for control ${id}`,
        value: maxBytes,
      },
    ],
  });
}
