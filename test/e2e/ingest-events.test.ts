import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import type { IngestEventsRequestSchema } from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { BadRequestSchema, ErrorInfoSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { BIDI_PROTOCOLS, RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { startService } from '../support/service.js';
import { describeService, testService } from '../support/service-suite.js';
import { until } from '../support/until.js';
import { messagesOf } from './event-messages.support.js';
import { observability } from './event-streams.support.js';
import { eventRoutes } from './events.support.js';

type Message = MessageInitShape<typeof IngestEventsRequestSchema>;

const sent = messagesOf('ingested-bot-1');

async function* stream(...messages: Message[]): AsyncGenerator<Message> {
  yield* messages;
}

describeService('IngestEvents', ({ service }) => {
  const routes = eventRoutes(service.call);

  const client = (protocol: (typeof RPC_PROTOCOLS)[number] = 'gRPC') =>
    observability(rpcTransport(protocol, service.url));
  const totalOf = async (spanId: string) => (await routes.query({ span_id: spanId })).body.total;

  async function refused(call: Promise<unknown>) {
    const error = ConnectError.from(
      await call.then(
        () => undefined,
        (reason: unknown) => reason,
      ),
    );
    return {
      code: error.code,
      text: error.rawMessage,
      info: error.findDetails(ErrorInfoSchema)[0],
      fields: error.findDetails(BadRequestSchema)[0]?.fieldViolations.map(({ field }) => field),
    };
  }

  describe.each(RPC_PROTOCOLS)('over %s', (protocol) => {
    it('stores the events of all messages, each id once, before it answers', async () => {
      const spanId = `all-${protocol}`;
      const messages = Array.from(
        { length: 40 },
        (_, at): Message => ({
          events: Array.from({ length: 25 }, (_, index) =>
            sent(`${spanId}-${at}-${index}`.slice(-36), { spanId }),
          ),
        }),
      );
      const reply = await client(protocol).ingestEvents(stream(...messages, ...messages.slice(0, 2)));
      expect(reply).toMatchObject({ received: 1_050n, stored: 1_050n, dropped: 0n });
      expect(await totalOf(spanId)).toBe(1_000);
    });

    it('names the message and the member that are wrong, and keeps what came before', async () => {
      const spanId = `wrong-${protocol}`;
      const call = client(protocol).ingestEvents(
        stream(
          { events: [sent(`a-${protocol}`.slice(0, 36), { spanId })] },
          {
            events: [
              sent(`b-${protocol}`.slice(0, 36), { spanId }),
              sent('c', { spanId, agentName: 'x', traceId: ' ' }),
            ],
          },
          { events: [sent('d', { spanId })] },
        ),
      );
      const { code, text, info, fields } = await refused(call);
      expect(code).toBe(Code.InvalidArgument);
      expect(text).toContain('message 1 of the stream is invalid. 1 event(s) of this stream are stored.');
      expect(info).toMatchObject({
        reason: 'VALIDATION_ERROR',
        metadata: { stored_events: '1', message_index: '1' },
      });
      expect(fields).toEqual(['messages[1].events[1].trace_id', 'messages[1].events[1].agent_name']);
      expect(await totalOf(spanId)).toBe(1);
    });
  });

  it('answers a stream without messages, and refuses a message without events', async () => {
    expect(await client().ingestEvents(stream())).toMatchObject({ received: 0n, stored: 0n, dropped: 0n });
    const { code, fields } = await refused(client().ingestEvents(stream({})));
    expect({ code, fields }).toEqual({ code: Code.InvalidArgument, fields: ['messages[0].events'] });
  });

  it('drops a message with an event that the database cannot hold, as CreateEvents does', async () => {
    const spanId = 'dropped';
    const reply = await client().ingestEvents(
      stream(
        { events: [sent('held-1', { spanId })] },
        { events: [sent('fine', { spanId }), sent('x'.repeat(37), { spanId })] },
        { events: [sent('held-2', { spanId })] },
      ),
    );
    expect(reply).toMatchObject({ received: 4n, stored: 2n, dropped: 2n });
    expect(await totalOf(spanId)).toBe(2);
  });

  it.each(BIDI_PROTOCOLS)('stores while the stream is open, over %s', async (protocol) => {
    const spanId = `long-${protocol}`;
    let goOn: () => void = () => {};
    const told = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    async function* slowly(): AsyncGenerator<Message> {
      yield { events: [sent(`early-${protocol}`, { spanId })] };
      await told;
      yield { events: [sent(`late-${protocol}`, { spanId })] };
    }
    const call = client(protocol).ingestEvents(slowly());
    await until(
      () => totalOf(spanId),
      (total) => total === 1,
    );
    goOn();
    expect(await call).toMatchObject({ received: 2n, stored: 2n });
  });
});

describe('IngestEvents', () => {
  it('is off with the event store, and requires a key', async () => {
    const off = await startService({ SERVICE_OBSERVABILITY_ENABLED: 'false' });
    const call = observability(rpcTransport('gRPC', off.url)).ingestEvents(stream());
    await expect(call).rejects.toMatchObject({ code: Code.Unavailable });
    await off.stop();
    const locked = await testService({ SERVICE_API_KEY_ENABLED: 'true', SERVICE_API_KEYS: 'key' });
    const refused = observability(rpcTransport('gRPC', locked.url)).ingestEvents(stream());
    await expect(refused).rejects.toMatchObject({ code: Code.Unauthenticated });
  });
});
