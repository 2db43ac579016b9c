import type { DescMethod, DescMethodUnary, DescService } from '@bufbuild/protobuf';
import { Code, ConnectError, createRouterTransport } from '@connectrpc/connect';
import { createConnectQueryKey, TransportProvider } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { AuditService } from '@gen/enforcement/v1/audit_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { EvaluatorService } from '@gen/enforcement/v1/evaluator_service_pb.js';
import { PolicyService } from '@gen/enforcement/v1/policy_service_pb.js';
import { ServerService } from '@gen/enforcement/v1/server_service_pb.js';
import { QueryClient, QueryClientProvider, type QueryKey } from '@tanstack/react-query';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { queriesOf, touchedBy } from '../src/data/touched.js';
import { useChange } from '../src/data/use-change.js';

/** Queries of every kind that pages show. */
const SHOWN: readonly DescMethodUnary[] = [
  AgentService.method.listAgents,
  AgentService.method.getAgent,
  ControlService.method.listControls,
  ControlService.method.listControlAgents,
  PolicyService.method.getPolicy,
  AuditService.method.listAuditEntries,
  ServerService.method.getServerInfo,
  EvaluatorService.method.listEvaluators,
];

function cacheOfShown(): QueryClient {
  const queries = new QueryClient();
  for (const schema of SHOWN) {
    const keys: readonly QueryKey[] = [
      createConnectQueryKey({ schema, cardinality: 'finite', input: {} }),
      createConnectQueryKey({ schema, cardinality: 'infinite', input: {} }),
    ];
    for (const key of keys) queries.setQueryData(key, {});
  }
  return queries;
}

function isStale(queries: QueryClient, schema: DescMethod): boolean {
  const found = queries.getQueryCache().findAll({ queryKey: queriesOf(schema.parent) });
  const stale = found.map(({ state }) => state.isInvalidated);
  expect(new Set(stale).size).toBe(1);
  return stale[0] === true;
}

describe('what is read again after a change', () => {
  it.each<[DescMethod, readonly DescService[]]>([
    [AgentService.method.updateAgent, [AgentService]],
    [AgentService.method.addAgentControl, [AgentService, ControlService]],
    [ControlService.method.createControl, [ControlService]],
    [ControlService.method.setControlData, [AgentService, ControlService]],
    [ControlService.method.deleteControl, [AgentService, ControlService, PolicyService]],
    [PolicyService.method.createPolicy, [PolicyService]],
    [PolicyService.method.addPolicyControl, [AgentService, ControlService, PolicyService]],
  ])(
    '$name: all queries of the services that it touches, the audit log and the server',
    async (change, services) => {
      const queries = cacheOfShown();
      for (const queryKey of touchedBy(change)) await queries.invalidateQueries({ queryKey });
      for (const method of SHOWN) {
        const isTouched = [...services, AuditService, ServerService].includes(method.parent);
        expect(isStale(queries, method), method.name).toBe(isTouched);
      }
    },
  );
});

describe('a change', () => {
  /** The change as a component gets it, with what it refers to. */
  function renderChange(fail = false) {
    const queries = cacheOfShown();
    const seen: string[] = [];
    const transport = createRouterTransport(({ rpc }) => {
      rpc(PolicyService.method.createPolicy, ({ name = '' }) => {
        if (fail) throw new ConnectError('the name is taken', Code.AlreadyExists);
        return { policyId: name.length };
      });
    });
    let change: ReturnType<typeof useCreate> | undefined;
    const useCreate = () =>
      useChange(PolicyService.method.createPolicy, ({ policyId }) => {
        const isRead = isStale(queries, PolicyService.method.getPolicy);
        seen.push(`created ${policyId}, ${isRead ? 'after' : 'before'} anything is read again`);
      });
    function Form() {
      change = useCreate();
      return null;
    }
    renderToStaticMarkup(
      <TransportProvider transport={transport}>
        <QueryClientProvider client={queries}>
          <Form />
        </QueryClientProvider>
      </TransportProvider>,
    );
    if (change === undefined) throw new Error('the form was not drawn');
    return { change, queries, seen };
  }

  it('tells its page first, then has read again what it touched', async () => {
    const { change, queries, seen } = renderChange();
    expect(await change.mutateAsync({ name: 'abc' })).toMatchObject({ policyId: 3 });
    expect(seen).toEqual(['created 3, before anything is read again']);
    expect(isStale(queries, PolicyService.method.getPolicy)).toBe(true);
    expect(isStale(queries, AgentService.method.getAgent)).toBe(false);
  });

  it('has nothing read again if it failed', async () => {
    const { change, queries, seen } = renderChange(true);
    await expect(change.mutateAsync({ name: 'abc' })).rejects.toThrow('the name is taken');
    expect(seen).toEqual([]);
    expect(SHOWN.filter((method) => isStale(queries, method))).toEqual([]);
  });
});
