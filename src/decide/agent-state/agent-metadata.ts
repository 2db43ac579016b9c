import {
  isObject,
  type JsonObject,
  parseStoredJson,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';

/** Whether the text of a registration may have metadata of the agent. */
const MAY_HAVE_METADATA = /"agent_metadata"\s*:\s*\{/;

/** The metadata of an agent in the text of its registration, empty without any; null if it cannot be read. */
export function registeredMetadata(registration: string): JsonObject | null {
  if (!MAY_HAVE_METADATA.test(registration)) return {};
  try {
    const read = parseStoredJson(registration);
    const agent = isObject(read) ? read.agent : undefined;
    const metadata = isObject(agent) ? agent.agent_metadata : undefined;
    return isObject(metadata) ? metadata : {};
  } catch {
    return null;
  }
}

/** The same as JSON text; null without any. */
export function registeredMetadataText(registration: string): string | null {
  const metadata = registeredMetadata(registration);
  return metadata === null || Object.keys(metadata).length === 0 ? null : stringifyJson(metadata);
}
