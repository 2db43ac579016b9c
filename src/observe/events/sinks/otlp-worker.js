/**
 * A thread that sends log records over OTLP (https://opentelemetry.io/docs/specs/otlp/), so that encoding does not delay
 * the thread that serves requests. Plain JavaScript, because a thread starts from a file and Node 20 does not read
 * TypeScript.
 */
import { workerData } from 'node:worker_threads';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { answerRequests } from '../../../../packages/supervised-worker/src/thread-requests.js';

/**
 * `time` is in seconds and nanoseconds since 1970.
 * @typedef {{ time: [number, number], severityNumber: number, severityText: string, name: string, body: string,
 *   trace?: { traceId: string, spanId: string }, attributes: Record<string, string | boolean> }} OtlpRecord
 * @typedef {{ url: string, headers: Record<string, string>, resource: Record<string, string>, version: string }} Settings
 * @typedef {{ id: number, records: OtlpRecord[] }} Request
 */

/** Receivers refuse requests of more than a few megabytes. One record is always sent. */
const MAX_REQUEST_LENGTH = 1024 * 1024;
const MAX_RECORDS = 1_000;
/** Time limit of a request with all its repetitions, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** `ExportResultCode.SUCCESS` of the SDK. */
const SUCCESS = 0;
/** The caller sampled it, or not: this is not known any more. */
const TRACE_FLAGS = 0;

/** @type {Settings} */
const { url, headers, resource: attributes, version } = workerData;
const resource = resourceFromAttributes(attributes);
const instrumentationScope = { name: 'control-enforcement-service', version };
const exporter = new OTLPLogExporter({ url, headers, timeoutMillis: TIMEOUT_MS });

/** @param {OtlpRecord} record */
function logRecord({ time, severityNumber, severityText, name, body, trace, attributes }) {
  return {
    hrTime: time,
    hrTimeObserved: time,
    severityNumber,
    severityText,
    eventName: name,
    body,
    attributes,
    droppedAttributesCount: 0,
    resource,
    instrumentationScope,
    ...(trace === undefined ? {} : { spanContext: { ...trace, traceFlags: TRACE_FLAGS } }),
  };
}

/**
 * @param {OtlpRecord[]} records
 * @returns {Promise<void>}
 */
function sendGroup(records) {
  return new Promise((resolve, reject) => {
    exporter.export(records.map(logRecord), ({ code, error }) => {
      if (code === SUCCESS) resolve();
      else reject(error ?? new Error('the exporter gave no reason'));
    });
  });
}

/**
 * Sends records in order, as many at once as a request may have.
 * @param {OtlpRecord[]} records
 */
async function send(records) {
  let length = 0;
  /** @type {OtlpRecord[]} */
  let group = [];
  for (const record of records) {
    const isFull = group.length === MAX_RECORDS || length + record.body.length > MAX_REQUEST_LENGTH;
    if (group.length > 0 && isFull) {
      await sendGroup(group);
      group = [];
      length = 0;
    }
    group.push(record);
    length += record.body.length;
  }
  if (group.length > 0) await sendGroup(group);
}

answerRequests({
  answer: (/** @type {Request} */ { records }) => send(records),
  close: () => exporter.shutdown(),
});
