/**
 * A receiver of OTLP over HTTP in a process of its own: `node otlp-receiver.mjs PORT` writes its port to stdout. It decodes
 * what it gets with the messages of otlp.proto. `GET /received` returns all of it, `POST /answer/503` sets the status of
 * later answers.
 */
import { createServer } from 'node:http';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { loadSync } from '@grpc/proto-loader';

const file = path.join(import.meta.dirname, 'otlp.proto');
const { Traces, Metrics, Logs } = loadSync(file, {
  keepCase: true,
  longs: String,
  enums: String,
  arrays: true,
})['otlp.Receiver'];

const received = { spans: [], metrics: [], records: [], headers: [], refused: 0 };
let answer = 200;

const PATHS = {
  '/v1/traces': (bytes) => {
    for (const { resource, scope_spans } of Traces.requestDeserialize(bytes).resource_spans) {
      for (const { scope, spans } of scope_spans) {
        received.spans.push(...spans.map((span) => plainSpan(span, resource, scope)));
      }
    }
  },
  '/v1/metrics': (bytes) => {
    for (const { resource, scope_metrics } of Metrics.requestDeserialize(bytes).resource_metrics) {
      for (const { metrics } of scope_metrics) {
        received.metrics.push(...metrics.map((metric) => plainMetric(metric, resource)));
      }
    }
  },
  '/v1/logs': (bytes) => {
    for (const { resource, scope_logs } of Logs.requestDeserialize(bytes).resource_logs) {
      for (const { log_records: records } of scope_logs) {
        received.records.push(...records.map((record) => plainRecord(record, resource)));
      }
    }
  },
};

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const reply = (status, body = '') => response.writeHead(status).end(body);
    const { url } = request;
    if (url === '/received') return reply(200, JSON.stringify(received));
    if (url.startsWith('/answer/')) {
      answer = Number(url.slice('/answer/'.length));
      return reply(200);
    }
    const read = PATHS[url];
    if (read === undefined || request.headers['content-type'] !== 'application/x-protobuf') return reply(400);
    received.headers.push(request.headers);
    if (answer !== 200) {
      received.refused += 1;
      return reply(answer);
    }
    const body = Buffer.concat(chunks);
    read(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
    reply(200);
  });
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => console.log(server.address().port));

function plainSpan(span, resource, scope) {
  return {
    name: span.name,
    kind: span.kind,
    traceId: span.trace_id.toString('hex'),
    spanId: span.span_id.toString('hex'),
    parentSpanId: span.parent_span_id?.toString('hex') ?? '',
    traceState: span.trace_state ?? '',
    nanoseconds: Number(BigInt(span.end_time_unix_nano) - BigInt(span.start_time_unix_nano)),
    attributes: plainAttributes(span.attributes),
    status: { code: span.status?.code ?? 'UNSET', message: span.status?.message ?? '' },
    resource: plainAttributes(resource.attributes),
    scope: scope.name,
  };
}

function plainMetric({ name, description, gauge, sum, histogram }, resource) {
  const kind = gauge ? 'gauge' : sum ? 'sum' : 'histogram';
  const data = gauge ?? sum ?? histogram;
  return {
    name,
    description,
    kind,
    isMonotonic: sum?.is_monotonic ?? false,
    temporality: data.aggregation_temporality,
    points: data.data_points.map((point) => ({
      attributes: plainAttributes(point.attributes),
      value: point.as_double ?? Number(point.as_int ?? 0),
      sum: point.sum,
      count: Number(point.count ?? 0),
      bucketCounts: (point.bucket_counts ?? []).map(Number),
      bounds: point.explicit_bounds ?? [],
    })),
    resource: plainAttributes(resource.attributes),
  };
}

function plainRecord(record, resource) {
  return {
    nanoseconds: record.time_unix_nano,
    severity: record.severity_text,
    severityNumber: record.severity_number,
    name: record.event_name,
    body: plainValue(record.body),
    traceId: record.trace_id?.toString('hex') ?? '',
    spanId: record.span_id?.toString('hex') ?? '',
    attributes: plainAttributes(record.attributes),
    resource: plainAttributes(resource.attributes),
  };
}

function plainAttributes(attributes = []) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue(value) {
  if (value.array_value) return value.array_value.values.map(plainValue);
  if (value.int_value !== undefined) return Number(value.int_value);
  return value.string_value ?? value.bool_value ?? value.double_value;
}
