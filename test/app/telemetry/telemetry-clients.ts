import { randomBytes } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import { EvaluationService } from '../../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { restClient } from '../../support/http.js';
import { type RpcProtocol, rpcTransport } from '../../support/rpc-transports.js';

export const AGENT = 'traced-agent-1';

/** One evaluation of a test, by the name of its step. */
export interface Asked {
  readonly name: string;
  readonly input?: string;
  readonly traceparent?: string;
  readonly agent?: string;
  readonly minRevision?: number;
}

type Headers = Record<string, string>;

/** One way of agents to the evaluation. */
export interface Way {
  /** Rejects when the call fails. */
  evaluate(asked: Asked, headers: Headers): Promise<unknown>;
  batch(asked: readonly Asked[], headers: Headers): Promise<unknown>;
  /** One message for each evaluation; absent where the protocol has no such streams. */
  stream?(asked: readonly Asked[], headers: Headers): Promise<unknown>;
}

function restWay(): (url: string) => Way {
  const bodyOf = ({ name, input = 'hello', traceparent, agent = AGENT, minRevision }: Asked) => ({
    agent_name: agent,
    stage: 'pre',
    step: { type: 'llm', name, input },
    session_id: 'session-1',
    step_id: 'step-1',
    min_revision: minRevision,
    traceparent,
  });
  return (url) => {
    const post = async (path: string, body: object, headers: Headers) => {
      const reply = await restClient(url)('POST', path, body, headers);
      if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
    };
    return {
      evaluate: (asked, headers) => post('/api/v1/evaluation', bodyOf(asked), headers),
      batch: (asked, headers) =>
        post('/api/v1/evaluation/batch', { evaluations: asked.map(bodyOf) }, headers),
    };
  };
}

function rpcWay(protocol: RpcProtocol, streams: boolean): (url: string) => Way {
  const messageOf = ({ name, input = 'hello', traceparent, agent = AGENT, minRevision = 0 }: Asked) => ({
    agentName: agent,
    stage: Stage.PRE,
    stepForm: {
      case: 'stepJson' as const,
      value: Buffer.from(JSON.stringify({ type: 'llm', name, input })),
    },
    sessionId: 'session-1',
    stepId: 'step-1',
    minRevision: BigInt(minRevision),
    ...(traceparent === undefined ? {} : { traceparent }),
  });
  return (url) => {
    const client = createClient(EvaluationService, rpcTransport(protocol, url));
    return {
      evaluate: (asked, headers) => client.evaluate(messageOf(asked), { headers }),
      batch: (asked, headers) => client.evaluateBatch({ evaluations: asked.map(messageOf) }, { headers }),
      ...(streams && {
        async stream(asked: readonly Asked[], headers: Headers) {
          const messages = asked.map((one, id) => ({ id: String(id), evaluations: [messageOf(one)] }));
          const sent = (async function* () {
            yield* messages;
          })();
          for await (const _reply of client.evaluateStream(sent, { headers }));
        },
      }),
    };
  };
}

/** The same way with the fast path of its protocol, or without. */
export type Lane = 'lane' | 'no lane';

/** Every way to the evaluation, with the value of the attribute for its protocol. */
export const WAYS: readonly (readonly [
  name: string,
  lane: Lane,
  protocol: string,
  open: (url: string) => Way,
])[] = [
  ['REST', 'lane', 'rest', restWay()],
  ['REST', 'no lane', 'rest', restWay()],
  ['gRPC', 'lane', 'grpc', rpcWay('gRPC', true)],
  ['gRPC', 'no lane', 'grpc', rpcWay('gRPC', true)],
  ['gRPC-Web over HTTP/1.1', 'no lane', 'grpc-web', rpcWay('gRPC-Web over HTTP/1.1', false)],
  ['gRPC-Web over HTTP/2', 'no lane', 'grpc-web', rpcWay('gRPC-Web over HTTP/2', false)],
  ['Connect over HTTP/1.1', 'no lane', 'connect', rpcWay('Connect over HTTP/1.1', false)],
  ['Connect over HTTP/2', 'no lane', 'connect', rpcWay('Connect over HTTP/2', true)],
];

/** Calls over JSON. */
export const restWayTo = restWay();

/** A span of a caller. */
export interface Parent {
  readonly traceId: string;
  readonly spanId: string;
  readonly header: string;
}

/** A span of a caller, sampled unless `flags` say otherwise. */
export function parent(flags = '01'): Parent {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return { traceId, spanId, header: `00-${traceId}-${spanId}-${flags}` };
}

let names = 0;
/** An evaluation with a name of its own, by which its span is found. */
export const asked = (more: Omit<Asked, 'name'> = {}): Asked => {
  names += 1;
  return { name: `step-${names}`, ...more };
};

/** The attribute with the name of the step. */
export const STEP_NAME = 'control_enforcement.step.name';
