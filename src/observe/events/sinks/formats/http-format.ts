import { type JsonObject, stringifyJson } from '../../../../../packages/exact-json/src/index.js';
import type { HttpSinkConfig } from '../../../../contract/config/config-sinks.js';
import type { TailEvent } from '../../store/event-tail.js';
import { binaryCloudEvent, cloudEvent } from './cloud-event.js';
import { ocsfEvent } from './ocsf-event.js';
import { opaDecision } from './opa-decision.js';
import type { ExportSource } from './plain-event.js';

/** What a request has. */
export interface HttpContent {
  /** Names are lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How events are requests. */
export interface HttpFormat {
  /** Most events of a request. */
  readonly events: number;
  /** There is at least one event, and no more than `events`. */
  write(events: readonly TailEvent[], source: ExportSource): HttpContent;
}

type Choice = Pick<HttpSinkConfig, 'format' | 'mode' | 'batch'>;

export function httpFormat({ format, mode, batch }: Choice): HttpFormat {
  if (format === 'ocsf') return arrays('application/json', batch, ocsfEvent);
  if (format === 'opa') return arrays('application/json', batch, opaDecision);
  if (mode === 'batch') return arrays('application/cloudevents-batch+json', batch, cloudEvent);
  return mode === 'binary' ? BINARY : STRUCTURED;
}

function arrays(
  contentType: string,
  events: number,
  map: (tail: TailEvent, source: ExportSource) => JsonObject,
): HttpFormat {
  return {
    events,
    write: (tails, source) => ({
      headers: { 'content-type': contentType },
      body: `[${tails.map((tail) => stringifyJson(map(tail, source))).join(',')}]`,
    }),
  };
}

const STRUCTURED: HttpFormat = {
  events: 1,
  write: ([tail], source) => ({
    headers: { 'content-type': 'application/cloudevents+json' },
    body: tail === undefined ? '' : stringifyJson(cloudEvent(tail, source)),
  }),
};

const BINARY: HttpFormat = {
  events: 1,
  write([tail], source) {
    if (tail === undefined) return { headers: {}, body: '' };
    const { headers, body } = binaryCloudEvent(tail, source);
    return { headers, body: stringifyJson(body) };
  },
};
