import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Transport } from '@connectrpc/connect';
import { Decision, Stage } from '../../../gen/proto/enforcement/v1/control_pb.js';
import {
  AppliesTo,
  type ObservabilityService,
} from '../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { observability } from '../../e2e/event-streams.support.js';
import type { Random } from '../../serve/wire/random.js';
import { rpcTransport } from '../../support/rpc-transports.js';

/** The ways to send events. */
export const WAYS = ['CreateEvents over REST', 'IngestEvents', 'PublishEvents'] as const;
export type Way = (typeof WAYS)[number];

/** Agent of all sent events. */
export const SENDER_AGENT = 'sending-bot-01';

/** Clients that send new events over every way, and each event again until it is acknowledged. */
export interface EventSenders {
  /** Ids of all events, also of those that are not acknowledged yet. */
  readonly sent: ReadonlySet<string>;
  readonly acknowledged: ReadonlySet<string>;
  /** Acknowledged requests or messages by way. */
  readonly acknowledgements: Readonly<Record<Way, number>>;
  /** Calls that failed, and were made again. */
  readonly failed: number;
  /** Begins nothing new; resolves when everything that was sent is acknowledged. */
  finish(): Promise<void>;
}

const RETRY_PAUSE_MS = 50;
const PAUSE_MS = 5;
const CALL_LIMIT_MS = 60_000;
const MOST_EVENTS = 40;
const MESSAGES: Record<Way, number> = { 'CreateEvents over REST': 1, IngestEvents: 4, PublishEvents: 12 };

/** The events of one request or message. */
interface Message {
  readonly ids: readonly string[];
  readonly timestamp: string;
}

/** Starts one client for each way. `url` is the address of the service, which changes when it is started again. */
export function startSenders(url: () => string, random: Random): EventSenders {
  const sent = new Set<string>();
  const acknowledged = new Set<string>();
  const acknowledgements: Record<Way, number> = {
    'CreateEvents over REST': 0,
    IngestEvents: 0,
    PublishEvents: 0,
  };
  let stopped = false;
  let failed = 0;
  let count = 0;
  let transport: { readonly url: string; readonly transport: Transport } | undefined;

  function client(): Client<typeof ObservabilityService> {
    const address = url();
    if (transport?.url !== address) transport = { url: address, transport: rpcTransport('gRPC', address) };
    return observability(transport.transport);
  }

  function newMessage(): Message {
    count += 1;
    const ids = Array.from({ length: 1 + random.below(MOST_EVENTS) }, (_, index) => `sent-${count}-${index}`);
    for (const id of ids) sent.add(id);
    return { ids, timestamp: new Date().toISOString() };
  }

  function acknowledge(way: Way, messages: readonly Message[]): void {
    acknowledgements[way] += messages.length;
    for (const { ids } of messages) for (const id of ids) acknowledged.add(id);
  }

  /** One call. Returns how many of the messages, from the first one, are acknowledged; throws if that ends early. */
  async function call(
    way: Way,
    messages: readonly Message[],
    report: (count: number) => void,
  ): Promise<void> {
    switch (way) {
      case 'CreateEvents over REST': {
        const reply = await fetch(`${url()}/api/v1/observability/events`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ events: messages.flatMap(restEvents) }),
          signal: AbortSignal.timeout(CALL_LIMIT_MS),
        });
        const { status } = (await reply.json()) as { status?: unknown };
        if (reply.status !== 202 || status !== 'queued') throw new Error(`status ${reply.status}`);
        return report(messages.length);
      }
      case 'IngestEvents': {
        const { received, stored } = await client().ingestEvents(rpcMessages(messages), {
          timeoutMs: CALL_LIMIT_MS,
        });
        if (stored !== received) throw new Error(`stored ${stored} of ${received}`);
        return report(messages.length);
      }
      case 'PublishEvents': {
        for await (const reply of client().publishEvents(rpcMessages(messages))) {
          if (reply.dropped > 0n) throw new Error(`dropped ${reply.dropped}`);
          report(Number(reply.acknowledgedMessages));
        }
      }
    }
  }

  async function send(way: Way): Promise<void> {
    while (!stopped) {
      const messages = Array.from({ length: MESSAGES[way] }, newMessage);
      while (messages.length > 0) {
        let done = 0;
        try {
          await call(way, messages, (number) => {
            acknowledge(way, messages.slice(done, number));
            done = number;
          });
        } catch {
          failed += 1;
          await pause(RETRY_PAUSE_MS);
        }
        messages.splice(0, done);
      }
      await pause(PAUSE_MS);
    }
  }

  const running = WAYS.map(send);
  return {
    sent,
    acknowledged,
    acknowledgements,
    get failed() {
      return failed;
    },
    async finish() {
      stopped = true;
      await Promise.all(running);
    },
  };
}

async function* rpcMessages(messages: readonly Message[]) {
  for (const { ids, timestamp } of messages) {
    yield {
      events: ids.map((controlExecutionId) => ({
        controlExecutionId,
        traceId: 'trace',
        spanId: 'span',
        agentName: SENDER_AGENT,
        controlId: 1,
        controlName: 'sent',
        checkStage: Stage.PRE,
        appliesTo: AppliesTo.LLM_CALL,
        action: Decision.DENY,
        matched: true,
        confidence: 0.5,
        timestamp,
      })),
    };
  }
}

function restEvents({ ids, timestamp }: Message): object[] {
  return ids.map((control_execution_id) => ({
    control_execution_id,
    trace_id: 'trace',
    span_id: 'span',
    agent_name: SENDER_AGENT,
    control_id: 1,
    control_name: 'sent',
    check_stage: 'pre',
    applies_to: 'llm_call',
    action: 'deny',
    matched: true,
    confidence: 0.5,
    timestamp,
  }));
}
