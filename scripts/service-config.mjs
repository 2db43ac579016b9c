/**
 * Writes `gen/grpc/service_config.json`, the service config for gRPC clients
 * (https://github.com/grpc/grpc/blob/master/doc/service_config.md): which RPCs are retried, from their options. With
 * `--check` it writes nothing and fails when the file is not current.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getOption } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { PACKAGE_ROOT } from './compose-schema.mjs';
import { readProto } from './proto-source.mjs';

const FILE = join(PACKAGE_ROOT, 'gen', 'grpc', 'service_config.json');
/** Longer than the time limit of the server, whose error says more. */
const TIMEOUT = '35s';
const RETRY_POLICY = {
  maxAttempts: 4,
  initialBackoff: '0.2s',
  maxBackoff: '5s',
  backoffMultiplier: 2,
  retryableStatusCodes: ['UNAVAILABLE'],
};

const { services, registry } = readProto();
const evaluation = registry.getExtension('enforcement.v1.evaluation');
const unary = services.flatMap(({ methods }) => methods.filter(({ methodKind }) => methodKind === 'unary'));
/** A repeated evaluation decides the same; it only records its events again. */
const mayBeRepeated = (method) =>
  method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN || getOption(method, evaluation);
const names = (methods) => methods.map(({ parent, name }) => ({ service: parent.typeName, method: name }));

const config = {
  methodConfig: [
    { name: names(unary.filter(mayBeRepeated)), timeout: TIMEOUT, retryPolicy: RETRY_POLICY },
    { name: names(unary.filter((method) => !mayBeRepeated(method))), timeout: TIMEOUT },
  ],
  // Of a server that refuses everything, clients ask less.
  retryThrottling: { maxTokens: 100, tokenRatio: 0.1 },
};
const current = `${JSON.stringify(config, null, 2)}\n`;

if (!process.argv.includes('--check')) {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, current);
} else if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== current) {
  process.stderr.write('gen/grpc/service_config.json is not current: run "npm run generate"\n');
  process.exitCode = 1;
}
