import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../../../../packages/exact-json/src/index.js';
import type { TailEvent } from '../../store/event-tail.js';
import { type ExportSource, type PlainEvent, plainData, plainEvent } from './plain-event.js';

/** Another type, and another schema, follow an incompatible change of `data`. */
export const CLOUD_EVENT_TYPE = 'control_enforcement.decision.v1';
/** `$id` of docs/decision.v1.schema.json. */
export const CLOUD_EVENT_SCHEMA = 'urn:control-enforcement:decision:v1';

/** Longest id and longest name of a step in a subject, in UTF-16 code units: in binary mode they are headers. */
const MAX_TEXT_LENGTH = 256;
/** What CloudEvents does not allow in texts: control characters, halves of surrogate pairs, and noncharacters. */
const DISALLOWED = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu;
/** What a header has as it is, in binary mode. */
const ENCODED = /[^\x21\x23\x24\x26-\x7e]+/g;
/** The caller sampled it, or not: this is not known any more. */
const TRACE_FLAGS = '00';

/**
 * A stored event as a CloudEvent in the JSON format
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md). `data` is the event as the other
 * sinks have it.
 */
export function cloudEvent(tail: Pick<TailEvent, 'position' | 'event'>, source: ExportSource): JsonObject {
  return { ...attributesOf(tail, plainEvent(tail), source), data: plainData(tail) };
}

/** The same in binary mode: attributes are headers, `data` is the body. */
export function binaryCloudEvent(
  tail: Pick<TailEvent, 'position' | 'event'>,
  source: ExportSource,
): { readonly headers: Record<string, string>; readonly body: JsonObject } {
  const { datacontenttype, ...attributes } = attributesOf(tail, plainEvent(tail), source);
  const headers = Object.entries(attributes).map(([name, value]) => [
    `ce-${name}`,
    headerText(String(value)),
  ]);
  return {
    headers: { ...Object.fromEntries(headers), 'content-type': String(datacontenttype) },
    body: plainData(tail),
  };
}

function attributesOf(
  { position, event }: Pick<TailEvent, 'position' | 'event'>,
  { id, namespace, agent, time, trace, outcome }: PlainEvent,
  { instance }: ExportSource,
): Record<string, JsonValue> {
  return {
    specversion: '1.0',
    id: idOf(id),
    // Ids are unique in a namespace of one database, and with `source` everywhere.
    source: `/control-enforcement/${instance}/namespaces/${namespace}`,
    type: CLOUD_EVENT_TYPE,
    subject: subjectOf(agent, event.step_name),
    time,
    datacontenttype: 'application/json',
    dataschema: CLOUD_EVENT_SCHEMA,
    // What follows are extension attributes, for consumers that choose without reading `data`.
    namespace,
    action: event.action,
    matched: event.matched,
    outcome,
    position: String(position),
    ...(trace === null ? {} : { traceparent: `00-${trace.traceId}-${trace.spanId}-${TRACE_FLAGS}` }),
  };
}

/** Clients choose ids. One that is no valid id, or too long for a header, is replaced by its digest; `data` has it as it is. */
function idOf(id: string): string {
  const isUsable = id !== '' && id.length <= MAX_TEXT_LENGTH && id.search(DISALLOWED) === -1;
  return isUsable ? id : `sha256:${createHash('sha256').update(id, 'utf16le').digest('hex')}`;
}

function subjectOf(agent: string, step: string | null): string {
  return step === null ? agent : `${agent}/${step.slice(0, MAX_TEXT_LENGTH).replace(DISALLOWED, '\ufffd')}`;
}

/** The text of a header (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md, 3.1.3.2). */
function headerText(text: string): string {
  return text.replace(ENCODED, encodeURIComponent);
}
