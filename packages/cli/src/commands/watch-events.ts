import { toJson } from '@bufbuild/protobuf';
import { Decision } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import {
  ControlExecutionEventSchema,
  ObservabilityService,
} from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';
import type { JsonObject } from '../../../exact-json/src/index.js';
import { rpcError } from '../clients.js';
import { defineCommand } from '../command.js';
import { EVENT_OPTIONS, eventLine } from '../events.js';

const DECISIONS = { deny: Decision.DENY, steer: Decision.STEER, observe: Decision.OBSERVE };

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement watch events --decision deny --matched --count 1',
      does: 'Print events as they happen',
    },
  ],
  options: { ...EVENT_OPTIONS, count: { type: 'number', describe: 'End after so many events' } },
  async run(context, { agent, session, decision, matched, count = Number.POSITIVE_INFINITY }) {
    const clients = await context.connect();
    const request = {
      ...(agent === undefined ? {} : { agentName: agent }),
      ...(session === undefined ? {} : { sessionId: session }),
      ...(matched === undefined ? {} : { matched }),
      actions: (decision ?? []).map((one) => DECISIONS[one]),
    };
    let printed = 0;
    try {
      const stream = (await clients.rpc(ObservabilityService)).watchEvents(request, {
        signal: context.signal,
      });
      for await (const { news } of stream) {
        if (news.case === 'fellBehind')
          await context.warn('events were left out: they came faster than they could be read');
        if (news.case !== 'events') continue;
        for (const { event } of news.value.events) {
          if (event === undefined) continue;
          const json = toJson(ControlExecutionEventSchema, event, { useProtoFieldName: true });
          const value = withWords(json as JsonObject);
          await context.stdout.write(
            context.format === 'table' ? eventLine(value) : `${JSON.stringify(value)}\n`,
          );
          printed += 1;
          if (printed >= count) return 0;
        }
      }
    } catch (error) {
      if (context.signal.aborted) return 0;
      throw rpcError(clients.connection.server, error);
    }
    return 0;
  },
});

/** Values of enums as the JSON routes have them. */
function withWords(event: JsonObject): JsonObject {
  const word = (value: unknown): string =>
    String(value)
      .replace(/^(?:DECISION|STAGE|APPLIES_TO)_/, '')
      .toLowerCase();
  const { action = null, check_stage = null, applies_to = null } = event;
  return { ...event, action: word(action), check_stage: word(check_stage), applies_to: word(applies_to) };
}
