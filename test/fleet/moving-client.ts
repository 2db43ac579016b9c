import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createWritableIterable } from '@connectrpc/connect/protocol';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import {
  EvaluateRequestSchema,
  type EvaluateStreamRequest,
  EvaluateStreamRequestSchema,
  EvaluationService,
} from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';

/** Longest time an evaluation may take, in seconds. */
const TIMEOUT_SECONDS = 20n;

/** Between an answer and the next message, in milliseconds: more would only make the service busy. */
const PACE_MS = 20;

/** What a client has seen. */
export interface MovingTally {
  sent: number;
  answered: number;
  /** Sent again, because their stream ended without an answer to them. */
  again: number;
  /** Answers that are no verdict, or the wrong one. */
  readonly wrong: string[];
  /** Statuses of streams that ended otherwise than well. */
  readonly ends: string[];
  notices: number;
}

/**
 * A client with a stream of evaluations, so many at a time, that follows the notices: after one it opens a stream on a
 * new connection, and closes its side of the old one. What a stream leaves unanswered, it sends again.
 */
export function movingClient(baseUrl: string, agentName: string, concurrency: number) {
  const tally: MovingTally = { sent: 0, answered: 0, again: 0, wrong: [], ends: [], notices: 0 };
  const open = new Set<Promise<void>>();
  let isStopped = false;
  let current: ReturnType<typeof openStream> | undefined;
  let made = 0;

  function messageOf(id: string): EvaluateStreamRequest {
    const step = JSON.stringify({ type: 'llm', name: 'answer', input: `a bad thing ${id}` });
    const evaluation = create(EvaluateRequestSchema, {
      agentName,
      stage: Stage.PRE,
      stepForm: { case: 'stepJson', value: new TextEncoder().encode(step) },
      timeout: { seconds: TIMEOUT_SECONDS, nanos: 0 },
    });
    return create(EvaluateStreamRequestSchema, { id, evaluations: [evaluation] });
  }

  function openStream() {
    const sessionManager = new Http2SessionManager(baseUrl);
    const client = createClient(EvaluationService, createGrpcTransport({ baseUrl, sessionManager }));
    const requests = createWritableIterable<EvaluateStreamRequest>();
    const pending = new Set<string>();
    const stream = {
      ask(id: string): void {
        pending.add(id);
        requests.write(messageOf(id)).catch(() => {});
      },
      leave(): void {
        if (current === stream) current = undefined;
        requests.close();
      },
    };
    const read = async (): Promise<void> => {
      try {
        for await (const { id, results, notice } of client.evaluateStream(requests)) {
          if (notice !== undefined) {
            tally.notices += 1;
            stream.leave();
            continue;
          }
          pending.delete(id);
          tally.answered += 1;
          const outcome = results[0]?.outcome;
          if (outcome?.case !== 'verdict' || outcome.value.isSafe)
            tally.wrong.push(`${id}: ${outcome?.case === 'error' ? outcome.value.message : 'no deny'}`);
          setTimeout(next, PACE_MS);
        }
      } catch (error) {
        tally.ends.push(String(error));
      }
      stream.leave();
      sessionManager.abort();
      for (const id of pending) {
        tally.again += 1;
        here().ask(id);
      }
    };
    const reading = read().finally(() => open.delete(reading));
    open.add(reading);
    return stream;
  }

  const here = () => (current ??= openStream());
  const next = (): void => {
    if (isStopped) return;
    made += 1;
    tally.sent += 1;
    here().ask(String(made));
  };
  for (let index = 0; index < concurrency; index += 1) next();
  return {
    tally,
    /** Ends once everything is answered. */
    async stop(): Promise<MovingTally> {
      isStopped = true;
      while (tally.answered < tally.sent) await new Promise((resolve) => setImmediate(resolve));
      current?.leave();
      await Promise.all(open);
      return tally;
    },
  };
}
