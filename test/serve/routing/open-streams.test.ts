import type { DescService } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { createStreamNames } from '../../../src/serve/routing/open-streams.js';
import { createQuietMetrics } from '../../support/metrics.js';
import { parseMetrics } from '../../support/prometheus.js';
import { compileProto } from '../../support/scratch-api.js';

const PROTO = `
syntax = "proto3";
package scratch.v1;
import "enforcement/v1/options.proto";
import "google/api/annotations.proto";
service PathService {
  rpc Step(Nothing) returns (Nothing) {
    option (google.api.http) = {get: "/api/v1/step"};
    option (enforcement.v1.access) = ACCESS_KEY;
    option (enforcement.v1.scopes) = "controls.read";
    option (enforcement.v1.operation) = "paths.step";
    option (enforcement.v1.agent_scope) = AGENT_SCOPE_FREE;
  }
  rpc Walk(Nothing) returns (stream Nothing) {
    option (google.api.http) = {get: "/api/v1/walk"};
    option (enforcement.v1.access) = ACCESS_KEY;
    option (enforcement.v1.scopes) = "controls.read";
    option (enforcement.v1.operation) = "paths.walk";
    option (enforcement.v1.agent_scope) = AGENT_SCOPE_FREE;
  }
  rpc Carry(stream Nothing) returns (Nothing) {
    option (enforcement.v1.access) = ACCESS_KEY;
    option (enforcement.v1.scopes) = "controls.read";
    option (enforcement.v1.operation) = "paths.carry";
    option (enforcement.v1.agent_scope) = AGENT_SCOPE_FREE;
  }
}
message Nothing {}
`;

it('are counted by method and protocol, over JSON too, and nothing else is', async () => {
  const registry = await compileProto({ 'scratch/v1/path.proto': PROTO });
  const names = createStreamNames([registry.getService('scratch.v1.PathService') as DescService], '/base/v1');
  const metrics = createQuietMetrics('test', names);
  async function open(): Promise<Record<string, number>> {
    // Two readers at the same time must not add to each other.
    const [text] = await Promise.all([metrics.text(), metrics.text()]);
    return Object.fromEntries(
      parseMetrics(text)
        .filter(({ name }) => name === 'test_streams_open')
        .map(({ labels, value }) => [`${labels.rpc} ${labels.protocol}`, value]),
    );
  }
  expect(await open()).toEqual({});
  for (const rpc of ['Step', 'Walk', 'Walk', 'Carry'])
    metrics.rpcStarted(`scratch.v1.PathService/${rpc}`, 'grpc');
  metrics.rpcStarted('scratch.v1.PathService/Walk', 'connect');
  metrics.rpcStarted('grpc.health.v1.Health/Watch', 'grpc');
  metrics.rpcStarted('grpc.health.v1.Health/Check', 'grpc');
  metrics.restStarted('GET', '/base/v1/step');
  metrics.restStarted('GET', '/base/v1/walk');
  expect(await open()).toEqual({
    'scratch.v1.PathService/Walk grpc': 2,
    'scratch.v1.PathService/Walk connect': 1,
    'scratch.v1.PathService/Walk rest': 1,
    'scratch.v1.PathService/Carry grpc': 1,
    'grpc.health.v1.Health/Watch grpc': 1,
  });
  metrics.rpcEnded('scratch.v1.PathService/Walk', 'grpc', 'ok', 1);
  metrics.restEnded('GET', '/base/v1/walk', 200, 1);
  expect(await open()).toMatchObject({
    'scratch.v1.PathService/Walk grpc': 1,
    'scratch.v1.PathService/Walk rest': 0,
  });
});
