import { type JsonObject, parseStoredJson, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { SizedPart } from '../../kernel/core/types.js';
import { registeredMetadata } from '../agent-state/agent-metadata.js';
import type { ReadSteps } from './state-reader.js';

/** The metadata of one agent, in memory while a control of it reads them. */
export interface KeptMetadata extends SizedPart {
  /** Null if they are not known. */
  readonly metadata: JsonObject | null;
}

/** Memory of parsed metadata: this, and this for each character of their text, in bytes. */
const OWN_BYTES = 200;
const BYTES_PER_CHARACTER = 12;

/** The metadata of an agent, from what was read of it. Never throws. */
export function metadataRead(steps: ReadSteps): KeptMetadata {
  const metadata = metadataOf(steps);
  const length = metadata === null ? 0 : stringifyJson(metadata).length;
  return { metadata, sizeBytes: OWN_BYTES + BYTES_PER_CHARACTER * length };
}

function metadataOf(steps: ReadSteps): JsonObject | null {
  if (steps === 'unknown') return null;
  if ('registration' in steps) return registeredMetadata(steps.registration);
  if (steps.metadata === undefined) return null;
  if (steps.metadata === null) return {};
  try {
    return parseStoredJson(steps.metadata) as JsonObject;
  } catch {
    return null;
  }
}
