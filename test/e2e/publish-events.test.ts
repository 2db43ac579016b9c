import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PublishEventsResponse } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from '../../gen/proto/google/rpc/error_details_pb.js';
import { describeAboveStores } from '../support/databases.js';
import { openedInTest } from '../support/opened.js';
import { methodNamed, PROTOCOLS, STREAMING_PROTOCOLS } from '../support/protocol-clients.js';
import { BIDI_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { startService, type TestService } from '../support/service.js';
import { describeService } from '../support/service-suite.js';
import { messagesOf } from './event-messages.support.js';
import { observability } from './event-streams.support.js';
import { event, eventRoutes } from './events.support.js';
import { type Message, sender } from './publish-events.support.js';

const sent = messagesOf('published-bot-1');

/** Reads replies until this many messages are acknowledged. */
async function acknowledged(
  replies: AsyncIterator<PublishEventsResponse>,
  messages: bigint,
): Promise<PublishEventsResponse> {
  for (;;) {
    const { done, value } = await replies.next();
    if (done === true) throw new Error('the stream ended');
    if (value.acknowledgedMessages >= messages) return value;
  }
}

/** Reads the replies until the stream fails. */
async function failureOf(replies: AsyncIterable<PublishEventsResponse>) {
  let last = 0n;
  try {
    for await (const { acknowledgedMessages } of replies) last = acknowledgedMessages;
  } catch (reason) {
    const error = ConnectError.from(reason);
    return {
      last,
      code: error.code,
      text: error.rawMessage,
      info: error.findDetails(ErrorInfoSchema)[0],
      retry: error.findDetails(RetryInfoSchema)[0],
      fields: error.findDetails(BadRequestSchema)[0]?.fieldViolations.map(({ field }) => field),
    };
  }
  throw new Error('the stream did not fail');
}

describeService('PublishEvents', ({ service }) => {
  const routes = eventRoutes(service.call);

  const totalOf = async (spanId: string) => (await routes.query({ span_id: spanId })).body.total;
  const publish = (protocol: (typeof BIDI_PROTOCOLS)[number], messages: AsyncIterable<Message>) =>
    observability(rpcTransport(protocol, service.url)).publishEvents(messages);

  describe.each(BIDI_PROTOCOLS)('over %s', (protocol) => {
    it('acknowledges what is committed while the stream is open', async () => {
      const spanId = `open ${protocol}`;
      const { messages, send, end } = sender();
      const replies = publish(protocol, messages)[Symbol.asyncIterator]();
      send({ events: [sent(`a ${protocol}`, { spanId }), sent(`b ${protocol}`, { spanId })] });
      expect(await acknowledged(replies, 1n)).toMatchObject({ stored: 2n, dropped: 0n });
      expect(await totalOf(spanId)).toBe(2);
      send({ events: [sent(`c ${protocol}`, { spanId })] }, { events: [sent('x'.repeat(37), { spanId })] });
      expect(await acknowledged(replies, 3n)).toMatchObject({ stored: 3n, dropped: 1n });
      expect(await totalOf(spanId)).toBe(3);
      end();
      expect(await replies.next()).toMatchObject({ done: true });
    });

    it('acknowledges the messages before an invalid one, and names its index and members', async () => {
      const spanId = `wrong ${protocol}`;
      const { messages, send } = sender();
      send(
        { events: [sent(`d ${protocol}`, { spanId })] },
        { events: [sent(`e ${protocol}`, { spanId })] },
        { events: [sent('f', { spanId }), sent('g', { spanId, traceId: ' ', stepId: '' })] },
        { events: [sent('h', { spanId })] },
      );
      const failure = await failureOf(publish(protocol, messages));
      expect(failure).toMatchObject({
        last: 2n,
        code: Code.InvalidArgument,
        text: expect.stringContaining(
          'message 2 of the stream is invalid. 2 message(s) of this stream are acknowledged.',
        ),
        info: { reason: 'VALIDATION_ERROR', metadata: { acknowledged_messages: '2', message_index: '2' } },
        fields: ['messages[2].events[1].trace_id', 'messages[2].events[1].step_id'],
      });
      expect(await totalOf(spanId)).toBe(2);
    });

    it('stores every event once when all messages are sent again', async () => {
      const spanId = `again ${protocol}`;
      const all = Array.from(
        { length: 30 },
        (_, at): Message => ({
          events: Array.from({ length: 20 }, (_, index) => sent(`${at}-${index} ${protocol}`, { spanId })),
        }),
      );
      for (const skipped of [0, 12]) {
        const { messages, send, end } = sender();
        send(...all.slice(skipped));
        end();
        let last: PublishEventsResponse | undefined;
        let before = 0n;
        for await (const reply of publish(protocol, messages)) {
          expect(reply.acknowledgedMessages).toBeGreaterThan(before);
          before = reply.acknowledgedMessages;
          last = reply;
        }
        const sentNow = 30 - skipped;
        expect(last).toMatchObject({ acknowledgedMessages: BigInt(sentNow), stored: BigInt(sentNow * 20) });
      }
      expect(await totalOf(spanId)).toBe(600);
    });

    it('ends a stream without messages without a reply', async () => {
      const { messages, end } = sender();
      end();
      const replies: unknown[] = [];
      for await (const reply of publish(protocol, messages)) replies.push(reply);
      expect(replies).toEqual([]);
    });
  });

  it.each(STREAMING_PROTOCOLS)(
    'acknowledges everything to a client that first sends all, over %s',
    async (name) => {
      const client = PROTOCOLS[name](service.url);
      onTestFinished(() => client.close());
      const span_id = `all ${name}`;
      const messages = Array.from({ length: 20 }, (_, at) => ({
        events: [event({ control_execution_id: `${at} ${name}`, span_id })],
      }));
      const replies = await client.stream(methodNamed('ObservabilityService.PublishEvents'), messages);
      expect(Number(replies.at(-1)?.acknowledged_messages)).toBe(20);
      expect(Number(replies.at(-1)?.stored)).toBe(20);
      expect(await totalOf(span_id)).toBe(20);
    },
  );

  it.each(['gRPC-Web over h1', 'Connect over h1', 'Connect with JSON over h1'] as const)(
    'reports over %s that it needs HTTP/2',
    async (name) => {
      const client = PROTOCOLS[name](service.url);
      onTestFinished(() => client.close());
      const call = client.stream(methodNamed('ObservabilityService.PublishEvents'), [{ events: [event()] }]);
      await expect(call).rejects.toThrow(/505/);
    },
  );
});

describeAboveStores('a stream of published events', (freshDatabaseUrl) => {
  const services = openedInTest<TestService>((one) => one.stop());

  it('is acknowledged and ends with UNAVAILABLE when the server shuts down', async () => {
    const service = await startService({ DATABASE_URL: await freshDatabaseUrl() });
    const { messages, send } = sender();
    const replies = observability(rpcTransport('gRPC', service.url)).publishEvents(messages);
    const iterator = replies[Symbol.asyncIterator]();
    send({ events: [sent('before')] });
    await acknowledged(iterator, 1n);
    const stopped = service.stop();
    const failure = await failureOf({ [Symbol.asyncIterator]: () => iterator });
    expect(failure.code).toBe(Code.Unavailable);
    await stopped;
  });

  it('requires a key, and a store', async () => {
    const url = await freshDatabaseUrl();
    const locked = await startService({
      DATABASE_URL: url,
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_API_KEYS: 'key',
    });
    services.push(locked);
    const { messages, end } = sender();
    end();
    const refused = observability(rpcTransport('gRPC', locked.url)).publishEvents(messages);
    expect((await failureOf(refused)).code).toBe(Code.Unauthenticated);
    const off = await startService({ DATABASE_URL: url, SERVICE_OBSERVABILITY_ENABLED: 'false' });
    services.push(off);
    const second = sender();
    second.end();
    const without = observability(rpcTransport('gRPC', off.url)).publishEvents(second.messages);
    expect((await failureOf(without)).code).toBe(Code.Unavailable);
  });
});
